import { randomUUID } from 'node:crypto';
import { getVariableValues } from 'graphql/execution/values';
import {
  isEnumType,
  isInputObjectType,
  Kind,
  parse,
  validate,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { KnownIds } from '../../explorer/known-ids';
import { AMOUNT_RULES, readyOperations, type ReadyOperation } from '../../explorer/operations';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { gate } from '../exactly-once/support/gate';
import { graphqlWsClient } from '../live/support/graphql-ws-client';
import { movedClock } from '../support/moved-clock';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';

/** As a page has them when it has just been loaded. */
const load = () =>
  readyOperations({ channel: CHANNEL, externalId: `order ${randomUUID()}`, fresh: () => randomUUID() });

const { tour, more, payments, payouts } = load();
const all = [...tour, ...more, ...[...payments, ...payouts].flatMap(({ operations }) => operations)];
const named = (operations: readonly ReadyOperation[]): [string, ReadyOperation][] =>
  operations.map((operation) => [operation.name, operation]);

const definitionOf = ({ query }: ReadyOperation): OperationDefinitionNode => {
  const found = parse(query).definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return found as OperationDefinitionNode;
};

/** The arms of an input of which exactly one is given. */
function arms(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (isEnumType(type)) return type.getValues().map((value) => value.name);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

/** What stands below that name in any of the variables. */
const chosen = (name: 'method' | 'confirmation'): Record<string, unknown> =>
  Object.fromEntries(
    all.flatMap(({ variables }) =>
      Object.entries((variables as { input?: Record<string, object> }).input?.[name] ?? {}),
    ),
  );

describe('Every ready operation', () => {
  const schema = gatewaySchema();

  test.each(named(all))('%s is valid, has its own name and good variables', (name, operation) => {
    expect(validate(schema, parse(operation.query))).toEqual([]);
    const definition = definitionOf(operation);
    expect(definition.name?.value).toBe(name);
    const ids = new KnownIds();
    const created = { transactionId: randomUUID() };
    for (const other of all) ids.learn(other.name, { any: { payment: created, payout: created } });
    const variables = ids.fillIn(operation.variables) as Record<string, unknown>;
    expect(getVariableValues(schema, definition.variableDefinitions ?? [], variables)).toHaveProperty(
      'coerced',
    );
    // The gateway refuses card numbers in documents.
    expect(operation.query).not.toMatch(/\d{8}/);
  });

  test('together they reach every method that a payment or payout may be made or confirmed by', () => {
    const { redirect, ...methods } = chosen('method');
    expect(redirect).toBeDefined();
    const ways = [...arms(schema, 'PaymentMethodInput'), ...arms(schema, 'PayoutMethodInput')];
    expect(Object.keys({ redirect, ...methods }).sort()).toEqual([...new Set(ways)].sort());
    expect(Object.keys(chosen('confirmation')).sort()).toEqual(arms(schema, 'ConfirmationInput').sort());
    const redirects = all.flatMap(({ variables }) => {
      const { method } = (variables as { input?: { method?: { redirect?: string } } }).input ?? {};
      return method?.redirect ?? [];
    });
    expect([...new Set(redirects)].sort()).toEqual(arms(schema, 'RedirectPaymentMethod').sort());
  });

  test('no two loads share an idempotency key', () => {
    const keys = [load(), load()].flatMap(({ tour: tabs, payments: methods }) =>
      [...tabs, ...methods.flatMap(({ operations }) => operations)].flatMap(({ variables }) => {
        const { idempotencyKey } = (variables as { input?: { idempotencyKey?: string } }).input ?? {};
        return idempotencyKey ?? [];
      }),
    );
    // The UPI create of the tour is that of its method.
    expect(new Set(keys).size).toBeGreaterThanOrEqual(keys.length - 2);
  });
});

interface Shown {
  transactionId: string;
  status: string;
  amount: { value: string; received?: string | null } | null;
  error: { message: string; reason: string | null } | null;
  nextAction?: { __typename: string; url?: string } | null;
}

describe('Against the gateway and the sandbox', () => {
  let sandbox: Sandbox;
  let gateway: TestClient;

  beforeAll(async () => {
    sandbox = await testSandbox({ clock: movedClock(Date.now()) });
    gateway = await testGateway(sandbox.url, { inSandbox: true });
  });

  /** Runs an operation as the page does, and returns what its one root field holds. */
  async function run(
    { name, query, variables }: ReadyOperation,
    ids: KnownIds,
  ): Promise<Record<string, unknown>> {
    const { data, text } = await gateway.ask<Record<string, Record<string, unknown>> | null>(
      query,
      ids.fillIn(variables) as object,
    );
    if (!data) throw new Error(text);
    ids.learn(name, data);
    return Object.values(data)[0] ?? {};
  }

  const shownBy = async (operation: ReadyOperation, ids: KnownIds): Promise<Shown> => {
    const answer = await run(operation, ids);
    const shown = answer['payment'] ?? answer['payout'];
    if (!shown) throw new Error(JSON.stringify(answer));
    return shown as Shown;
  };

  /** Watches as the page does, over the gateway's own WebSocket, until that status has come. */
  async function watch({ query, variables }: ReadyOperation, ids: KnownIds, status: string): Promise<Shown> {
    const there = gate();
    const leave = graphqlWsClient(gateway.url).subscribe<Record<string, Shown>>(
      { query, variables: ids.fillIn(variables) as Record<string, unknown> },
      {
        next: ({ data, errors }) => {
          const [shown] = Object.values(data ?? {});
          if (errors ?? shown?.status === status) there.open();
          if (shown) last = shown;
        },
        error: () => there.open(),
        complete: () => there.open(),
      },
    );
    let last: Shown | undefined;
    await there.opened;
    leave();
    if (last?.status !== status) throw new Error(`Watched in vain: ${JSON.stringify(last)}`);
    return last;
  }

  const byName = (operations: readonly ReadyOperation[], name: string): ReadyOperation => {
    const found = operations.find((operation) => operation.name === name);
    if (!found) throw new Error(`There is no ${name}.`);
    return found;
  };

  test('the tabs work one after the other, without anything being copied', async () => {
    const ids = new KnownIds();
    const tabs = load().tour;
    const tab = (name: string): ReadyOperation => byName(tabs, name);

    const redirect = await shownBy(tab('CreateRedirect'), ids);
    expect(redirect).toMatchObject({ status: 'PENDING', nextAction: { __typename: 'RedirectAction' } });
    expect((await watch(tab('WatchPayment'), ids, 'PENDING')).transactionId).toBe(redirect.transactionId);
    sandbox.control.settle(redirect.transactionId);
    await watch(tab('WatchPayment'), ids, 'COMPLETED');

    const upi = await shownBy(tab('CreateUpi'), ids);
    expect(upi).toMatchObject({ status: 'PROCESSING', nextAction: { __typename: 'ProvideUtrAction' } });
    const confirmed = await shownBy(tab('ConfirmUpi'), ids);
    expect(confirmed).toMatchObject({
      transactionId: upi.transactionId,
      status: 'COMPLETED',
      nextAction: null,
    });

    sandbox.control.settle((await shownBy(tab('Declined'), ids)).transactionId);
    expect(await watch(tab('WatchPayment'), ids, 'FAILED')).toMatchObject({
      error: { reason: 'INSUFFICIENT_FUNDS' },
    });
    sandbox.control.settle((await shownBy(tab('Mispaid'), ids)).transactionId);
    expect(await watch(tab('WatchPayment'), ids, 'MISPAID')).toMatchObject({
      amount: { value: '100.70', received: '50.35' },
    });

    expect(await run(tab('LookUp'), ids)).toMatchObject({
      transactionId: redirect.transactionId,
      status: 'COMPLETED',
    });
    const payout = await shownBy(tab('CreateBkashPayout'), ids);
    sandbox.control.settle(payout.transactionId);
    expect(await watch(byName(more, 'WatchPayout'), ids, 'COMPLETED')).toMatchObject({
      transactionId: payout.transactionId,
    });
    expect(tabs.map(({ name }) => name)).toEqual([
      'CreateRedirect',
      'WatchPayment',
      'CreateUpi',
      'ConfirmUpi',
      'Declined',
      'Mispaid',
      'LookUp',
      'CreateBkashPayout',
    ]);
  });

  test.each(payments.map((method) => [method.type, method] as const))(
    'a %s can be created in each way that is ready, and confirmed where it is to',
    async (_type, { operations }) => {
      const ids = new KnownIds();
      for (const operation of operations) {
        const { status, nextAction } = await shownBy(operation, ids);
        expect([operation.name, status]).toEqual([
          operation.name,
          expect.stringMatching(
            operation.name.startsWith('Confirm') ? /COMPLETED|PROCESSING/ : /PENDING|PROCESSING/,
          ),
        ]);
        // What is to be done next is shown in full: not by the name of its type alone.
        if (nextAction) expect(nextAction).not.toEqual({ __typename: nextAction.__typename });
      }
    },
  );

  test.each(payouts.map((method) => [method.type, method] as const))(
    'a %s can be created',
    async (_type, { operations }) => {
      for (const operation of operations)
        expect(await shownBy(operation, new KnownIds())).toMatchObject({ status: 'PROCESSING' });
    },
  );

  test('what was created is listed', async () => {
    const ids = new KnownIds();
    await shownBy(byName(load().tour, 'CreateRedirect'), ids);
    const { edges } = await run(byName(more, 'Attempts'), ids);
    const node: unknown = expect.objectContaining({ operation: 'CREATE_PAYMENT', outcome: 'SUCCEEDED' });
    expect(edges).toContainEqual({ node });
  });

  test.each(AMOUNT_RULES)('an amount that ends in .%s: %s', async (cents, outcome) => {
    const { CreateRedirect: create, LookUp: lookUp } = Object.fromEntries(named(load().tour));
    const { input } = create!.variables as { input: object };
    const amount = { currency: 'EUR', value: `10.${cents}` };
    await shownBy({ ...create!, variables: { input: { ...input, amount } } }, new KnownIds());
    sandbox.control.advance(10_000);
    const { status, error, ...found } = (await run(lookUp!, new KnownIds())) as unknown as Shown;
    const received = Number(found.amount?.received ?? 0) - Number(amount.value);
    const words: Record<string, string> = {
      PENDING: 'never ends by itself',
      FAILED: `FAILED: ${error?.message}`,
      MISPAID: `MISPAID: ${received < 0 ? 'half received' : 'half too much'}`,
    };
    expect(outcome.toLowerCase()).toBe(words[status]?.toLowerCase());
  });

  test('what needs another one first says so, and sends nothing', () => {
    const ids = new KnownIds();
    const { variables } = byName(all, 'ConfirmUpi');
    expect(() => ids.fillIn(variables)).toThrow(/run CreateUpi first/);
    expect(() => ids.fillIn(byName(all, 'WatchPayment').variables)).toThrow(/create a payment first/);
  });
});
