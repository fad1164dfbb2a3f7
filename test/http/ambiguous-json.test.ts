import { randomUUID } from 'node:crypto';
import { AUTHORIZED } from '../support/credentials';
import { expectErrors, raw, type RawResult } from '../gateway/fixtures/raw';
import { CHANNEL } from '../support/gateway';
import { exchange } from '../access/support/raw-socket';
import { WireClient } from '../live/support/wire-client';
import { startServer, type Server } from './support/servers';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) {
  __typename ... on PaymentSuccess { payment { ... on PaymentResource { externalId } } } } }`;
const LOOKUP = 'query ($c: UUID!, $e: String!) { payment(channel: $c, externalId: $e) { __typename } }';

/** The JSON text of a create with that text as its external id, and those amounts in place of one. */
const createText = (externalId = 'order-1', value = '"value": "5.00"'): string =>
  `{"query": ${JSON.stringify(CREATE)}, "variables": {"input": {
    "idempotencyKey": "${randomUUID()}", "externalId": "${externalId}", "channel": "${CHANNEL}",
    "amount": {"currency": "EUR", ${value}}, "method": {"redirect": "CARD"}}}}`;

const send = (
  body: string | Buffer,
  contentType = 'application/json',
  path = '/graphql',
): Promise<RawResult> =>
  raw(server.base + path, { method: 'POST', body, headers: { 'content-type': contentType } });

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

beforeEach(() => {
  server.service.seen.length = 0;
});

function expectRefused(result: RawResult, status = 400): void {
  expect(result.status).toBe(status);
  expectErrors(result, 'BAD_REQUEST');
  expect(server.service.seen).toHaveLength(0);
}

/** Both ways to answer: by Apollo, and from the second answer on as a prepared operation. */
async function prepare(): Promise<void> {
  for (let times = 0; times < 3; times += 1) await send(createText());
  server.service.seen.length = 0;
}

describe.each([
  ['of an operation that is new', (): Promise<void> => Promise.resolve()],
  ['of an operation that is prepared', prepare],
])('A body %s', (_which, before) => {
  beforeEach(before);

  test.each([
    ['Latin-1', latin1(createText('Müller'))],
    ['a cut character', Buffer.concat([utf8(createText()), Buffer.from([0xc3])])],
    ['an overlong form', latin1(createText('\u00c0\u00af'))],
    ['an encoded surrogate', latin1(createText('\u00ed\u00a0\u0080'))],
    ['UTF-16', Buffer.from(createText(), 'utf16le')],
  ])('is refused when it is not UTF-8: %s', async (_how, body) => expectRefused(await send(body)));

  test.each([
    ['at its top', `{"query": "{ a }", ${createText().slice(1)}`],
    ['in a variable', createText('order-1', '"value": "5.00", "value": "9.00"')],
    ['with the same value', createText('order-1', '"value": "5.00", "value": "5.00"')],
    ['once as an escape', createText('order-1', '"value": "5.00", "\\u0076alue": "9.00"')],
    ['as the whole input', createText().replace('{"input"', '{"input": {}, "input"')],
    ['in its extensions', createText().replace('{', '{"extensions": {"a": [{"b": 1, "b": 2}]}, ')],
    ['as an empty name', createText().replace('{', '{"extensions": {"": 1, "": 2}, ')],
  ])('is refused when an object has a name twice: %s', async (_where, body) =>
    expectRefused(await send(body)),
  );

  test.each(['iso-8859-1', 'utf-16', '"latin1"', 'utf-7', 'us-ascii', 'utf-8; charset=latin1', ''])(
    'is refused with the charset %s',
    async (charset) => expectRefused(await send(createText(), `application/json; charset=${charset}`), 415),
  );

  test.each([
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
  ])('is taken with the type %s', async (type) =>
    expect((await send(createText(), type)).errors).toBeUndefined(),
  );

  test.each([
    ['characters of many bytes', utf8(createText('Müller-日本-🙂'))],
    ['a byte order mark, which is not a part of it', utf8(`\ufeff${createText()}`)],
    [
      'the same name in different objects',
      createText().replace('{', '{"extensions": {"query": {"query": 1}}, '),
    ],
    ['names and colons inside of texts', createText('a\\":\\"a\\":', '"value": "5.00"')],
    ['a name of every object', createText().replace('{', '{"extensions": {"toString": 1, "valueOf": 2}, ')],
  ])('is taken with %s', async (_what, body) => {
    const { errors, status } = await send(body);
    expect({ errors, status }).toEqual({ errors: undefined, status: 200 });
  });
});

test('A body of server-sent events is read in the same way', async () => {
  const ask = (body: string | Buffer): Promise<RawResult> =>
    send(body, 'application/json', '/graphql/stream');
  const query = `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${randomUUID()}") { __typename } }`;
  const text = JSON.stringify({ query });
  expectRefused(await ask(latin1(text.replace('{', '{"x": "ü", '))));
  expectRefused(await ask(text.replace('{', '{"query": "", ')));
});

describe('A GET', () => {
  const get = (parameters: string, path = '/graphql'): Promise<RawResult> =>
    raw(`${server.base}${path}?${parameters}`, { headers: { 'apollo-require-preflight': '1' } });
  const query = `query=${encodeURIComponent(LOOKUP)}`;
  const variables = (e: string): string =>
    `variables=${encodeURIComponent(`{"c": "${CHANNEL}", "e": "${e}"}`)}`;

  test.each(['/graphql', '/graphql/stream'])('of %s is refused where it has two meanings', async (path) => {
    const good = `${query}&${variables('order-1')}`;
    const bad = [
      `${query}&${variables('M%ZZ').replaceAll('%25ZZ', '%FC')}`,
      `${good}&query=${encodeURIComponent('{ __typename }')}`,
      `${good}&%76ariables=%7B%7D`,
      `${good}&more=1&more=2`,
      `${query}&variables=${encodeURIComponent(`{"c": "${CHANNEL}", "e": "a", "e": "b"}`)}`,
      `${good}&extensions=${encodeURIComponent('{"a": {"b": 1, "\\u0062": 2}}')}`,
      `${good}&extensions=%ED%A0%80`,
      `${good}&extensions=%7B`,
    ];
    for (const parameters of bad) expectRefused(await get(parameters, path));
  });

  test('is refused with bytes that should have been percent-encoded', async () => {
    const lines = [
      `GET /graphql?${query}&variables={"c":"${CHANNEL}","e":"M\u00fcller"} HTTP/1.1`.replaceAll('"', '%22'),
      `Host: ${new URL(server.base).host}`,
      `Authorization: ${AUTHORIZED.authorization}`,
      'apollo-require-preflight: 1',
      'Connection: close',
    ];
    expect((await exchange(server.base, lines)).status).toBe(400);
    expect(server.service.seen).toHaveLength(0);
  });

  test('is taken where it has one', async () => {
    expect(await get(`${query}&${variables('Müller %2B +')}`)).toMatchObject({
      status: 200,
      data: { payment: null },
    });
    expect(server.service.seen.map(({ query: asked }) => asked.get('external_id'))).toEqual(['Müller %2B +']);
  });
});

describe('A message of a WebSocket', () => {
  const connect = (): Promise<WireClient> => WireClient.open(server.client.url);
  const init = JSON.stringify({ type: 'connection_init', payload: AUTHORIZED });

  test('is refused when it is not UTF-8', async () => {
    for (const binary of [false, true]) {
      const client = await connect();
      client.socket.send(latin1(init.replace('{', '{"x": "ü", ')), { binary });
      expect([1007, 4400]).toContain((await client.closed).code);
      expect(client.heard).toEqual([]);
    }
  });

  test('is refused when an object has a name twice', async () => {
    const twice = [
      init.replace('{', '{"type": "ping", '),
      init.replace('"authorization"', '"authorization": "Bearer x", "authorization"'),
      init.replace('"authorization"', '"authorization": "Bearer x", "\\u0061uthorization"'),
    ];
    for (const message of twice) {
      const client = await connect();
      client.say(message);
      expect((await client.closed).code).toBe(4400);
      expect(client.heard).toEqual([]);
    }
  });

  test('is refused when a subscription has a variable twice', async () => {
    const client = await WireClient.ready(server.client.url, AUTHORIZED);
    client.say(
      '{"type": "subscribe", "id": "a", "payload": {"query": "{ a }", "variables": {"t": 1, "t": 2}}}',
    );
    expect((await client.closed).code).toBe(4400);
  });

  test('is refused when it names its credentials twice, in capital and small letters', async () => {
    const client = await connect();
    client.say({ type: 'connection_init', payload: { Authorization: 'Bearer x', ...AUTHORIZED } });
    expect((await client.closed).code).toBe(4401);
  });
});

describe('A document', () => {
  const invalid = [
    `{ payment(channel: "${CHANNEL}", externalId: "a", externalId: "b") { __typename } }`,
    `mutation { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", method: { redirect: CARD },
      amount: { currency: "EUR", value: "5.00", value: "9.00" } }) { __typename } }`,
    `mutation { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", amount: { currency: "EUR", value: "5.00" },
      method: { other: { fields: { a: 1, a: 2 } } } }) { __typename } }`,
    `query ($a: ID!, $a: ID!) { node(id: $a) { id } }`,
  ];

  test('that gives an argument, a field of an input or a variable twice is refused', async () => {
    for (const query of invalid) {
      const result = await send(JSON.stringify({ query, variables: { a: 'x' } }));
      expectErrors(result, 'GRAPHQL_VALIDATION_FAILED');
    }
    expect(server.service.seen).toHaveLength(0);
  });

  test('of a subscription too', async () => {
    const client = await WireClient.ready(server.client.url, AUTHORIZED);
    const t = randomUUID();
    client.subscribe('a', {
      query: `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${t}", transactionId: "${t}") { __typename } }`,
    });
    expect(await client.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
  });
});

describe('Half of a surrogate pair', () => {
  const half = '\ud800';

  test('is refused in what is looked up', async () => {
    const asked = [
      { query: LOOKUP, variables: { c: CHANNEL, e: `a${half}` } },
      {
        query: 'query ($k: ID!) { attempt(idempotencyKey: $k) { operation } }',
        variables: { k: `a${half}` },
      },
      { query: 'query ($i: ID!) { node(id: $i) { id } }', variables: { i: half } },
      {
        query: 'query ($c: UUID!, $a: String) { attempts(channel: $c, after: $a) { edges { cursor } } }',
        variables: { c: CHANNEL, a: half },
      },
    ];
    for (const { query, variables } of asked) {
      const { errors } = await server.client.ask(query, variables);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(server.service.seen).toHaveLength(0);
  });
});
