import fc from 'fast-check';
import { MUTATIONS, anyBody, anyDocument, anyJson, brokenDocument, mutationCall } from '../attack/fuzz';
import { faultsOfGraphql } from '../attack/judge';
import { AUTHORIZED } from '../support/credentials';
import { heapInUse } from './support/resources';
import { startServer, type Server } from './support/servers';

/** The same on every machine; another one may be tried: FUZZ_SEED=123 npx jest test/http/fuzz */
const SEED = Number(process.env['FUZZ_SEED'] ?? 20261121);

let server: Server;

beforeAll(async () => {
  server = await startServer({ RATE_LIMIT_PER_MINUTE: '0' });
});

/** Sends exactly that as the body of an operation, and returns what is wrong with the answer. */
async function faultsFor(body: string): Promise<string[]> {
  const response = await fetch(server.client.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...AUTHORIZED },
    body,
  });
  return faultsOfGraphql({ status: response.status, body: await response.text() });
}

/** Tries that many at random. A failure prints the seed, and what it came down to. */
async function expectGoodAnswers(bodies: fc.Arbitrary<string>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(bodies, async (body) => expect(await faultsFor(body)).toEqual([]));
  await fc.assert(property, { seed: SEED, numRuns });
  server.service.seen.length = 0;
}

/** Whatever stands there, the program says nothing of its insides, and does not fail. */
afterEach(async () => {
  const unexpected = server.logLines.splice(0).filter((line) => /"level":(50|60)/.test(line));
  expect(unexpected).toEqual([]);
  expect((await server.client.ask('{ __typename }')).status).toBe(200);
});

test.each(MUTATIONS)('%s, with inputs at random', async (name) => {
  await expectGoodAnswers(
    mutationCall(name).map((body) => JSON.stringify(body)),
    200,
  );
});

test('lookups, with variables at random', async () => {
  const query = `query ($c: UUID!, $t: UUID, $e: String, $n: ID!, $l: [UUID!]!, $o: AttemptOutcome, $f: Int, $a: String) {
    payment(channel: $c, transactionId: $t, externalId: $e) { __typename } payouts(channel: $c, transactionIds: $l) { __typename }
    node(id: $n) { id } attempts(channel: $c, outcome: $o, first: $f, after: $a) { pageInfo { hasNextPage } } }`;
  const names = ['c', 't', 'e', 'n', 'l', 'o', 'f', 'a'];
  const one = fc.oneof(anyJson, fc.constantFrom('7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10', 'a', 20, null, []));
  const variables = fc
    .tuple(...names.map(() => one))
    .map((values) => Object.fromEntries(names.map((name, place) => [name, values[place]])));
  await expectGoodAnswers(
    variables.map((given) => JSON.stringify({ query, variables: given })),
    200,
  );
});

test('documents at random', async () => {
  await expectGoodAnswers(
    anyDocument.map((query) => JSON.stringify({ query })),
    300,
  );
});

test('broken documents at random', async () => {
  await expectGoodAnswers(
    brokenDocument.map((query) => JSON.stringify({ query, operationName: 'Named' })),
    300,
  );
});

test('bodies at random', async () => {
  await expectGoodAnswers(anyBody, 400);
});

test('none of it stays in memory', async () => {
  const many = fc.sample(
    fc.oneof(
      anyBody,
      brokenDocument.map((query) => JSON.stringify({ query })),
      mutationCall('createPayment').map((body) => JSON.stringify(body)),
    ),
    { seed: SEED, numRuns: 300 },
  );
  const ask = async (): Promise<void> => {
    for (const body of many) await faultsFor(body);
    server.service.seen.length = 0;
    server.logLines.length = 0;
  };
  await ask();
  const before = heapInUse();
  await ask();
  await ask();
  // Each time it comes to several megabytes of text.
  expect(heapInUse() - before).toBeLessThan(60);
});

test('what comes at random is worth sending: some of it is valid, and carried out', async () => {
  const answers = await Promise.all(
    fc.sample(anyDocument, { seed: SEED, numRuns: 100 }).map((query) => server.client.ask(query)),
  );
  expect(answers.filter(({ data }) => data).length).toBeGreaterThan(10);
  const calls = fc.sample(mutationCall('createPayment'), { seed: SEED + 1, numRuns: 100 });
  const created = server.service.ledger.entries.length;
  await Promise.all(
    calls.map(({ query, variables }) => server.client.ask(query, Object(variables) as object)),
  );
  expect(server.service.ledger.entries.length - created).toBeGreaterThan(3);
});
