import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { CLIENT_KEY } from '../support/credentials';
import { DOCUMENTS, TRANSACTION_ID, redirectCall, unused } from '../gateway/fixtures/calls';
import { codesOf } from './support/answers';
import { exchange } from './support/raw-socket';
import { OURS, THEIRS, accessRig, bearer, clear, clientOf, keyOf, type Rig } from './support/rig';

const PREFLIGHT = { 'apollo-require-preflight': 'true' };
const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';
const lookupOn = (channel: string): string =>
  `{ payment(channel: "${channel}", transactionId: "${TRANSACTION_ID}") { __typename } }`;
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

let rig: Rig;
let url: string;

beforeAll(async () => {
  rig = await accessRig({
    clients: [
      clientOf('reader', { scopes: ['payments:read'], channels: [OURS] }),
      clientOf('creator', { scopes: ['payments:create'], channels: [OURS] }),
      clientOf('nothing', { scopes: [], channels: [] }),
    ],
  });
  url = rig.client.gateway.url;
});

beforeEach(() => clear(rig));

const READER = bearer(keyOf('reader'));
const CREATOR = bearer(keyOf('creator'));

interface Sent {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Exactly that, over HTTP. */
async function send({ method = 'POST', path = '/graphql', headers = {}, body }: Sent) {
  const all = { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers };
  const response = await fetch(url + path, {
    method,
    headers: all,
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const parsed = (isJson && text !== '' ? JSON.parse(text) : {}) as {
    data?: Record<string, unknown> | null;
    errors?: { extensions: Record<string, unknown> }[];
  };
  return { status: response.status, headers: response.headers, text, ...parsed };
}

const post = (body: string, headers: Record<string, string> = READER) => send({ headers, body });
const get = (search: string, headers: Record<string, string> = READER) =>
  send({ method: 'GET', path: `/graphql?${search}`, headers: { ...PREFLIGHT, ...headers } });

/** No value came back, and the service heard nothing. */
function expectNothing({ data }: { data?: Record<string, unknown> | null }): void {
  for (const value of Object.values(data ?? {})) expect([value].flat().filter(Boolean)).toEqual([]);
  expect(rig.service.seen).toHaveLength(0);
}

const channelsAsked = (): string[] =>
  rig.service.seen.map(
    ({ query, json }) => new URLSearchParams(query).get('channel') ?? String(json['channel']),
  );

describe("However another merchant's channel is written, it is refused", () => {
  const WAYS: [string, string, object?][] = [
    ['as a literal', lookupOn(THEIRS)],
    ['in capitals', lookupOn(THEIRS.toUpperCase())],
    ['as a block string', `{ payment(channel: """${THEIRS}""", transactionId: "${THEIRS}") { __typename } }`],
    ['with an escape', lookupOn(THEIRS.replace('b', '\\u0062'))],
    ['with an escape in braces', lookupOn(THEIRS.replace('b', '\\u{62}'))],
    ['as a variable', LOOKUP, { c: THEIRS, t: TRANSACTION_ID }],
    [
      'as the default of a variable',
      `query Q($c: UUID! = "${THEIRS}") { payment(channel: $c, transactionId: "${THEIRS}") { __typename } }`,
    ],
    [
      'as the default of a variable that is given as nothing',
      `query Q($c: UUID! = "${THEIRS}", $x: UUID) { payment(channel: $c, transactionId: $x) { __typename } }`,
      { x: TRANSACTION_ID, y: OURS },
    ],
    ['under an alias', `{ mine: payment(channel: "${THEIRS}", transactionId: "${THEIRS}") { __typename } }`],
    [
      'in a fragment',
      `{ ...F } fragment F on Query { payment(channel: "${THEIRS}", transactionId: "${THEIRS}") { __typename } }`,
    ],
    [
      'in an inline fragment',
      `{ ... { ... on Query @include(if: true) { payment(channel: "${THEIRS}", transactionId: "${THEIRS}") { __typename } } } }`,
    ],
    ['in the second of two operations', `query A { __typename } query Q ${lookupOn(THEIRS)}`],
    [
      'with another argument first',
      `{ payment(transactionId: "${OURS}", channel: "${THEIRS}") { __typename } }`,
    ],
    ['by an external id', `{ payment(channel: "${THEIRS}", externalId: "${OURS}") { __typename } }`],
    ['in a batch', `{ payments(channel: "${THEIRS}", transactionIds: ["${OURS}"]) { __typename } }`],
    ['in an empty batch', `{ payments(channel: "${THEIRS}", transactionIds: []) { __typename } }`],
    [
      'in a list of attempts',
      `{ attempts(channel: "${THEIRS}", first: 100) { edges { node { externalId } } } }`,
    ],
  ];

  test.each(WAYS)('%s', async (_how, query, variables = {}) => {
    const operationName = query.includes('query Q') ? 'Q' : undefined;
    const answer = await post(JSON.stringify({ query, variables, operationName }));
    expect(answer.errors?.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
    expectNothing(answer);
  });

  const MUTATIONS: [string, string, (input: object) => object][] = [
    [
      'in the input',
      'mutation Q($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
      (input) => ({ input }),
    ],
    [
      'in a field of the input',
      'mutation Q($c: UUID!, $k: ID!) { createPayment(input: { channel: $c, idempotencyKey: $k, amount: { currency: "EUR", value: "1.00" }, method: { redirect: CARD } }) { __typename } }',
      () => ({ c: THEIRS, k: unused().idempotencyKey }),
    ],
    [
      'in the default of the input',
      `mutation Q($input: CreatePaymentInput! = { channel: "${THEIRS}", idempotencyKey: "k", amount: { currency: "EUR", value: "1.00" }, method: { redirect: CARD } }) { createPayment(input: $input) { __typename } }`,
      () => ({}),
    ],
    [
      'in a fragment',
      'mutation Q($input: CreatePaymentInput!) { ...F } fragment F on Mutation { x: createPayment(input: $input) { __typename } }',
      (input) => ({ input }),
    ],
  ];

  test.each(MUTATIONS)('of a payment to create: %s', async (_how, query, variables) => {
    const input = { ...redirectCall('CARD').input, channel: THEIRS };
    const answer = await post(
      JSON.stringify({ query, variables: variables(input), operationName: 'Q' }),
      CREATOR,
    );
    expect(answer.errors?.map(({ extensions }) => extensions['code'])).toEqual(['FORBIDDEN']);
    expectNothing(answer);
  });

  test('with something around it, it is no channel at all', async () => {
    for (const written of [
      ` ${THEIRS}`,
      `${THEIRS} `,
      `{${THEIRS}}`,
      `urn:uuid:${THEIRS}`,
      THEIRS.replaceAll('-', ''),
      `${THEIRS}\u0000`,
      `${OURS},${THEIRS}`,
    ]) {
      const answer = await post(
        JSON.stringify({ query: LOOKUP, variables: { c: written, t: TRANSACTION_ID } }),
      );
      expect(answer.errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
      expectNothing(answer);
    }
  });

  test('in a list, an object or a number, it is no channel at all', async () => {
    for (const c of [[THEIRS], [OURS, THEIRS], { channel: THEIRS }, 7, true, null]) {
      const answer = await post(JSON.stringify({ query: LOOKUP, variables: { c, t: TRANSACTION_ID } }));
      expect(answer.errors?.[0]?.extensions['code']).toBe('BAD_USER_INPUT');
      expectNothing(answer);
    }
  });

  test('while its owner asks for the same thing at the same moment', async () => {
    const variables = { c: THEIRS, t: TRANSACTION_ID };
    const [owner, other] = await Promise.all([
      rig.client.ask(LOOKUP, variables),
      rig.client.ask(LOOKUP, variables, READER),
    ]);
    expect(owner.errors).toBeUndefined();
    expect(codesOf(other)).toEqual(['FORBIDDEN']);
  });
});

describe('JSON that can be read in two ways', () => {
  const query = JSON.stringify(LOOKUP);
  const t = `"t": "${TRANSACTION_ID}"`;

  test.each([
    [
      'variables twice',
      `{"query": ${query}, "variables": {"c": "${OURS}", ${t}}, "variables": {"c": "${THEIRS}", ${t}}}`,
    ],
    ['the channel twice', `{"query": ${query}, "variables": {"c": "${OURS}", "c": "${THEIRS}", ${t}}}`],
    [
      'the query twice',
      `{"query": ${query}, "variables": {"c": "${OURS}", ${t}}, "query": ${JSON.stringify(lookupOn(THEIRS))}}`,
    ],
    [
      'a name with an escape',
      `{"query": ${query}, "variables": {"c": "${OURS}", "\\u0063": "${THEIRS}", ${t}}}`,
    ],
  ])('%s: it is refused', async (_what, body) => {
    const answer = await post(body);
    expect(answer.errors?.[0]?.extensions['code']).toBe('BAD_REQUEST');
    expectNothing(answer);
  });

  test.each([
    [
      '__proto__ in the variables',
      `{"query": ${query}, "variables": {"__proto__": {"c": "${OURS}"}, "c": "${THEIRS}", ${t}}}`,
    ],
    [
      '__proto__ in the body',
      `{"query": ${query}, "__proto__": {"variables": {}}, "variables": {"c": "${THEIRS}", ${t}}}`,
    ],
    [
      'constructor in the variables',
      `{"query": ${query}, "variables": {"constructor": {"prototype": {"channels": "*"}}, "c": "${THEIRS}", ${t}}}`,
    ],
    [
      '__proto__ with an escape',
      `{"query": ${query}, "variables": {"\\u005f_proto__": {"c": "${OURS}"}, "c": "${THEIRS}", ${t}}}`,
    ],
    [
      'the caller in the body',
      `{"query": ${query}, "caller": {"channels": "*"}, "contextValue": {}, "variables": {"c": "${THEIRS}", ${t}}}`,
    ],
    [
      'the caller in the extensions',
      `{"query": ${query}, "extensions": {"caller": {"channels": "*"}}, "variables": {"c": "${THEIRS}", ${t}}}`,
    ],
  ])('%s gets nobody further', async (_what, body) => {
    const answer = await post(body);
    expect(['FORBIDDEN', 'BAD_REQUEST']).toContain(answer.errors?.[0]?.extensions['code']);
    expectNothing(answer);
    expect(Object.keys({ ...(Object.prototype as object) })).toEqual([]);
    expect((await post(JSON.stringify({ query: lookupOn(OURS) }))).data).toMatchObject({ payment: {} });
  });

  test.each([
    ['__proto__', '"__proto__": {"channel": "'],
    ['constructor', '"constructor": {"channel": "'],
  ])('%s in the input of a mutation gets nobody further', async (_what, start) => {
    const { input } = redirectCall('CARD');
    const text = JSON.stringify({ ...input, channel: THEIRS }).replace(/\}$/, `, ${start}${OURS}"}}`);
    const answer = await post(
      `{"query": ${JSON.stringify(DOCUMENTS.createPayment)}, "variables": {"input": ${text}}}`,
      CREATOR,
    );
    expect(['FORBIDDEN', 'BAD_REQUEST', 'BAD_USER_INPUT']).toContain(answer.errors?.[0]?.extensions['code']);
    expectNothing(answer);
  });

  test('several operations in one body are refused', async () => {
    const answer = await post(JSON.stringify([{ query: lookupOn(OURS) }, { query: lookupOn(THEIRS) }]));
    expect(answer.status).toBe(400);
    expectNothing(answer);
  });
});

describe('Persisted queries', () => {
  const asHash = (query: string, more: object = {}): object => ({
    extensions: { persistedQuery: { version: 1, sha256Hash: hashOf(query) } },
    ...more,
  });

  test('that another client has registered are carried out with the rights of who asks', async () => {
    const query = lookupOn(THEIRS);
    const everything = bearer(CLIENT_KEY);
    expect((await post(JSON.stringify(asHash(query, { query })), everything)).data).toMatchObject({
      payment: {},
    });
    clear(rig);
    const answer = await post(JSON.stringify(asHash(query)));
    expect(answer.errors?.[0]?.extensions['code']).toBe('FORBIDDEN');
    expectNothing(answer);
    const anonymous = await post(JSON.stringify(asHash(query)), {});
    expect(anonymous.status).toBe(401);
    expectNothing(anonymous);
  });

  test('are registered by nobody who has no key', async () => {
    const query = `${lookupOn(OURS)} # registered by nobody`;
    for (const headers of [{}, bearer('pgk_wrong')]) {
      expect((await post(JSON.stringify(asHash(query, { query })), headers)).status).toBe(401);
    }
    const answer = await post(JSON.stringify(asHash(query)));
    expect(answer.errors?.[0]?.extensions['code']).toBe('PERSISTED_QUERY_NOT_FOUND');
    expectNothing(answer);
  });

  test('under the hash of another document are refused', async () => {
    const answer = await post(
      JSON.stringify({ ...asHash(lookupOn(OURS)), query: lookupOn(THEIRS) }),
      bearer(CLIENT_KEY),
    );
    expect(answer.errors?.[0]?.extensions['code']).toBe('BAD_REQUEST');
    expectNothing(answer);
  });
});

describe('A GET', () => {
  const search = (query: string): string => `query=${encodeURIComponent(query)}`;

  test('has the rights of its caller, no others', async () => {
    expect((await get(search(lookupOn(OURS)))).data).toMatchObject({ payment: {} });
    clear(rig);
    const foreign = await get(search(lookupOn(THEIRS)));
    expect(foreign.errors?.[0]?.extensions['code']).toBe('FORBIDDEN');
    expectNothing(foreign);
    const anonymous = await get(search(lookupOn(OURS)), {});
    expect(anonymous.status).toBe(401);
    expectNothing(anonymous);
  });

  test.each([
    ['the query twice', `${search(lookupOn(OURS))}&${search(lookupOn(THEIRS))}`],
    [
      'the query twice, once with an escape in its name',
      `${search(lookupOn(OURS))}&qu%65ry=${encodeURIComponent(lookupOn(THEIRS))}`,
    ],
    [
      'variables twice',
      `${search(LOOKUP)}&variables=%7B%22c%22:%22${OURS}%22%7D&variables=%7B%22c%22:%22${THEIRS}%22,%22t%22:%22${OURS}%22%7D`,
    ],
    ['the query as a list', `query[]=${encodeURIComponent(lookupOn(THEIRS))}`],
  ])('with %s gets nobody further', async (_what, text) => {
    const answer = await get(text);
    expect(answer.errors).toHaveLength(1);
    expectNothing(answer);
  });

  test('moves no money', async () => {
    const query = `mutation { createPayment(input: { channel: "${OURS}", idempotencyKey: "k", amount: { currency: "EUR", value: "1.00" }, method: { redirect: CARD } }) { __typename } }`;
    const answer = await get(search(query), CREATOR);
    expect(answer.status).toBe(405);
    expectNothing(answer);
  });

  /** More than a document may ask for at once. */
  const bomb = `{ ${Array.from({ length: 120 }, (_, place) => `a${place}: __typename`).join(' ')} }`;

  /** Ways to write a document that one reader of addresses understands and another does not. */
  test.each([
    ['as it is meant', search(bomb)],
    ['with a broken escape behind it', `${search(`${bomb} #`)}%FF`],
    ['with half an escape behind it', `${search(`${bomb} #`)}%`],
    ['with a fragment of the address behind it', `${search(bomb)}#%0A"`],
    ['with plus signs for blanks', `query=${bomb.replaceAll(' ', '+')}`],
    ['behind another question mark', `?${search(bomb)}`],
    ['behind a semicolon', `x=1;${search(bomb)}`],
  ])('that asks too much is refused: %s', async (_how, text) => {
    const { status, body } = await exchange(url, [
      `GET /graphql?${text} HTTP/1.1`,
      'Host: gateway.example',
      'apollo-require-preflight: true',
      `Authorization: ${READER.authorization}`,
    ]);
    expect(status).toBe(400);
    expect(body).not.toContain('"data":{"a0"');
  });
});

describe('Whatever is not a POST or GET to /graphql carries nothing out', () => {
  const body = JSON.stringify({ query: lookupOn(OURS) });
  const search = `?query=${encodeURIComponent(lookupOn(OURS))}`;

  test.each([
    'HEAD',
    'OPTIONS',
    'PUT',
    'PATCH',
    'DELETE',
    'QUERY',
    'PROPFIND',
    'SEARCH',
    'LOCK',
    'REPORT',
    'TRACE',
  ])('%s, with a key and without', async (method) => {
    for (const credentials of [[], [`Authorization: ${READER.authorization}`]]) {
      const hasBody = !['HEAD', 'OPTIONS', 'TRACE'].includes(method);
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      const lines = [
        `${method} /graphql${search} HTTP/1.1`,
        'Host: gateway.example',
        'apollo-require-preflight: true',
        'Connection: close',
        ...credentials,
        ...(hasBody ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : []),
      ];
      socket.write(`${lines.join('\r\n')}\r\n\r\n${hasBody ? body : ''}`);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      socket.on('error', () => undefined);
      await new Promise((resolve) => socket.on('close', resolve));
      expect(text).toMatch(/^HTTP\/1.1 (400|401|404|405) /);
      expect(text).not.toContain('"data":');
      expect(rig.service.seen).toHaveLength(0);
    }
  });

  const PATHS = [
    '//graphql',
    '/graphql/',
    '/graphql//',
    '/./graphql',
    '/x/../graphql',
    '/graphql/.',
    '/%67raphql',
    '/graphql%2f',
    '/%2fgraphql',
    '/graphql%00',
    '/graphql;x=1',
    '/graphql#x',
    '/graphql/healthz',
    '/healthz/../graphql',
    '/healthz',
    '/readyz',
    '/GRAPHQL',
    '/GraphQL',
    '\\graphql',
    '/graphql\\',
    'http://gateway.example/graphql',
    'http://127.0.0.1/graphql',
    'https://gateway.example//graphql',
    'graphql',
    '*',
    '/',
    '/graphiql',
    '/playground',
    '/.well-known/apollo/server-health',
  ];

  test.each(PATHS)('without a key nothing is carried out at %s', async (target) => {
    for (const method of ['POST', 'GET']) {
      const lines = [
        `${method} ${target}${method === 'GET' ? search : ''} HTTP/1.1`,
        'Host: gateway.example',
        'apollo-require-preflight: true',
        'Content-Type: application/json',
        ...(method === 'POST' ? [`Content-Length: ${body.length}`] : []),
      ];
      const answer = await exchange(url, lines, method === 'POST' ? body : '');
      const isHealth = method === 'GET' && /^\/(healthz|readyz)$/.test(target);
      expect(isHealth ? [200] : [400, 401, 404, 405]).toContain(answer.status);
      expect(answer.body).not.toContain('"data":');
      expect(rig.service.seen).toHaveLength(0);
    }
  });

  test.each([
    ['X-HTTP-Method-Override', 'GET'],
    ['X-Original-URL', '/healthz'],
    ['X-Rewrite-URL', '/healthz'],
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-User', 'service:test'],
    ['X-Remote-User', 'service:test'],
    ['Forwarded', 'for=127.0.0.1'],
    ['Host', 'localhost'],
    ['Host', '127.0.0.1:4000'],
    ['Origin', 'null'],
    ['Accept', 'text/html'],
    ['Connection', 'Authorization'],
    ['Content-Type', 'application/graphql+json'],
  ])('without a key the header %s: %s is no way in', async (name, value) => {
    const lines = ['POST /graphql HTTP/1.1', `${name}: ${value}`, `Content-Length: ${body.length}`];
    if (name !== 'Host') lines.push('Host: gateway.example');
    if (name !== 'Content-Type') lines.push('Content-Type: application/json');
    const answer = await exchange(url, lines, body);
    expect(answer.status).toBe(401);
    expect(answer.body).not.toContain('"data":');
    expect(rig.service.seen).toHaveLength(0);
  });

  test.each([
    'text/plain',
    'application/graphql',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    '',
  ])(
    'with a key, a body of the type "%s" carries nothing out, even with a header that needs preflight',
    async (type) => {
      for (const text of [body, lookupOn(OURS), search.slice(1)]) {
        const answer = await send({
          headers: { ...READER, ...PREFLIGHT, 'content-type': type },
          body: text,
        });
        expect([400, 415]).toContain(answer.status);
        expectNothing(answer);
      }
    },
  );
});

describe('A client without any right', () => {
  const NOTHING = bearer(keyOf('nothing'));

  test('may know that there is a schema, where introspection is on, and nothing else', async () => {
    const query = '{ __typename __schema { queryType { name } } __type(name: "Payment") { name } }';
    expect((await post(JSON.stringify({ query }), NOTHING)).errors).toBeUndefined();
    for (const asked of [lookupOn(OURS), '{ attempt(idempotencyKey: "k") { channel } }']) {
      const answer = await post(JSON.stringify({ query: asked }), NOTHING);
      expect(answer.errors?.[0]?.extensions['code']).toBe('FORBIDDEN');
      expectNothing(answer);
    }
  });

  test('hears nothing of what is wrong with its input before it hears that it may not', async () => {
    const input = { ...redirectCall('CARD').input, channel: OURS, idempotencyKey: '', externalId: '' };
    const query = DOCUMENTS.createPayment;
    const answer = await post(JSON.stringify({ query, variables: { input } }), NOTHING);
    expect(answer.errors?.[0]?.extensions['code']).toBe('FORBIDDEN');
    expectNothing(answer);
  });
});

test('What was asked on an own channel is asked of the service on that channel and no other', async () => {
  const query = `query Q($c: UUID!, $t: UUID!) { a: payment(channel: $c, transactionId: $t) { __typename }
    b: payment(channel: "${OURS.toUpperCase()}", externalId: "channel=${THEIRS}&x=1") { __typename } }`;
  const { errors } = await rig.client.ask(query, { c: OURS, t: TRANSACTION_ID }, READER);
  expect(errors).toBeUndefined();
  expect(channelsAsked()).toEqual([OURS, OURS]);
});
