import { randomUUID } from 'node:crypto';
import { OURS, THEIRS, bearer, clientOf, keyOf } from '../access/support/rig';
import { post, raw, type RawResult } from '../gateway/fixtures/raw';
import { createInput } from '../exactly-once/support/caller';
import { EventStream, parametersOf, type SeenResult } from './support/event-stream';
import { liveRig, watching, type LiveRig } from './support/live-rig';

const EVENTS = { accept: 'text/event-stream' };

let rig: LiveRig;
let url: string;

beforeAll(async () => {
  rig = await liveRig({
    clients: [
      clientOf('payouts', { scopes: ['payouts:read'], channels: [OURS] }),
      clientOf('payments', { scopes: ['payments:read'], channels: [OURS] }),
    ],
  });
  url = `${rig.client.url}/stream`;
});

/** Whether a text holds what was sent. */
const { query: WATCH } = watching();

describe('Before a stream begins', () => {
  const asked = JSON.stringify(watching());
  const noKey = bearer(keyOf('nobody'));

  /** What a request has to be refused with, whether it is for events or for an answer. */
  const REFUSED: [
    what: string,
    status: number,
    code: string,
    body: string,
    headers: Record<string, string>,
  ][] = [
    ['with a key that nobody has', 401, 'UNAUTHENTICATED', asked, noKey],
    ['with credentials of another kind', 401, 'UNAUTHENTICATED', asked, { authorization: 'Basic YTpi' }],
    ['with a body that is no JSON', 400, 'BAD_REQUEST', '{"query":', {}],
    ['with a list', 400, 'BAD_REQUEST', `[${asked}]`, {}],
    ['with null', 400, 'BAD_REQUEST', 'null', {}],
    ['with an empty body', 400, 'BAD_REQUEST', '', {}],
    ['with plain text', 400, 'BAD_REQUEST', asked, { 'content-type': 'text/plain' }],
    ['with a form', 415, 'BAD_REQUEST', 'query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['with files', 415, 'BAD_REQUEST', 'x', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['with a body that is too large', 413, 'BAD_REQUEST', JSON.stringify({ query: 'x'.repeat(200_000) }), {}],
  ];

  test.each(REFUSED)(
    'a POST %s is refused with %s %s, as one to /graphql is',
    async (...[, status, code, body, headers]) => {
      const [stream, answer] = [
        await post(url, body, { ...EVENTS, ...headers }),
        await post(rig.client.url, body, headers),
      ];
      for (const { errors, ...seen } of [stream, answer]) {
        expect(seen.status).toBe(status);
        expect(errors).toMatchObject([
          { extensions: { code, retryable: false, requestId: seen.headers.get('x-request-id') } },
        ]);
      }
      expect(stream.headers.get('content-type')).toMatch(/^application\/json/);
      expect(stream.headers.get('cache-control')).toBe('no-store');
      expect(stream.headers.get('www-authenticate')).toBe(answer.headers.get('www-authenticate'));
    },
  );

  test.each(['GET', 'POST'] as const)('a %s without credentials is refused with 401', async (method) => {
    const target = method === 'GET' ? `${url}?${parametersOf(watching())}` : url;
    const body = method === 'POST' ? asked : undefined;
    const answer = await fetch(target, {
      method,
      body,
      headers: { ...EVENTS, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  test.each([
    ['application/json'],
    ['text/html'],
    ['application/graphql-response+json, application/json;q=0.9'],
  ])('a client that accepts %s only is told with 406 what there is', async (accept) => {
    const answer = await post(url, asked, { accept });
    expect(answer.status).toBe(406);
    expect(answer.errors).toMatchObject([
      {
        message: expect.stringContaining('text/event-stream') as unknown,
        extensions: { code: 'BAD_REQUEST' },
      },
    ]);
  });

  test.each([
    ['text/event-stream'],
    ['*/*'],
    ['text/event-stream, multipart/mixed'],
    ['application/json, text/event-stream'],
  ])('a client that accepts %s gets events', async (accept) => {
    const stream = await EventStream.open(url, watching(), { headers: { accept } });
    expect(await stream.nextData()).toEqual({ status: 'PENDING' });
    stream.leave();
  });

  test.each(['PUT', 'DELETE', 'PATCH'])('%s is not served', async (method) => {
    expect((await raw(url, { method, headers: EVENTS })).status).toBe(404);
  });

  const VARIABLES = JSON.stringify(watching().variables);
  test.each([
    ['variables that are no JSON', { query: WATCH, variables: '{' }],
    ['variables that are a number', { query: WATCH, variables: '5' }],
    ['variables that are a list', { query: WATCH, variables: '[]' }],
    ['extensions that are no JSON', { query: WATCH, variables: VARIABLES, extensions: '{' }],
    ['no operation', {}],
  ])('a GET with %s is refused with 400, as one to /graphql is', async (_what, parameters) => {
    const tail = new URLSearchParams(parameters).toString();
    const stream = await once(`${url}?${tail}`, { headers: EVENTS });
    const answer = await raw(`${rig.client.url}?${tail}`, { headers: { 'apollo-require-preflight': '1' } });
    expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
    expect({ status: stream.status, codes: codesOf(stream) }).toEqual({
      status: 400,
      codes: ['BAD_REQUEST'],
    });
  });

  test('a GET that gives its document twice is refused: which one counts is not clear', async () => {
    const tail = `${parametersOf(watching())}&query=${encodeURIComponent(WATCH)}`;
    expect((await once(`${url}?${tail}`, { headers: EVENTS })).status).toBe(400);
  });
});

/** What was asked at the address of events, read to its end where it is one; a stream that goes on counts as 200. */
async function once(target: string, init: RequestInit): Promise<RawResult> {
  const control = new AbortController();
  const response = await fetch(target, {
    ...init,
    signal: control.signal,
    headers: { ...bearer(KEY), ...init.headers },
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk);
    if (text.includes('event: next')) break;
  }
  control.abort();
  const body = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { errors } = JSON.parse(body) as Pick<RawResult, 'errors'>;
  return { status: response.status, headers: response.headers, text, errors };
}

const KEY = keyOf('payments');

const codesOf = ({ errors = [] }: Pick<RawResult, 'errors'>): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);

/** The one result of a subscription that does not begin. */
async function refusal(
  asked: object,
  headers?: Record<string, string>,
): Promise<SeenResult & { requestId: unknown }> {
  const stream = await EventStream.open(url, asked, { method: 'POST', headers });
  const first = await stream.next();
  if (first.event !== 'next' || !first.data.errors) {
    stream.leave();
    throw new Error(`Not refused: ${JSON.stringify(first)}`);
  }
  expect(await stream.rest()).toEqual([{ event: 'complete' }]);
  return { ...first.data, requestId: stream.headers['x-request-id'] };
}

describe('In the stream, followed by its completion', () => {
  const own = bearer(KEY);
  const others = bearer(keyOf('payouts'));
  const field = `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}")`;
  const deep = `subscription { ${field} ${'{ ... on PaymentResource { nextAction '.repeat(20)} { __typename }${' }}'.repeat(20)} }`;
  const aliases = Array.from({ length: 400 }, (_, count) => `a${count}: __typename`).join(' ');

  const REFUSED: [what: string, code: string, asked: object, headers: Record<string, string>][] = [
    ['a document that cannot be read', 'GRAPHQL_PARSE_FAILED', { query: 'subscription {' }, own],
    ['a field that there is not', 'GRAPHQL_VALIDATION_FAILED', { query: 'subscription { nothing }' }, own],
    [
      'an argument that is no UUID',
      'GRAPHQL_VALIDATION_FAILED',
      { query: 'subscription { paymentUpdated(channel: "x", transactionId: "y") { __typename } }' },
      own,
    ],
    [
      'two fields',
      'GRAPHQL_VALIDATION_FAILED',
      { query: `subscription { a: __typename b: __typename }` },
      own,
    ],
    [
      'introspection',
      'GRAPHQL_VALIDATION_FAILED',
      { query: 'subscription { __schema { __typename } }' },
      own,
    ],
    [
      'an operation that there is not',
      'OPERATION_RESOLUTION_FAILURE',
      { ...watching(), operationName: 'Other' },
      own,
    ],
    [
      'one of two operations, not said which',
      'OPERATION_RESOLUTION_FAILURE',
      {
        ...watching(),
        query: `${WATCH} subscription B { __typename }`.replace(
          '__typename',
          `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}") { __typename }`,
        ),
      },
      own,
    ],
    ['variables that are missing', 'BAD_USER_INPUT', { query: WATCH }, own],
    ['variables of the wrong type', 'BAD_USER_INPUT', { query: WATCH, variables: { c: 'x', t: 5 } }, own],
    ['a document too deep', 'OPERATION_TOO_LARGE', { query: deep }, own],
    [
      'a document with too many aliases',
      'OPERATION_TOO_LARGE',
      { query: `subscription { ${field} { ${aliases} } }` },
      own,
    ],
    ['no scope for payments', 'FORBIDDEN', watching(), others],
    ['a channel of somebody else', 'FORBIDDEN', watching(randomUUID(), 'payout', THEIRS), others],
    [
      'an id of an operation that nobody has registered',
      'PERSISTED_QUERY_NOT_FOUND',
      { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } },
      own,
    ],
    ['no document', 'BAD_REQUEST', { variables: {} }, own],
    ['a document that is no text', 'BAD_REQUEST', { query: 5 }, own],
    ['a name that is no text', 'BAD_REQUEST', { ...watching(), operationName: 5 }, own],
    ['variables that are no object', 'BAD_REQUEST', { query: WATCH, variables: 'x' }, own],
  ];

  test.each(REFUSED)(
    '%s: the code is %s, and the message the one of POST /graphql',
    async (_what, code, asked, headers) => {
      const { errors = [], data } = await refusal(asked, headers);
      expect(data).toBeUndefined();
      for (const { extensions } of errors)
        expect(extensions).toEqual({
          code,
          retryable: code === 'PERSISTED_QUERY_NOT_FOUND',
          requestId: expect.any(String),
        });
      expect(errors.length).toBeGreaterThan(0);
      const answer = await post(rig.client.url, JSON.stringify(asked), headers);
      expect(codesOf(answer)).toEqual(errors.map(() => code));
      if (SAME_WORDS.has(code))
        expect(errors.map(({ message }) => message)).toEqual(answer.errors?.map(({ message }) => message));
    },
  );
});

test("an error in a stream names the request by the id of the answer's header, as everywhere", async () => {
  for (const asked of [
    { query: 'subscription {' },
    { query: WATCH },
    watching(randomUUID(), 'payout', THEIRS),
  ]) {
    const { errors = [], requestId } = await refusal(asked, bearer(KEY));
    expect(errors.map(({ extensions }) => extensions['requestId'])).toEqual(errors.map(() => requestId));
  }
});

/** What protocols and libraries say in words of their own may differ. */
const SAME_WORDS: ReadonlySet<string> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
  'FORBIDDEN',
  'OPERATION_TOO_LARGE',
]);

test('a payment that the service does not have: NOT_FOUND, then the completion', async () => {
  const alone = await liveRig();
  alone.service.absent = true;
  const stream = await EventStream.open(`${alone.client.url}/stream`, watching());
  expect(await stream.rest()).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'NOT_FOUND', retryable: false } }] } },
    { event: 'complete' },
  ]);
});

test('who has asked too much in its minute hears RATE_LIMITED, and when to ask again', async () => {
  const { client } = await liveRig({ env: { RATE_LIMIT_PER_MINUTE: '1' } });
  const first = await EventStream.open(`${client.url}/stream`, watching());
  expect(await first.nextData()).toEqual({ status: 'PENDING' });
  const second = await EventStream.open(`${client.url}/stream`, watching());
  expect(await second.rest()).toMatchObject([
    {
      event: 'next',
      data: {
        errors: [
          {
            extensions: {
              code: 'RATE_LIMITED',
              retryable: true,
              retryAfterMs: expect.any(Number) as unknown,
            },
          },
        ],
      },
    },
    { event: 'complete' },
  ]);
  first.leave();
});

test.each(['@include(if: $w)', '@include(if: false)', '@skip(if: true)'])(
  'a subscription that selects nothing (%s) is the mistake of who asks, and no fault of the gateway',
  async (directive) => {
    const field = `paymentUpdated(channel: "${OURS}", transactionId: "${OURS}") ${directive} { __typename }`;
    const query = directive.includes('$')
      ? `subscription ($w: Boolean!) { ${field} }`
      : `subscription { ${field} }`;
    const { errors } = await refusal({ query, variables: { w: false } });
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions['code']).toMatch(
      /^(BAD_REQUEST|BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/,
    );
  },
);

describe('Only subscriptions are carried out', () => {
  const create = () => ({
    query: 'mutation M($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
    variables: { input: createInput('payment', randomUUID()) },
  });
  const look = () => ({
    ...watching(),
    query: WATCH.replace('subscription', 'query').replace('paymentUpdated', 'payment'),
  });

  test.each([
    ['GET', 'mutation', create],
    ['POST', 'mutation', create],
    ['GET', 'query', look],
    ['POST', 'query', look],
  ] as const)('a %s with a %s is refused, and nothing is sent', async (method, _kind, asked) => {
    rig.service.seen.length = 0;
    const stream = await EventStream.open(url, asked(), { method });
    expect(await stream.rest()).toMatchObject([
      { event: 'next', data: { errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }] } },
      { event: 'complete' },
    ]);
    expect(rig.service.seen).toEqual([]);
  });

  test('a mutation beside a subscription is not carried out either, whichever is chosen', async () => {
    rig.service.seen.length = 0;
    const { query: mutation, variables } = create();
    const both = { query: `${WATCH} ${mutation}`, variables: { ...watching().variables, ...variables } };
    const chosen = await EventStream.open(url, { ...both, operationName: 'M' });
    expect(await chosen.rest()).toMatchObject([
      { data: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] } },
      { event: 'complete' },
    ]);
    const other = await EventStream.open(url, { ...both, operationName: 'Watch' });
    expect(await other.nextData()).toEqual({ status: 'PENDING' });
    other.leave();
    expect(rig.service.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('a subscription that is sent to /graphql by POST is told where it belongs', async () => {
    const { errors } = await rig.client.ask(WATCH, watching().variables);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('/graphql/stream') as unknown, extensions: { code: 'BAD_REQUEST' } },
    ]);
  });
});

test('no log line and no error holds what was sent: neither a card number nor a key', async () => {
  const number = '4111111111111111';
  for (const asked of [
    {
      query: `subscription { paymentUpdated(channel: "${number}", transactionId: "${number}") { __typename } }`,
    },
    { query: WATCH, variables: { c: number, t: number } },
    { query: WATCH, operationName: number },
    { query: `subscription { a${number} }` },
  ]) {
    const { requestId: _, ...result } = await refusal(asked, bearer(KEY));
    expect(JSON.stringify(result)).not.toContain(number);
  }
  const logged = rig.logLines.join('');
  expect(logged).toContain('"operation":"subscription"');
  for (const secret of [number, KEY, 'CANARY']) expect(logged).not.toContain(secret);
});
