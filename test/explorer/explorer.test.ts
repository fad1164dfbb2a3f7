import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { getVariableValues } from 'graphql/execution/values';
import { getOperationAST, isEnumType, isInputObjectType, parse, validate, type GraphQLSchema } from 'graphql';
import { KnownIds } from '../../explorer/known-ids';
import { createExamples, type Example } from '../../explorer/operations';
import { createStorage } from '../../explorer/storage';
import { buildGatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { startOpenGateway } from '../http/support/open-gateway';
import { graphqlWsClient } from '../subscriptions/support/graphql-ws-client';

import { CHANNEL, closeAfterTests, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';

const BUILT = path.resolve(__dirname, '../../dist/explorer');

/** Requests exactly this path, which fetch would normalise. */
async function get(base: string, path: string) {
  const [response] = (await once(request(base, { path, agent: false }).end(), 'response')) as [
    IncomingMessage,
  ];
  const { statusCode: status, headers } = response;
  return { status, headers, text: await readText(response) };
}

let sandboxUrl: string;
let url: string;
let assets: string[];

const open = async (env: Record<string, string> = {}): Promise<string> =>
  closeAfterTests(await startOpenGateway(sandboxUrl, env)).url;

beforeAll(async () => {
  assets = readdirSync(BUILT).filter((name) => !/\.(html|br|gz)$/.test(name));
  sandboxUrl = (await testSandbox()).url;
  url = await open();
});

describe('The page of the explorer', () => {
  test('is served by default in sandbox mode, and names the sandbox as its service', async () => {
    const { status, headers, text } = await get(url, '/explorer');
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain('data-service="sandbox" data-callers="anybody"');
  });

  test('has a content security policy that allows only this gateway, and no eval', async () => {
    const { headers } = await get(url, '/explorer');
    const policy = String(headers['content-security-policy']).split(';');
    for (const name of ['default-src', 'frame-ancestors', 'base-uri', 'form-action', 'object-src'])
      expect(policy).toContain(`${name} 'none'`);
    for (const name of ['script-src', 'worker-src', 'connect-src'])
      expect(policy).toContain(`${name} 'self'`);
    expect(policy.join()).not.toMatch(/unsafe-eval|script-src[^,]*unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });
});

describe('The assets of the explorer', () => {
  test('are served as immutable if their name has a hash', async () => {
    expect(assets.filter((name) => /^(editor|json|graphql)\.worker-\w+\.js$/.test(name))).toHaveLength(3);
    for (const name of assets) {
      const { status, headers } = await get(url, `/explorer/${name}`);
      const type = /^((text|application)\/(javascript|css|plain)|image\/svg\+xml)/;
      expect({ name, status, ...headers }).toMatchObject({
        status: 200,
        'cache-control': name === 'licences.txt' ? 'no-cache' : 'public, max-age=31536000, immutable',
        'content-type': expect.stringMatching(type) as unknown,
        'x-content-type-options': 'nosniff',
      });
    }
  });

  test('include the licences of the bundled packages', async () => {
    const { text } = await get(url, '/explorer/licences.txt');
    for (const name of ['graphiql', 'monaco-editor', 'react', 'graphql', 'graphql-ws'])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
  });
});

test.each([
  '/explorer/',
  '/explorer/licences.txt.br',
  '/explorer/../http/app.js',
  '/explorer/..%5cserver.js',
  '/explorer/%2e%2e%2f%2e%2e%2fpackage.json',
])('A request for %s, which is not a file of the explorer, gets 404', async (path) => {
  const { status, headers } = await get(url, path);
  expect(status).toBe(404);
  expect(headers['content-type']).toMatch(/^application\/json/);
});

describe('The setting EXPLORER', () => {
  test('removes the explorer if it is off, and by default with a real payment service', async () => {
    for (const base of [await open({ EXPLORER: 'off' }), (await testGateway(sandboxUrl)).gateway.url])
      for (const path of ['/explorer', '/explorer/licences.txt'])
        expect((await get(base, path)).status).toBe(404);
  });

  test('adds an explorer that asks for credentials if it is on with a real payment service', async () => {
    const { gateway } = await testGateway(sandboxUrl, { env: { EXPLORER: 'on' } });
    const { text } = await get(gateway.url, '/explorer');
    expect(text).toContain('data-service="real" data-callers="known"');
  });
});

describe('The storage of the explorer', () => {
  test.each([
    ['tabState', 'in memory only'],
    ['variables', 'in memory only'],
    ['headers', 'in memory only'],
    ['queries', 'in memory only'],
    ['theme', 'in the storage of the browser'],
    ['visiblePlugin', 'in the storage of the browser'],
    ['historyFlex', 'in the storage of the browser'],
  ])('keeps the item %s %s, until it is removed', (name, place) => {
    const kept: Record<string, string> = {};
    const methods = {
      getItem: (key: string) => kept[key] ?? null,
      setItem: (key: string, value: string) => void (kept[key] = value),
      removeItem: (key: string) => void Reflect.deleteProperty(kept, key),
    };
    const storage = createStorage(Object.assign(Object.create(methods), kept) as Storage);
    const key = `graphiql:${name}`;
    storage.setItem(key, 'Bearer pgk_key');
    expect(storage.getItem(key)).toBe('Bearer pgk_key');
    expect(kept).toEqual(place === 'in the storage of the browser' ? { [key]: 'Bearer pgk_key' } : {});
    storage.removeItem(key);
    expect([storage.getItem(key), kept]).toEqual([null, {}]);
  });
});

const load = () =>
  createExamples({ channel: CHANNEL, externalId: `order ${randomUUID()}`, uniqueText: () => randomUUID() });

/** The input of an operation that creates or confirms. */
interface Input {
  method?: Record<string, unknown>;
  confirmation?: Record<string, unknown>;
}
const inputOf = ({ variables }: Example): Input => (variables as { input?: Input }).input ?? {};

const { tour, more, payments, payouts } = load();
const all = [...tour, ...more, ...[...payments, ...payouts].flatMap(({ operations }) => operations)];
/** Returns the fields of a @oneOf input, or the values of an enum. */
function variants(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (isEnumType(type)) return type.getValues().map((value) => value.name);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

/** Returns the fields of `method` or of `confirmation` in the inputs of all operations. */
const chosen = (name: 'method' | 'confirmation'): Record<string, unknown> =>
  Object.assign({}, ...all.map((operation) => inputOf(operation)[name])) as Record<string, unknown>;

describe('The example operations of the explorer', () => {
  const schema = buildGatewaySchema();

  test.each(all.map((operation) => [operation.name, operation] as const))(
    'include %s, which is valid against the schema and has valid variables',
    (name, { query, variables }) => {
      const document = parse(query);
      expect(validate(schema, document)).toEqual([]);
      const definition = getOperationAST(document)!;
      expect(definition.name?.value).toBe(name);
      const ids = new KnownIds();
      const created = { transactionId: randomUUID() };
      for (const other of all) ids.store(other.name, { any: { payment: created, payout: created } });
      const filled = ids.fillIn(variables) as Record<string, unknown>;
      const read = getVariableValues(schema, definition.variableDefinitions ?? [], filled);
      expect(read).toHaveProperty('coerced');
      // The gateway refuses card numbers in documents.
      expect(query).not.toMatch(/\d{8}/);
    },
  );

  test('cover every method of payments, payouts and confirmations', () => {
    const { redirect, ...methods } = chosen('method');
    expect(redirect).toBeDefined();
    const ways = [...variants(schema, 'PaymentMethodInput'), ...variants(schema, 'PayoutMethodInput')];
    expect(Object.keys({ redirect, ...methods }).sort()).toEqual([...new Set(ways)].sort());
    expect(Object.keys(chosen('confirmation')).sort()).toEqual(variants(schema, 'ConfirmationInput').sort());
    const redirects = all.flatMap((operation) => inputOf(operation).method?.['redirect'] ?? []);
    expect([...new Set(redirects)].sort()).toEqual(variants(schema, 'RedirectPaymentMethod').sort());
  });
});

interface Shown {
  transactionId: string;
  status: string;
  amount: { value: string; received?: string | null } | null;
  error: { message: string; reason: string | null } | null;
  nextAction?: { __typename: string; url?: string } | null;
}

describe('The example operations of the explorer, run against the sandbox,', () => {
  let sandbox: Sandbox;
  let gateway: TestClient;

  beforeAll(async () => {
    sandbox = await testSandbox({ realClock: fakeClock(Date.now()) });
    gateway = await testGateway(sandbox.url, { inSandbox: true });
  });

  /** Runs an operation like the page, and returns the value of its root field. */
  async function run({ name, query, variables }: Example, ids: KnownIds): Promise<Record<string, unknown>> {
    const { data, text } = await gateway.request<Record<string, Record<string, unknown>> | null>(
      query,
      ids.fillIn(variables) as object,
    );
    if (!data) throw new Error(text);
    ids.store(name, data);
    return Object.values(data)[0] ?? {};
  }

  const shownBy = async (operation: Example, ids: KnownIds): Promise<Shown> => {
    const response = await run(operation, ids);
    const shown = response['payment'] ?? response['payout'];
    if (!shown) throw new Error(JSON.stringify(response));
    return shown as Shown;
  };

  /** Subscribes like the page, over a WebSocket, until this status arrives. */
  async function watch({ query, variables }: Example, ids: KnownIds, status: string): Promise<Shown> {
    const payload = { query, variables: ids.fillIn(variables) as Record<string, unknown> };
    for await (const { data, errors } of graphqlWsClient(gateway.url).iterate<Record<string, Shown>>(
      payload,
    )) {
      const [shown] = Object.values(data ?? {});
      if (errors) throw new Error(JSON.stringify(errors));
      if (shown?.status === status) return shown;
    }
    throw new Error(`The subscription ended before ${status}.`);
  }

  test('succeed in the order of their tabs, because the explorer passes ids from one to the next', async () => {
    const ids = new KnownIds();
    const used = new Set<string>();
    const { tour: tabs } = load();
    const tab = (name: string): Example => {
      used.add(name);
      return [...tabs, ...more].find((operation) => operation.name === name)!;
    };

    const redirect = await shownBy(tab('CreateRedirect'), ids);
    expect(redirect).toMatchObject({ status: 'PENDING', nextAction: { __typename: 'RedirectAction' } });
    expect((await watch(tab('WatchPayment'), ids, 'PENDING')).transactionId).toBe(redirect.transactionId);
    sandbox.controlPlane.settle(redirect.transactionId);
    await watch(tab('WatchPayment'), ids, 'COMPLETED');

    const upi = await shownBy(tab('CreateUpi'), ids);
    expect(upi).toMatchObject({ status: 'PROCESSING', nextAction: { __typename: 'ProvideUtrAction' } });
    const confirmed = await shownBy(tab('ConfirmUpi'), ids);
    const { transactionId } = upi;
    expect(confirmed).toMatchObject({ transactionId, status: 'COMPLETED', nextAction: null });

    sandbox.controlPlane.settle((await shownBy(tab('Declined'), ids)).transactionId);
    const failed = await watch(tab('WatchPayment'), ids, 'FAILED');
    expect(failed.error?.reason).toBe('INSUFFICIENT_FUNDS');
    sandbox.controlPlane.settle((await shownBy(tab('Mispaid'), ids)).transactionId);
    expect(await watch(tab('WatchPayment'), ids, 'MISPAID')).toMatchObject({
      amount: { value: '100.70', received: '50.35' },
    });

    const completed = { transactionId: redirect.transactionId, status: 'COMPLETED' };
    expect(await run(tab('LookUp'), ids)).toMatchObject(completed);
    const payout = await shownBy(tab('CreateBkashPayout'), ids);
    sandbox.controlPlane.settle(payout.transactionId);
    const paidOut = await watch(tab('WatchPayout'), ids, 'COMPLETED');
    expect(paidOut.transactionId).toBe(payout.transactionId);
    const feed = await run(tab('Changes'), ids);
    expect(feed['changes']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ transactionId: redirect.transactionId, status: 'PENDING' }),
        expect.objectContaining(completed),
        expect.objectContaining({ transactionId: payout.transactionId, payoutStatus: 'COMPLETED' }),
      ]),
    );
    const [first] = feed['changes'] as { cursor: string; transactionId: string }[];
    const fromFirst = { ...tab('WatchChanges'), variables: { channel: CHANNEL, after: first?.cursor } };
    expect(first?.transactionId).toBe(redirect.transactionId);
    expect(await watch(fromFirst, ids, 'COMPLETED')).toMatchObject(completed);
    used.delete('WatchPayout');
    expect([...used]).toEqual(tabs.map(({ name }) => name));
  });

  test.each(payments)(
    'create payments of the type $type in every supported flow, and confirm them if necessary',
    async ({ operations }) => {
      const ids = new KnownIds();
      for (const operation of operations) {
        const { status, nextAction } = await shownBy(operation, ids);
        const isConfirm = operation.name.startsWith('Confirm');
        expect(status).toMatch(isConfirm ? /COMPLETED|PROCESSING/ : /PENDING|PROCESSING/);
        if (nextAction) expect(nextAction).not.toEqual({ __typename: nextAction.__typename });
      }
    },
  );

  test.each(payouts.flatMap(({ operations }) => operations))(
    'create a payout by the operation $name',
    async (operation) => {
      expect(await shownBy(operation, new KnownIds())).toMatchObject({ status: 'PROCESSING' });
    },
  );
});
