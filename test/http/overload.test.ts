import { randomUUID } from 'node:crypto';
import { bearer, clientOf } from '../auth/support/harness';
import { codesOf } from '../auth/support/responses';
import { Caller, createInput, untilAccepted } from '../support/caller';
import { clientKeysFile } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { expectErrors, post, raw, type RawResult } from '../support/raw';
import { newKey } from '../support/harness';
import { startServer, type Server } from './support/servers';

const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;
const HELLO = '{ __typename }';

type Operation = [query: string, variables?: object];

const idsOf = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
const times = (count: number, write: (place: number) => string): string =>
  Array.from({ length: count }, (_, place) => write(place)).join(' ');

const batch = (ids: string[]): Operation => [
  'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }',
  { c: CHANNEL, ids },
];
const lookUp = (): Operation => [
  'query ($c: UUID!, $e: String!) { payment(channel: $c, externalId: $e) { __typename } }',
  { c: CHANNEL, e: newKey() },
];
const create = (): Operation => [CREATE, { input: createInput('payment', newKey()) }];
const aliased = (count: number): Operation => {
  const key = newKey();
  const lookups = times(
    count,
    (n) => `a${n}: payment(channel: "${CHANNEL}", externalId: "${key}${n}") { __typename }`,
  );
  return [`{ ${lookups} }`];
};

const attempts = (selection: string, first = '100'): string =>
  `attempts(channel: "${CHANNEL}", first: ${first}) { edges { ${selection} } }`;
const changes = (selection: string, first = '500'): string =>
  `changes(channel: "${CHANNEL}", first: ${first}) { changes { ... on PaymentChange { ${selection} } } }`;
const FRAGMENTS =
  'fragment N on AttemptEdge { item: node { ...P } } fragment P on Attempt { it: payment { __typename } }';

const isLimited = ({ status }: { status: number }): boolean => status === 429;

describe('A rate limit of 24 points per minute', () => {
  const POINTS = 24;
  const clients = Array.from({ length: 40 }, (_, n) => clientOf(`c${n}`, {}));
  const unused = [...clients];
  let server: Server;

  beforeAll(async () => {
    const CLIENT_KEYS_FILE = clientKeysFile(...clients);
    server = await startServer({ RATE_LIMIT_PER_MINUTE: String(POINTS), CLIENT_KEYS_FILE });
  });

  const send = ([query, variables]: Operation, headers: Record<string, string>) =>
    server.client.request(query, variables, headers);
  const newClient = (): Record<string, string> => bearer(unused.pop()?.key ?? '');

  test('responds with 429 and Retry-After to a client that has no points left, and sends no request to the service', async () => {
    const limited = newClient();
    expect(isLimited(await send(aliased(POINTS), limited))).toBe(false);
    server.service.requests.length = 0;
    const responses = [
      ...(await Promise.all([lookUp(), create(), batch(idsOf(2))].map((one) => send(one, limited)))),
      await raw(`${server.client.url}?${new URLSearchParams({ query: HELLO })}`, {
        headers: { 'apollo-require-preflight': '1', ...limited },
      }),
    ];
    for (const response of responses) {
      const { status, data, errors, headers } = response;
      expect([status, data, errors?.length]).toEqual([429, undefined, 1]);
      expectErrors(response, 'RATE_LIMITED');
      const { retryable, retryAfterMs: wait } = errors![0]!.extensions;
      expect([retryable, Number(wait) > 0, Number(wait) <= 60_000]).toEqual([true, true, true]);
      expect(headers.get('retry-after')).toBe(String(Math.ceil(Number(wait) / 1000)));
    }
    expect(server.service.requests).toHaveLength(0);
    expect((await send(lookUp(), newClient())).status).toBe(200);
    expect((await send(lookUp(), bearer('nobody'))).status).toBe(401);
    for (let count = 0; count < POINTS; count += 1)
      expect((await raw(`${server.base}/readyz`, { headers: limited })).status).toBe(200);
  });

  test('admits no more concurrent requests than the client has points left', async () => {
    const client = newClient();
    server.service.requests.length = 0;
    const responses = await Promise.all(Array.from({ length: 60 }, () => send(lookUp(), client)));
    expect(responses.filter(isLimited)).toHaveLength(60 - POINTS);
    expect(server.service.requests).toHaveLength(POINTS);
  });

  const listOf = (count: number): string => JSON.stringify(idsOf(count));
  const [id = ''] = idsOf(1);
  const fragment = (name: string): string =>
    `fragment ${name} on Query { ${name}: payments(channel: "${CHANNEL}", transactionIds: ${listOf(2)}) { __typename } }`;

  test.each<[number, string, Operation]>([
    [1, 'a lookup', lookUp()],
    [1, 'an operation without lookups', [HELLO]],
    [5, 'a create', create()],
    [8, 'a batch of eight times the same transaction', batch(Array<string>(8).fill(id))],
    [4, 'four lookups with aliases', aliased(4)],
    [4, 'lookups in fragments', [`{ ...A ... on Query { ...B } } ${fragment('A')} ${fragment('B')}`]],
    [
      4,
      'a batch whose list is a default value',
      [
        `query ($ids: [UUID!]! = ${listOf(4)}) { payments(channel: "${CHANNEL}", transactionIds: $ids) { __typename } }`,
      ],
    ],
    [4, 'a page of 4 attempts with payments', [`{ ${attempts('...N', '4')} } ${FRAGMENTS}`]],
    [20, 'a default page of attempts with payments', [`{ ${attempts('...N', 'null')} } ${FRAGMENTS}`]],
    [1, 'a page of attempts without payments', [`{ ${attempts('node { transactionId }')} }`]],
    [4, 'a page of 4 changes with payments', [`{ ${changes('payment { __typename }', '4')} }`]],
    [1, 'a page of 500 changes without payments', [`{ ${changes('cursor status')} }`]],
    [1, 'a document that does not parse', ['{']],
    [1, 'a missing variable', ['query ($c: UUID!) { payment(channel: $c) { __typename } }']],
  ])('charges %d point(s) for %s, each time', async (points, _what, one) => {
    const client = newClient();
    let count = 0;
    while (count <= POINTS && !isLimited(await send(one, client))) count += 1;
    expect(count).toBe(Math.floor(POINTS / points));
  });
});

describe('A gateway with default limits', () => {
  let server: Server;

  beforeAll(async () => {
    server = await startServer();
  });

  const HUNDRED = JSON.stringify(idsOf(100));
  test.each([
    [
      'batches whose lists are default values',
      `query (${times(6, (n) => `$r${n}: [UUID!]! = ${HUNDRED}`)}) {
        ${times(6, (n) => `a${n}: payments(channel: "${CHANNEL}", transactionIds: $r${n}) { __typename }`)} }`,
    ],
    [
      'payments of attempts in fragments',
      `query ($n: Int = 100) { ${times(7, (n) => `a${n}: ${attempts('...N', '$n')}`)} } ${FRAGMENTS}`,
    ],
    ['payments of changes', `{ ${times(2, (n) => `a${n}: ${changes('payment { __typename }', '251')}`)} }`],
  ])('refuses an operation with more than 500 lookups: %s', async (_what, query) => {
    server.service.requests.length = 0;
    expect(codesOf(await server.client.request(query))).toEqual(['OPERATION_TOO_LARGE']);
    expect(server.service.requests).toEqual([]);
  });

  test('refuses an operation whose looked-up transactions may have more than 300,000 values', async () => {
    const query = `query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { ...P } }
      fragment P on PaymentResource { ${times(30, (n) => `m${n}: amount { ...M }`)} }
      fragment M on Amount { ${times(30, (n) => `v${n}: value`)} }`;
    const ask = (ids: string[]) => server.client.request(query, { c: CHANNEL, ids });
    expect((await ask(idsOf(5))).errors).toBeUndefined();
    expect(codesOf(await ask(idsOf(400)))).toEqual(['OPERATION_TOO_LARGE']);
  });

  test.each([
    [
      'batches',
      `${times(5, (n) => `p${n}: payments(channel: "${CHANNEL}", transactionIds: ${HUNDRED}) { ...Q }`)}`,
    ],
    ['payments of changes', changes('payment { ...Q }')],
    ['payments of attempts', times(5, (n) => `p${n}: ${attempts('node { payment { ...Q } }')}`)],
  ])(
    'refuses an operation whose response may have more than 5000 aliased values: %s',
    async (_what, fields) => {
      const aliasing = (count: number): string =>
        `{ ${fields} } fragment Q on QrisPayment { ${times(count, (n) => `q${n}: qrCodeImage`)} }`;
      expect(codesOf(await server.client.request(aliasing(10)))).not.toContain('OPERATION_TOO_LARGE');
      expect(codesOf(await server.client.request(aliasing(11)))).toEqual(['OPERATION_TOO_LARGE']);
    },
  );

  test.each([
    ['changes', 'PaymentChange', 500, changes('...F')],
    ['attempts', 'Attempt', 100, attempts('node { ...F }')],
  ])(
    'refuses an operation whose pages of %s may have more than 100,000 values',
    async (_what, type, rows, page) => {
      const pages = (count: number): string =>
        `{ ${times(count, (n) => `p${n}: ${page}`)} } fragment F on ${type} { ${times(45, () => 'transactionId')} }`;
      const max = Math.floor(100_000 / rows / 50);
      // The journal may be too busy for that many pages.
      expect(codesOf(await server.client.request(pages(max)))).not.toEqual(['OPERATION_TOO_LARGE']);
      expect(codesOf(await server.client.request(pages(max + 1)))).toEqual(['OPERATION_TOO_LARGE']);
    },
  );
});

describe('A gateway whose event loop lag exceeds MAX_EVENT_LOOP_LAG_MS', () => {
  const ask = ({ base }: Server): Promise<RawResult> => post(`${base}/graphql`, '{"query":"{ __typename }"}');

  let server: Server;
  let unlimited: Server;
  let block: NodeJS.Timeout;
  let refused: RawResult;
  let created: Promise<unknown>;
  const key = newKey();

  beforeAll(async () => {
    unlimited = await startServer({ MAX_EVENT_LOOP_LAG_MS: '0' });
    server = await startServer({ MAX_EVENT_LOOP_LAG_MS: '40', SERVICE_TIMEOUT_MS: '60000' });
    await until(async () => (await ask(server)).status === 200);
    const { arrived, release } = server.service.hold();
    // Repeated, because on a busy machine the lag may exceed the limit already.
    created = untilAccepted(() => new Caller(server.base).create('payment', key));
    await arrived;
    block = setInterval(() => {
      const end = performance.now() + 150;
      while (performance.now() < end);
    }, 0);
    refused = await until(
      () => ask(server),
      ({ status }) => status !== 200,
    );
    release();
  });

  afterAll(() => clearInterval(block));

  test('refuses new operations with 503 and Retry-After, unless the setting is 0', async () => {
    expect([refused.status, refused.data, refused.headers.get('retry-after')]).toEqual([503, undefined, '1']);
    expect(refused.headers.get('cache-control')).toMatch(/no-store/);
    expectErrors(refused, 'SERVICE_UNAVAILABLE');
    expect(refused.errors).toMatchObject([{ extensions: { retryable: true, retryAfterMs: 1000 } }]);
    expect((await ask(unlimited)).status).toBe(200);
  });

  test('refuses a create before it has any effect', async () => {
    const before = server.service.requests.length;
    const other = newKey();
    const response = await new Caller(server.base).create('payment', other);
    expect(response).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(server.service.requests).toHaveLength(before);
    expect(server.auditText()).not.toContain(other);
  });

  test('responds to health checks, and completes requests in flight', async () => {
    for (const path of ['/healthz', '/readyz']) expect((await raw(server.base + path)).status).toBe(200);
    expect(await created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
    expect(server.service.created(key)).toHaveLength(1);
  });

  test('accepts operations again when the lag is over', async () => {
    clearInterval(block);
    await until(async () => (await ask(server)).status === 200);
    const end = await untilAccepted(() => new Caller(server.base).create('payment', newKey()));
    expect(end).toMatchObject({ result: 'PaymentSuccess' });
  });
});
