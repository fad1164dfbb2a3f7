import { systemClock } from '../../src/clock';
import { getOperationAST, parse, type GraphQLScalarType } from 'graphql';
import { pino } from 'pino';
import { errorFormatter } from '../../src/http/apollo-server';
import { digestOf, DocumentLimits } from '../../src/http/document-limits';
import { operationLog } from '../../src/http/operation-log';
import { PreparedOperation } from '../../src/http/prepared/prepared-operation';
import { PreparedOperations } from '../../src/http/prepared/prepared-operations';
import { RateLimit } from '../../src/http/rate-limit';
import { gatewaySchema } from '../../src/resolvers';
import { heapInUse } from '../http/support/resources';
import { CHANNEL } from '../support/gateway';
import { BothWays } from './support/both-ways';
import { ALL_SCOPES_CALLER, contextOfTransactions } from './support/transaction-context';
import { FOUND } from './support/transactions';

/** What is prepared takes so much memory and time, and no more, whatever is asked. */

const schema = gatewaySchema();

const context = () => contextOfTransactions(ALL_SCOPES_CALLER);

function knownOf(source: string) {
  const document = parse(source);
  const operation = getOperationAST(document);
  if (!operation) throw new Error(`No operation: ${source}`);
  return { schema, document, operation };
}

/** Prepared operations without a server around them: what Apollo would teach them is told by the test. */
class Taught {
  readonly #log = pino({ level: 'silent' });
  readonly #operations = new PreparedOperations({
    rate: new RateLimit(0, { clock: systemClock }),
    operationLog: operationLog(this.#log),
    formatError: errorFormatter(this.#log),
  });

  constructor() {
    this.#operations.learnType(undefined, 'application/json');
  }

  async teach(source: string): Promise<void> {
    const { learnOperations } = this.#operations;
    const listener = await learnOperations.requestDidStart?.({} as never);
    if (!listener) throw new Error('Nothing is learned.');
    await listener.didResolveOperation?.({ ...knownOf(source), source, request: {} } as never);
  }

  async isPrepared(source: string): Promise<boolean> {
    const asked = { operation: { query: source }, digest: digestOf(source), accept: undefined, context };
    return (await this.#operations.answer(asked)) !== null;
  }
}

const documentOf = (place: number): string => `query Q${place} { n${place}: __typename }`;

test('of ten thousand documents the last thousand are kept, and take no more memory than the first', async () => {
  const taught = new Taught();
  const teach = async (from: number, to: number): Promise<void> => {
    for (let place = from; place < to; place += 1) {
      await taught.teach(documentOf(place));
      await taught.teach(documentOf(place));
    }
  };
  // So many that every cache is full.
  await teach(0, 5500);
  const full = heapInUse();
  await teach(5500, 10_000);
  expect(heapInUse() - full).toBeLessThan(5);
  expect(await taught.isPrepared(documentOf(9_999))).toBe(true);
  expect(await taught.isPrepared(documentOf(9_001))).toBe(true);
  expect(await taught.isPrepared(documentOf(8_999))).toBe(false);
  expect(await taught.isPrepared(documentOf(0))).toBe(false);
});

test('documents that were asked once are remembered by their digests alone', async () => {
  const taught = new Taught();
  const long = ' '.repeat(50_000);
  const before = heapInUse();
  // 250 MB of text.
  for (let place = 0; place < 5000; place += 1) await taught.teach(`${documentOf(place)}${long}`);
  expect(heapInUse() - before).toBeLessThan(10);
});

test('large documents make room for each other', async () => {
  const taught = new Taught();
  const documents = Array.from({ length: 12 }, (_, place) => documentOf(place) + ' '.repeat(99_000));
  for (const source of [...documents, ...documents]) await taught.teach(source);
  const kept = await Promise.all(documents.map((source) => taught.isPrepared(source)));
  expect(kept.filter(Boolean)).toHaveLength(5);
});

// Fragments multiply in a selection, and every type of a union has readers of its own: that is bounded apart from the text.
describe('What is made of a document takes some hundred times its text at most', () => {
  /** How many bytes a prepared operation takes for each character of its text, once it has been carried out. */
  async function bytesPerCharacter(source: string, variables: Record<string, unknown>): Promise<number> {
    const kept: PreparedOperation[] = [];
    const before = heapInUse();
    for (let count = 0; count < 20; count += 1) {
      const operation = new PreparedOperation(knownOf(source));
      expect((await operation.run(context(), variables, variables)).errors).toBeUndefined();
      kept.push(operation);
    }
    return ((heapInUse() - before) * 1024 * 1024) / (kept.length * source.length);
  }

  const times = (count: number, write: (place: number) => string): string =>
    Array.from({ length: count }, (_, place) => write(place)).join(' ');

  test('where fragments spread fragments', async () => {
    const source = `query ($c: UUID!) { attempts(channel: $c, first: 1) { ...C } }
      fragment C on AttemptConnection { ${times(22, (place) => `e${place}: edges { ...E }`)} }
      fragment E on AttemptEdge { ${times(22, (place) => `n${place}: node { ...N }`)} }
      fragment N on Attempt { ${times(22, (place) => `k${place}: channel`)} }`;
    expect(new DocumentLimits().check(source)).toEqual({ ok: true });
    expect(await bytesPerCharacter(source, { c: CHANNEL })).toBeLessThan(200);
  });

  test('where transactions of every type stand at every root field', async () => {
    const byType = new Map<string | undefined, string>();
    for (const transactionId of FOUND.payment) {
      const found = await context().visiblePayments.load({ channel: CHANNEL, transactionId });
      byType.set(found?.constructor.name, transactionId);
    }
    const source = `query ($c: UUID!, $ids: [UUID!]!) {
      ${times(50, (place) => `a${place}: payments(channel: $c, transactionIds: $ids) { ...F }`)} }
      fragment F on PaymentResource { id transactionId channel externalId status rawStatus redirectUrl createDate method
        amount { currency value received } error { code rawCode message reason } nextAction { __typename } }`;
    expect(new DocumentLimits().check(source)).toEqual({ ok: true });
    const variables = { c: CHANNEL, ids: [...byType.values()].slice(0, 10) };
    expect(await bytesPerCharacter(source, variables)).toBeLessThan(200);
  });
});

test('of thousands of values that do not fit no more are looked at than it takes to know', () => {
  const uuid = schema.getType('UUID') as GraphQLScalarType;
  const parsed = jest.spyOn(uuid, 'parseValue');
  const query =
    'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
  const operation = new PreparedOperation(knownOf(query));
  const ids = Array.from({ length: 33_000 }, () => 1);
  expect(operation.variablesOf({ c: CHANNEL, ids })).toBeNull();
  expect(parsed.mock.calls.length).toBeLessThan(10);
  parsed.mockRestore();
});

test.each([
  [
    'a card number as a literal',
    'mutation { createPayment(input: { idempotencyKey: "k", method: { card: { pan: "4111111111111111" } } }) { __typename } }',
  ],
  ['a card number among its names', '{ a4111111111111111: __typename }'],
  ['a field that is not there', '{ nosuch(token: "eyJhbGciOi") { id } }'],
  ['an operationName that is not there', 'query A { __typename } query B { __typename }'],
])('a document with %s is never prepared, so nothing of it is kept for the next', async (_what, query) => {
  const ways = await BothWays.start();
  for (let count = 0; count < 5; count += 1) {
    const { told, isPrepared } = await ways.ask({ body: { query } });
    expect([isPrepared, told.status]).toEqual([false, 400]);
    expect(JSON.stringify(told)).not.toMatch(/4111111111111111|eyJhbGciOi/);
  }
});
