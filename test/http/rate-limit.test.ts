import { randomUUID } from 'node:crypto';
import { createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { lookUpPayment } from '../methods/selection';
import { clientKeysFile } from '../support/credentials';
import { CHANNEL, type GraphqlAnswer } from '../support/gateway';
import { post, raw } from '../gateway/fixtures/raw';
import { startServer, type Server } from './support/servers';

const OTHER = { authorization: 'Bearer pgk_other-client-key-0123456789' };

/** A gateway that lets each of two clients ask for so much in a minute. */
const limitedTo = (points: number): Promise<Server> =>
  startServer({
    RATE_LIMIT_PER_MINUTE: String(points),
    CLIENT_KEYS_FILE: clientKeysFile({ id: 'other', key: OTHER.authorization.slice('Bearer '.length) }),
  });

const LOOKUP = `query ($c: UUID!, $e: String!) { payment(channel: $c, externalId: $e) { __typename } }`;
const BATCH = `query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }`;
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;

type Ask = (server: Server, headers?: Record<string, string>) => Promise<GraphqlAnswer<unknown>>;

const lookUp: Ask = ({ client }, headers) => client.ask(LOOKUP, { c: CHANNEL, e: newKey() }, headers);
const create: Ask = ({ client }, headers) =>
  client.ask(CREATE, { input: createInput('payment', newKey()) }, headers);
const batchOf =
  (count: number): Ask =>
  ({ client }, headers) =>
    client.ask(BATCH, { c: CHANNEL, ids: Array.from({ length: count }, () => randomUUID()) }, headers);
const aliased =
  (count: number): Ask =>
  ({ client }, headers) => {
    const fields = Array.from(
      { length: count },
      (_, place) => `a${place}: payment(channel: "${CHANNEL}", externalId: "${newKey()}") { __typename }`,
    );
    return client.ask(`{ ${fields.join(' ')} }`, {}, headers);
  };
const say =
  (query: string): Ask =>
  ({ client }, headers) =>
    client.ask(query, {}, headers);

const isLimited = ({ status }: Pick<GraphqlAnswer<unknown>, 'status'>): boolean => status === 429;

/** How many such calls in a row a client may make that has that many points. */
async function allowed(ask: Ask, points: number): Promise<number> {
  const server = await limitedTo(points);
  for (let count = 0; ; count += 1) {
    if (isLimited(await ask(server))) return count;
    if (count > points) throw new Error('There is no limit.');
  }
}

describe('A client that has asked for too much', () => {
  let server: Server;
  let answer: GraphqlAnswer<unknown>;

  beforeAll(async () => {
    server = await limitedTo(3);
    for (let count = 0; count < 3; count += 1) expect((await lookUp(server)).status).toBe(200);
    server.service.seen.length = 0;
    answer = await lookUp(server);
  });

  test('hears so, and when to ask again', () => {
    expect(answer.status).toBe(429);
    expect(answer.data).toBeUndefined();
    expect(answer.errors).toHaveLength(1);
    const { extensions, message } = answer.errors![0]!;
    expect(message).not.toBe('');
    expect(extensions).toMatchObject({
      code: 'RATE_LIMITED',
      retryable: true,
      requestId: answer.headers.get('x-request-id'),
    });
    const wait = Number(extensions['retryAfterMs']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(answer.headers.get('retry-after')).toBe(String(Math.ceil(wait / 1000)));
  });

  test('sends nothing to the service', async () => {
    expect((await create(server)).status).toBe(429);
    expect((await batchOf(2)(server)).status).toBe(429);
    expect(server.service.seen).toHaveLength(0);
    expect(server.service.ledger.entries).toHaveLength(0);
  });

  test('is refused by GET too', async () => {
    const asked = `${server.base}/graphql?query=${encodeURIComponent('{ __typename }')}`;
    const byGet = await raw(asked, { headers: { 'apollo-require-preflight': '1' } });
    expect(byGet.status).toBe(429);
    expect(byGet.errors?.[0]?.extensions['code']).toBe('RATE_LIMITED');
  });

  test('leaves other clients alone', async () => {
    expect((await lookUp(server, OTHER)).status).toBe(200);
  });

  test('can still ask for the health of the process', async () => {
    for (let count = 0; count < 20; count += 1) {
      expect((await raw(`${server.base}/healthz`)).status).toBe(200);
      expect((await raw(`${server.base}/readyz`)).status).toBe(200);
    }
  });

  test('is told who it is before: somebody unknown hears 401', async () => {
    expect((await lookUp(server, { authorization: 'Bearer nobody' })).status).toBe(401);
  });
});

describe('What an operation costs', () => {
  test('a lookup costs 1', async () => expect(await allowed(lookUp, 6)).toBe(6));
  test('a call that moves money costs 5', async () => expect(await allowed(create, 10)).toBe(2));
  test('a batch costs what it fetches', async () => expect(await allowed(batchOf(4), 12)).toBe(3));
  test('each alias costs a lookup', async () => expect(await allowed(aliased(4), 12)).toBe(3));
  test('an operation that looks nothing up costs 1', async () =>
    expect(await allowed(say('{ __typename }'), 3)).toBe(3));

  test('fragments hide nothing', async () => {
    const query = `{ ...A ... on Query { ...B } } ${['A', 'B']
      .map(
        (name) =>
          `fragment ${name} on Query { ${name}: payments(channel: "${CHANNEL}", transactionIds: ["${randomUUID()}", "${randomUUID()}"]) { __typename } }`,
      )
      .join(' ')}`;
    expect(await allowed(say(query), 12)).toBe(3);
  });

  const listOf = (count: number): string => JSON.stringify(Array.from({ length: count }, () => randomUUID()));

  test.each([
    [
      'a list',
      `query ($ids: [UUID!]! = ${listOf(4)}) { payments(channel: "${CHANNEL}", transactionIds: $ids) { __typename } }`,
    ],
    [
      'what stands beside a list',
      `query ($c: UUID! = "${CHANNEL}") { payments(channel: $c, transactionIds: ${listOf(4)}) { __typename } }`,
    ],
  ])('%s costs the same where it is the default of a variable', async (_what, query) => {
    // The last two are prepared.
    expect(await allowed(say(query), 16)).toBe(4);
  });

  test('more lookups than one operation may have are refused, also by default', async () => {
    const server = await limitedTo(1000);
    const six = [1, 2, 3, 4, 5, 6];
    const query = `query (${six.map((n) => `$r${n}: [UUID!]! = ${listOf(100)}`).join(' ')}) {
      ${six.map((n) => `a${n}: payments(channel: "${CHANNEL}", transactionIds: $r${n}) { __typename }`).join(' ')} }`;
    const { errors } = await server.client.ask(query);
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['OPERATION_TOO_LARGE']);
    expect(server.service.seen).toEqual([]);
  });

  const attemptsOf = (selection: string, first = '100'): string =>
    `attempts(channel: "${CHANNEL}", first: ${first}) { edges { ${selection} } }`;
  const FRAGMENTS =
    'fragment N on AttemptEdge { item: node { ...P } } fragment P on Attempt { it: payment { __typename } }';
  const times = (count: number, field: string): string =>
    Array.from({ length: count }, (_, n) => `a${n}: ${field}`).join(' ');

  test.each([
    ['the payment', `{ ${times(7, attemptsOf('node { payment { __typename } }'))} }`],
    ['the payout', `{ ${times(7, attemptsOf('node { ... on Attempt { payout { __typename } } }'))} }`],
    ['the payment in fragments', `{ ${times(7, attemptsOf('...N'))} } ${FRAGMENTS}`],
    [
      'the payment by a variable',
      `query ($n: Int = 100) { ${times(7, attemptsOf('...N', '$n'))} } ${FRAGMENTS}`,
    ],
  ])('pages of attempts with %s count one lookup for each attempt', async (_what, query) => {
    const { errors } = await (await limitedTo(1000)).client.ask(query);
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['OPERATION_TOO_LARGE']);
  });

  test('a page of attempts costs its size with transactions, and 1 without', async () => {
    expect(await allowed(say(`{ ${attemptsOf('...N', '4')} } ${FRAGMENTS}`), 12)).toBe(3);
    expect(await allowed(say(`{ ${attemptsOf('...N', 'null')} } ${FRAGMENTS}`), 40)).toBe(2);
    expect(
      await allowed(say(`{ ${attemptsOf('node { transactionId amount { value } paymentMethod }')} }`), 3),
    ).toBe(3);
  });

  test.each([
    ['a document that does not parse', '{'],
    ['an unknown field', '{ nosuch }'],
    [
      'a document that is too large',
      `{ ${Array.from({ length: 200 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
    ],
    ['a wrong variable', 'query ($c: UUID!) { payment(channel: $c) { __typename } }'],
    ['a create without input', 'mutation { createPayment { __typename } }'],
  ])('what is refused costs too: %s', async (_what, query) => {
    expect(await allowed(say(query), 3)).toBe(3);
  });

  test('the same fact asked a hundred times costs a hundred, though the service is asked once', async () => {
    const id = randomUUID();
    const same: Ask = ({ client }) =>
      client.ask(BATCH, { c: CHANNEL, ids: Array.from({ length: 100 }, () => id) });
    expect(await allowed(same, 200)).toBe(2);
  });
});

test('of many calls at once no more are let in than were left', async () => {
  const server = await limitedTo(20);
  const answers = await Promise.all(Array.from({ length: 60 }, () => lookUp(server)));
  expect(answers.filter(isLimited)).toHaveLength(40);
  expect(server.service.seen).toHaveLength(20);
});

test('0 is no limit', async () => {
  const server = await limitedTo(0);
  const answers = await Promise.all(Array.from({ length: 300 }, () => say('{ __typename }')(server)));
  expect(answers.filter(isLimited)).toHaveLength(0);
});

describe('With the settings as they come, an honest client is never refused', () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
  });

  test('100 calls at once', async () => {
    const asked = Array.from({ length: 100 }, (_, place) => (place % 2 ? lookUp : create)(server));
    const statuses = (await Promise.all(asked)).map(({ status, errors }) => [status, errors]);
    expect(statuses.filter(([status, errors]) => status !== 200 || errors)).toEqual([]);
  });

  test('400 lookups, one after another', async () => {
    for (let count = 0; count < 400; count += 1) expect((await lookUp(server)).status).toBe(200);
  });

  test('full batches, one after another', async () => {
    for (let count = 0; count < 20; count += 1) expect((await batchOf(100)(server)).status).toBe(200);
  });

  test('20 aliased lookups in one operation', async () => {
    expect((await aliased(20)(server)).errors).toBeUndefined();
  });

  test('a payment with every field of every type', async () => {
    const { client } = server;
    const externalId = newKey();
    await client.ask(CREATE, { input: createInput('payment', newKey(), { externalId }) });
    const answer = await client.ask<{ payment: object }>(lookUpPayment(), { channel: CHANNEL, externalId });
    expect(answer.errors).toBeUndefined();
    expect(Object.keys(answer.data.payment).length).toBeGreaterThan(5);
  });
});

test('a body that is no operation at all is refused for that, whoever sends it', async () => {
  const server = await limitedTo(2);
  for (const body of ['[]', 'null', '1', '"a"']) {
    const answer = await post(`${server.base}/graphql`, body);
    expect(answer.status).toBe(400);
  }
  expect(server.service.seen).toHaveLength(0);
});
