import fc from 'fast-check';
import {
  getOperationAST,
  getVariableValues,
  parse,
  typeFromAST,
  type GraphQLInputType,
  type GraphQLScalarType,
} from 'graphql';
import { pino } from 'pino';
import { errorFormatter } from '../../src/http/graphql/apollo-server';
import { digestOf, DocumentLimits } from '../../src/http/limits/document-limits';
import { operationLog } from '../../src/http/graphql/operation-log';
import { PreparedOperation } from '../../src/http/compiled/prepared-operation';
import { CompiledOperationCache } from '../../src/http/compiled/compiled-operation-cache';
import { RateLimit } from '../../src/http/limits/rate-limit';
import { gatewaySchema } from '../../src/resolvers';
import type { OperationContext } from '../../src/resolvers/context';
import { inputOf } from '../adversarial/fuzz';
import { heapInUse } from '../http/support/resources';
import { newAttempt } from '../journal/support/samples';
import { ALL_SCOPES, CLIENT_ID } from '../support/credentials';
import { CHANNEL } from '../support/gateway';

const schema = gatewaySchema();

const ATTEMPT = {
  ...newAttempt({ channel: CHANNEL }),
  ...{ seq: 1, outcome: 'in_progress', transactionId: null, settledAt: null },
};

/** Returns the context of one operation, with a caller that has all scopes, and one attempt. */
const context = (): OperationContext =>
  ({
    requestId: 'request',
    caller: { id: CLIENT_ID, kind: 'service', scopes: new Set(ALL_SCOPES), channels: '*' },
    attempts: { list: () => Promise.resolve([ATTEMPT]) },
  }) as unknown as OperationContext;

function knownOf({ query }: { query: string }) {
  const document = parse(query);
  const operation = getOperationAST(document);
  if (!operation) throw new Error(`No operation: ${query}`);
  return { schema, document, operation };
}

describe('Variables of a compiled operation', () => {
  const asJson = (variables: unknown): Record<string, unknown> =>
    JSON.parse(JSON.stringify(variables)) as Record<string, unknown>;

  test.each([
    'query ($input: CreatePaymentInput!) { __typename }',
    'query ($input: ConfirmPaymentInput!) { __typename }',
    'query ($input: [[UUID!]!], $other: PaymentMethodInput) { __typename }',
    `query ($input: UUID! = "${CHANNEL}", $other: Int = 3, $more: [String] = ["a"]) { __typename }`,
  ])('are accepted and coerced as graphql-js does: %s', (query) => {
    const known = knownOf({ query });
    const definitions = known.operation.variableDefinitions ?? [];
    const prepared = new PreparedOperation(known);
    const given = fc.record(
      Object.fromEntries(
        definitions.map(({ variable, type }) => [
          variable.name.value,
          inputOf(typeFromAST(schema, type) as GraphQLInputType),
        ]),
      ),
      { requiredKeys: [] },
    );
    let fitting = 0;
    fc.assert(
      fc.property(given, (values) => {
        const sent = asJson(values);
        const { coerced, errors } = getVariableValues(schema, definitions, sent);
        const own = prepared.readVariables(sent);
        if (errors) return expect(own).toBeNull();
        fitting += 1;
        expect(own).toEqual(coerced);
      }),
      { numRuns: 200 },
    );
    expect(fitting).toBeGreaterThan(5);
  });

  test('are not validated beyond the first few errors', () => {
    const uuid = schema.getType('UUID') as GraphQLScalarType;
    const parsed = jest.spyOn(uuid, 'parseValue');
    const query =
      'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
    const operation = new PreparedOperation(knownOf({ query }));
    const ids = Array.from({ length: 33_000 }, () => 1);
    expect(operation.readVariables({ c: CHANNEL, ids })).toBeNull();
    expect(parsed.mock.calls.length).toBeLessThan(10);
    parsed.mockRestore();
  });
});

describe('The cache of compiled operations', () => {
  /** Compiled operations without a server. The tests call the plugin as Apollo Server does. */
  class Plugin {
    readonly #log = pino({ level: 'silent' });
    readonly #operations = new CompiledOperationCache({
      rate: new RateLimit(0),
      operationLog: operationLog(this.#log),
      formatError: errorFormatter(this.#log),
    });

    constructor() {
      this.#operations.recordContentType(undefined, 'application/json');
    }

    async teach(source: string): Promise<void> {
      const listener = await this.#operations.compileRepeatedOperations.requestDidStart?.({} as never);
      await listener?.didResolveOperation?.({ ...knownOf({ query: source }), source, request: {} } as never);
    }

    async isPrepared(source: string): Promise<boolean> {
      const request = { params: { query: source }, digest: digestOf(source), accept: undefined, context };
      return (await this.#operations.tryExecute(request)) !== null;
    }
  }

  const documentOf = (place: number): string => `query Q${place} { n${place}: __typename }`;

  test('holds the last thousand documents, and does not grow with more', async () => {
    const plugin = new Plugin();
    const teach = async (from: number, to: number): Promise<void> => {
      for (let place = from; place < to; place += 1) {
        await plugin.teach(documentOf(place));
        await plugin.teach(documentOf(place));
      }
    };
    await teach(0, 1100);
    const full = heapInUse();
    await teach(1100, 2300);
    expect(heapInUse() - full).toBeLessThan(3);
    expect(await plugin.isPrepared(documentOf(2_299))).toBe(true);
    expect(await plugin.isPrepared(documentOf(1_301))).toBe(true);
    expect(await plugin.isPrepared(documentOf(1_299))).toBe(false);
    expect(await plugin.isPrepared(documentOf(0))).toBe(false);
  });

  test('limits the total size of large documents', async () => {
    const plugin = new Plugin();
    const documents = Array.from({ length: 12 }, (_, place) => documentOf(place) + ' '.repeat(99_000));
    for (const source of [...documents, ...documents]) await plugin.teach(source);
    const kept = await Promise.all(documents.map((source) => plugin.isPrepared(source)));
    expect(kept.filter(Boolean)).toHaveLength(5);
  });

  // Nested fragments multiply the selections.
  test('takes less than 200 times the size of a document with nested fragments', async () => {
    const times = (write: (place: number) => string): string =>
      Array.from({ length: 22 }, (_, place) => write(place)).join(' ');
    const query = `query ($c: UUID!) { attempts(channel: $c, first: 1) { ...C } }
      fragment C on AttemptConnection { ${times((place) => `e${place}: edges { ...E }`)} }
      fragment E on AttemptEdge { ${times((place) => `n${place}: node { ...N }`)} }
      fragment N on Attempt { ${times((place) => `k${place}: channel`)} }`;
    expect(new DocumentLimits().check(query)).toEqual({ ok: true });
    const prepare = async (): Promise<PreparedOperation> => {
      const operation = new PreparedOperation(knownOf({ query }));
      expect((await operation.run(context(), { c: CHANNEL }, { c: CHANNEL })).errors).toBeUndefined();
      return operation;
    };
    const operations = [await prepare()];
    const before = heapInUse();
    for (let count = 0; count < 8; count += 1) operations.push(await prepare());
    const bytes = (heapInUse() - before) * 1024 * 1024;
    expect(bytes / (8 * query.length)).toBeLessThan(200);
  });
});
