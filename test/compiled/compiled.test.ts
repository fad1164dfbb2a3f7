import { getOperationAST, parse, type GraphQLScalarType } from 'graphql';
import { pino } from 'pino';
import { createErrorFormatter } from '../../src/http/graphql/apollo-server';
import { checkDocument, digestOf } from '../../src/http/limits/document-limits';
import { createOperationLogger } from '../../src/http/graphql/operation-log';
import { PreparedOperation } from '../../src/http/compiled/prepared-operation';
import { CompiledOperationCache } from '../../src/http/compiled/compiled-operation-cache';
import { CallerRateLimiter } from '../../src/http/limits/caller-rate-limiter';
import { buildGatewaySchema } from '../../src/resolvers';
import type { OperationContext } from '../../src/resolvers/context';
import { heapInUse } from '../http/support/resources';

const schema = buildGatewaySchema();

function validated(query: string) {
  const document = parse(query);
  return { schema, document, operation: getOperationAST(document)! };
}

test('The validation of the variables of a compiled operation stops after the first few errors', () => {
  const parsed = jest.spyOn(schema.getType('UUID') as GraphQLScalarType, 'parseValue');
  const operation = new PreparedOperation(
    validated('query ($ids: [UUID!]!) { payments(channel: "x", transactionIds: $ids) { __typename } }'),
  );
  expect(operation.coerceVariables({ ids: Array<number>(33_000).fill(1) })).toBeNull();
  expect(parsed.mock.calls.length).toBeLessThan(10);
  parsed.mockRestore();
});

describe('The cache of compiled operations', () => {
  /** Returns an empty cache without a server. The functions call it as Apollo Server and the gateway do. */
  function emptyCache() {
    const log = pino({ level: 'silent' });
    const cache = new CompiledOperationCache({
      rateLimiter: new CallerRateLimiter(0),
      logOperation: createOperationLogger(log),
      formatError: createErrorFormatter(log),
    });
    cache.recordContentType(undefined, 'application/json');
    return {
      compile: async (source: string): Promise<void> => {
        for (const _ of ['validated once', 'compiled']) {
          const listener = await cache.compilePlugin.requestDidStart?.({} as never);
          await listener?.didResolveOperation?.({ ...validated(source), source, request: {} } as never);
        }
      },
      has: async (query: string): Promise<boolean> => {
        const createContext = () => ({ requestId: 'request', caller: { id: 'caller' } }) as OperationContext;
        const documentDigest = digestOf(query);
        const request = { params: { query }, documentDigest, accept: undefined, createContext };
        return (await cache.tryExecute(request)) !== null;
      },
    };
  }

  const documentOf = (place: number): string => `query Q${place} { n${place}: __typename }`;

  test('keeps the last thousand documents, and does not grow beyond them', async () => {
    const { compile, has } = emptyCache();
    const compileAll = async (from: number, to: number): Promise<void> => {
      for (let place = from; place < to; place += 1) await compile(documentOf(place));
    };
    await compileAll(0, 1100);
    const full = heapInUse();
    await compileAll(1100, 2300);
    expect(heapInUse() - full).toBeLessThan(3);
    const kept = await Promise.all([2_299, 1_301, 1_299, 0].map((place) => has(documentOf(place))));
    expect(kept).toEqual([true, true, false, false]);
  });

  test('limits the total size of large documents', async () => {
    const { compile, has } = emptyCache();
    const documents = Array.from({ length: 12 }, (_, place) => documentOf(place) + ' '.repeat(99_000));
    for (const source of documents) await compile(source);
    const kept = await Promise.all(documents.map(has));
    expect(kept.filter(Boolean)).toHaveLength(5);
  });
});

test('A compiled operation with nested fragments takes less than 200 times the memory of its document', () => {
  const times = (write: (place: number) => string): string =>
    Array.from({ length: 22 }, (_, place) => write(place)).join(' ');
  const query = `query ($c: UUID!) { attempts(channel: $c, first: 1) { ...C } }
    fragment C on AttemptConnection { ${times((place) => `e${place}: edges { ...E }`)} }
    fragment E on AttemptEdge { ${times((place) => `n${place}: node { ...N }`)} }
    fragment N on Attempt { ${times((place) => `k${place}: channel`)} }`;
  expect(checkDocument(query)).toEqual({ ok: true });
  const operations = [new PreparedOperation(validated(query))];
  const before = heapInUse();
  for (let count = 0; count < 8; count += 1) operations.push(new PreparedOperation(validated(query)));
  const bytes = (heapInUse() - before) * 1024 * 1024;
  expect(bytes / ((operations.length - 1) * query.length)).toBeLessThan(200);
});
