import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { serverAudits } from 'graphql-http';
import { exchange } from '../support/wire';
import { MUTATIONS, anyBody, anyDocument, brokenDocument, mutationCall } from '../adversarial/fuzz';
import {
  LOG_BREAKS,
  logLineProblem,
  graphqlProblems,
  httpProblems,
} from '../adversarial/assert-safe-response';
import { MALFORMED, type Malformed } from '../adversarial/malformed';
import { WireClient } from '../subscriptions/support/wire-client';
import { createInput } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { expectErrors, raw, type RawResult } from '../support/raw';
import { newKey } from '../support/harness';
import { Wire, postText, requestText } from '../support/wire';
import { heapInUse } from './support/resources';
import { startServer, type Server } from './support/servers';

const authorization = `Authorization: ${AUTHORIZED.authorization}`;
const PREFLIGHT = { 'apollo-require-preflight': '1' };
const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename ... on UserError { message } } }`;
const LOOKUP = 'query ($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }';

let server: Server;
let host: string;

beforeAll(async () => {
  server = await startServer({ TRUSTED_PROXIES: '127.0.0.0/8', RATE_LIMIT_PER_MINUTE: '0' });
  host = `Host: ${new URL(server.base).host}`;
});

beforeEach(() => {
  server.service.requests.length = 0;
  server.logLines.length = 0;
});

/** After every test the gateway still serves, and has logged no error. */
afterEach(async () => {
  expect(server.logLines.filter((line) => /"level":(50|60)/.test(line))).toEqual([]);
  expect((await server.client.request('{ __typename }')).status).toBe(200);
});

const send = (body: string | Buffer, type = 'application/json', path = '/graphql'): Promise<RawResult> =>
  raw(server.base + path, { method: 'POST', body, headers: { 'content-type': type } });

const get = (parameters: string, path = '/graphql'): Promise<RawResult> =>
  raw(`${server.base}${path}?${parameters}`, { headers: PREFLIGHT });

describe('The GraphQL endpoint', () => {
  const audits = serverAudits({
    url: () => server.client.url,
    fetchFn: (input: string, init: RequestInit = {}) =>
      fetch(input, {
        ...init,
        headers: { ...(init.headers as Record<string, string>), ...AUTHORIZED, ...PREFLIGHT },
      }),
  });

  test.each(audits.map(({ id, name, fn }) => [id, name, fn] as const))(
    'passes the audit %s: %s',
    async (_id, _name, audit) => {
      const result = await audit();
      expect(result.status === 'ok' ? result.status : `${result.status}: ${result.reason}`).toBe('ok');
    },
  );
});

describe('A malformed request', () => {
  /** Returns the responses, and whether the smuggled request reached the service. */
  async function sendMalformed({ write }: Pick<Malformed, 'write'>) {
    const externalId = `hidden-${randomUUID()}`;
    const query = `{ payment(channel: "${CHANNEL}", externalId: "${externalId}") { __typename } }`;
    const smuggled = postText(JSON.stringify({ query }), [host, authorization, 'Connection: close']);
    const wire = await Wire.open(server.base);
    const aim = { host: new URL(server.base).host, authorization, smuggled };
    const responses = await wire.write(write(aim)).end();
    const reached = server.service.requests.some(
      ({ parameters }) => parameters.get('external_id') === externalId,
    );
    return { responses, reached };
  }

  test.each(MALFORMED.map((one) => [one.name, one] as const))(
    'is parsed in one way or refused: %s',
    async (_name, malformed) => {
      const { responses, reached } = await sendMalformed(malformed);
      const [first, second, ...more] = responses;
      expect(malformed.statuses).toContain(first?.status ?? 0);
      expect(httpProblems(first ?? { status: 0, body: '' })).toEqual([]);
      if (malformed.followed) {
        // The bytes that follow are a separate request; the connection may have ended before it.
        if (second) expect(JSON.parse(second.body)).toEqual({ data: { payment: null } });
        expect(more).toEqual([]);
      } else {
        expect([reached, second]).toEqual([false, undefined]);
      }
    },
  );

  test('reaches the service when its mistake is corrected', async () => {
    const { responses, reached } = await sendMalformed({
      write: ({ smuggled }) => postText('{"query":"{ __typename }"}', [host, authorization]) + smuggled,
    });
    expect([responses.map(({ status }) => status), reached]).toEqual([[200, 200], true]);
  });

  test('gets a response without the name of the server', async () => {
    const large = requestText('GET / HTTP/1.1', ['Host: a', `X: ${'a'.repeat(50_000)}`]);
    for (const [text, status] of [['SSH-2.0-OpenSSH_9.2\r\n\r\n', 400] as const, [large, 431] as const]) {
      const wire = await Wire.open(server.base);
      expect((await wire.write(text).end()).map((response) => response.status)).toEqual([status]);
      expect(wire.received.length).toBeLessThan(600);
      expect(wire.received).not.toMatch(/\b(fastify|node|express|apollo|llhttp|HPE_|server:)/i);
    }
  });
});

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const utf8 = (text: string): Buffer => Buffer.from(text, 'utf8');

function expectRefused(result: RawResult, status = 400): void {
  expect(result.status).toBe(status);
  expectErrors(result, 'BAD_REQUEST');
  expect(server.service.requests).toHaveLength(0);
}

/** Returns the JSON text of a create with this external id and this `value` member of its amount. */
const createText = (externalId = 'order-1', value = '"value": "5.00"'): string =>
  `{"query": ${JSON.stringify(CREATE)}, "variables": {"input": {
    "idempotencyKey": "${randomUUID()}", "externalId": "${externalId}", "channel": "${CHANNEL}",
    "amount": {"currency": "EUR", ${value}}, "method": {"redirect": "CARD"}}}}`;

describe.each([
  ['a new operation', 0],
  ['a compiled operation', 3],
])('A body of %s', (_which, times) => {
  beforeAll(async () => {
    for (let count = 0; count < times; count += 1) await send(createText());
  });

  test.each([
    ['Latin-1', latin1(createText('Müller'))],
    ['a cut character', Buffer.concat([utf8(createText()), Buffer.from([0xc3])])],
    ['an overlong form', latin1(createText('\u00c0\u00af'))],
    ['an encoded surrogate', latin1(createText('\u00ed\u00a0\u0080'))],
    ['UTF-16', Buffer.from(createText(), 'utf16le')],
    ['a duplicate name at the top level', `{"query": "{ a }", ${createText().slice(1)}`],
    ['a duplicate name in a variable', createText('order-1', '"value": "5.00", "value": "9.00"')],
    ['a duplicate name as an escape', createText('order-1', '"value": "5.00", "\\u0076alue": "9.00"')],
    [
      'a duplicate name in its extensions',
      createText().replace('{', '{"extensions": {"a": [{"b": 1, "b": 2}]}, '),
    ],
  ])('is refused when it is ambiguous: %s', async (_how, body) => expectRefused(await send(body)));

  test.each(['iso-8859-1', 'utf-16', 'utf-8; charset=latin1', ''])(
    'is refused with the charset "%s"',
    async (charset) => expectRefused(await send(createText(), `application/json; charset=${charset}`), 415),
  );

  test('is accepted when it is unusual but unambiguous', async () => {
    const bodies = [
      utf8(createText('Müller-日本-🙂')),
      // A byte order mark is not a part of the body.
      utf8(`\ufeff${createText()}`),
      createText().replace('{', '{"extensions": {"query": {"query": 1}}, '),
      createText('a\\":\\"a\\":', '"value": "5.00"'),
      createText().replace('{', '{"extensions": {"toString": 1, "valueOf": 2}, '),
    ];
    const responses = await Promise.all(bodies.map((body) => send(body)));
    const types = ['charset=UTF-8', 'charset="utf-8"', 'charset=utf8'];
    for (const type of types) responses.push(await send(createText(), `application/json; ${type}`));
    expect(responses.map(({ status, errors }) => ({ status, errors }))).toEqual(
      responses.map(() => ({ status: 200, errors: undefined })),
    );
  });
});

describe('Ambiguity', () => {
  test('in a body for server-sent events is refused', async () => {
    const query = `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${randomUUID()}") { __typename } }`;
    const text = JSON.stringify({ query });
    for (const body of [latin1(text.replace('{', '{"x": "ü", ')), text.replace('{', '{"query": "", ')])
      expectRefused(await send(body, 'application/json', '/graphql/stream'));
  });

  const query = `query=${encodeURIComponent(LOOKUP)}`;
  const variables = (e: string): string =>
    `variables=${encodeURIComponent(`{"c": "${CHANNEL}", "e": "${e}"}`)}`;

  test.each(['/graphql', '/graphql/stream'])('in a GET of %s is refused', async (path) => {
    const good = `${query}&${variables('order-1')}`;
    const bad = [
      `${query}&${variables('M%ZZ').replaceAll('%25ZZ', '%FC')}`,
      `${good}&query=${encodeURIComponent('{ __typename }')}`,
      `${good}&%76ariables=%7B%7D`,
      `${query}&variables=${encodeURIComponent(`{"c": "${CHANNEL}", "e": "a", "e": "b"}`)}`,
      `${good}&extensions=${encodeURIComponent('{"a": {"b": 1, "\\u0062": 2}}')}`,
      `${good}&extensions=%ED%A0%80`,
      // Invalid UTF-8 in a comment of the document.
      `query=%23%ff%0A${encodeURIComponent('{ __typename }')}`,
    ];
    for (const parameters of bad) expectRefused(await get(parameters, path));
  });

  test('from bytes in the URL of a GET that are not percent-encoded is refused', async () => {
    const line = `GET /graphql?${query}&variables={"c":"${CHANNEL}","e":"M\u00fcller"} HTTP/1.1`;
    const lines = [line.replaceAll('"', '%22'), host, authorization, 'apollo-require-preflight: 1'];
    expect((await exchange(server.base, lines)).status).toBe(400);
    expect(server.service.requests).toHaveLength(0);
  });

  test('is not assumed in a GET with spaces and escapes, which is accepted', async () => {
    expect(await get(`${query}&${variables('Müller %2B +')}`)).toMatchObject({
      status: 200,
      data: { payment: null },
    });
    expect(server.service.requests.map(({ parameters }) => parameters.get('external_id'))).toEqual([
      'Müller %2B +',
    ]);
  });

  test('in the encoding of a GET does not bypass the document limits', async () => {
    const document = `{ ${Array.from({ length: 200 }, (_, place) => `a${place}: __typename`).join(' ')} }`;
    const escaped = encodeURIComponent(document);
    for (const query of [`query=${escaped}`, `query=${escaped.replaceAll('%20', '+')}`, `%71uery=${escaped}`])
      expectErrors(await get(query), 'OPERATION_TOO_LARGE');
    for (const target of [`/graphql?query=${escaped}#%0A"`, `/graphql??query=${escaped}`]) {
      const lines = [`GET ${target} HTTP/1.1`, host, authorization, 'apollo-require-preflight: 1'];
      const { status, body } = await exchange(server.base, lines);
      expect(status).toBe(400);
      expect(body).not.toContain('"data":{"a0"');
    }
  });

  describe('in a WebSocket message is refused:', () => {
    const connect = (): Promise<WireClient> => WireClient.open(server.client.url);
    const init = JSON.stringify({ type: 'connection_init', payload: AUTHORIZED });

    test.each([true, false])('text that is not UTF-8 (binary: %s)', async (binary) => {
      const client = await connect();
      client.socket.send(latin1(init.replace('{', '{"x": "ü", ')), { binary });
      expect([1007, 4400]).toContain((await client.closed).code);
      expect(client.messages).toEqual([]);
    });

    test.each([
      ['a duplicate name', init.replace('{', '{"type": "ping", '), 4400],
      [
        'duplicate credentials as an escape',
        init.replace('"authorization"', '"authorization": "x", "\\u0061uthorization"'),
        4400,
      ],
      [
        'credentials in capital and small letters',
        JSON.stringify({ type: 'connection_init', payload: { Authorization: 'Bearer x', ...AUTHORIZED } }),
        4401,
      ],
    ])('%s', async (_what, message, code) => {
      const client = await connect();
      client.say(message);
      expect((await client.closed).code).toBe(code);
      expect(client.messages).toEqual([]);
    });

    test('a duplicate variable of a subscription', async () => {
      const client = await WireClient.ready(server.client.url, AUTHORIZED);
      client.say(
        '{"type": "subscribe", "id": "a", "payload": {"query": "{ a }", "variables": {"t": 1, "t": 2}}}',
      );
      expect((await client.closed).code).toBe(4400);
    });
  });

  test('in a document (duplicate names) is refused', async () => {
    const invalid = [
      `{ payment(channel: "${CHANNEL}", externalId: "a", externalId: "b") { __typename } }`,
      `mutation { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", method: { redirect: CARD },
        amount: { currency: "EUR", value: "5.00", value: "9.00" } }) { __typename } }`,
      `mutation { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", amount: { currency: "EUR", value: "5.00" },
        method: { other: { fields: { a: 1, a: 2 } } } }) { __typename } }`,
      `query ($a: ID!, $a: ID!) { node(id: $a) { id } }`,
    ];
    for (const document of invalid) {
      const result = await send(JSON.stringify({ query: document, variables: { a: 'x' } }));
      expectErrors(result, 'GRAPHQL_VALIDATION_FAILED');
    }
    const client = await WireClient.ready(server.client.url, AUTHORIZED);
    const id = `transactionId: "${randomUUID()}"`;
    client.subscribe('a', {
      query: `subscription { paymentUpdated(channel: "${CHANNEL}", ${id}, ${id}) { __typename } }`,
    });
    expect(await client.next()).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
    expect(server.service.requests).toHaveLength(0);
  });

  test('by half of a surrogate pair in a lookup is refused', async () => {
    const half = '\ud800';
    const request: [string, object][] = [
      [LOOKUP, { c: CHANNEL, e: `a${half}` }],
      ['query ($k: ID!) { attempt(idempotencyKey: $k) { operation } }', { k: `a${half}` }],
    ];
    for (const [document, given] of request) {
      const { errors } = await server.client.request(document, given);
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    }
    expect(server.service.requests).toHaveLength(0);
  });
});

describe('One event is one log line', () => {
  const json = (body: object): string => JSON.stringify(body);
  const create = (over: object = {}): string =>
    json({ query: CREATE, variables: { input: createInput('payment', newKey(), { ...over }) } });
  const note = (text: string): object => ({
    amount: { currency: 'USD', value: '1.00' },
    method: { other: { fields: { note: text } } },
  });

  /** Places in a body for a caller's text, and the maximum number of audit lines that the request causes. */
  const BODIES: [string, audited: number, (text: string) => string][] = [
    ['operationName', 0, (text) => json({ query: '{ __typename }', operationName: text })],
    ['the document', 0, (text) => json({ query: `{ __typename } ${text}` })],
    ['a literal', 0, (text) => json({ query: `{ node(id: ${JSON.stringify(text)}) { id } }` })],
    ['a variable', 0, (text) => json({ query: LOOKUP, variables: { c: CHANNEL, e: text } })],
    ['the name of a variable', 0, (text) => json({ query: LOOKUP, variables: { c: CHANNEL, [text]: 1 } })],
    ['documentId', 0, (text) => json({ documentId: text })],
    ['the key of a create', 1, (text) => create({ idempotencyKey: text })],
    ['the external id of a create', 1, (text) => create({ externalId: text })],
    ['a custom field of a create', 1, (text) => create(note(text))],
  ];

  /** Sends a request, and returns the new lines of the log and the audit log. */
  async function written(text: string): Promise<{ log: string[]; audit: string[] }> {
    const before = server.auditText().length;
    server.logLines.length = 0;
    const wire = await Wire.open(server.base);
    await wire.write(text).end();
    const audit = server.auditText().slice(before);
    return { log: [...server.logLines], audit: audit === '' ? [] : audit.slice(0, -1).split('\n') };
  }

  /** Expects at most that many audit lines, and only whole lines, none of which the text forged. */
  function expectNotForged({ log, audit }: Awaited<ReturnType<typeof written>>, audited = 0): void {
    expect([...log, ...audit].flatMap((line) => logLineProblem(line) ?? [])).toEqual([]);
    expect(log.join('')).not.toContain('FORGED');
    expect(log.length).toBeLessThanOrEqual(2);
    expect(audit.length).toBeLessThanOrEqual(audited);
  }

  const PLAIN = 'Connection: close';

  test.each(BODIES)('despite line breaks and control characters in %s', async (_where, audited, body) => {
    for (const text of LOG_BREAKS) {
      expectNotForged(await written(postText(body(text), [host, authorization, PLAIN])), audited);
    }
  });

  test('despite line breaks and control characters in a URL', async () => {
    for (const text of LOG_BREAKS) {
      const path = encodeURIComponent(text.toWellFormed());
      const targets = [`/${path}`, `/graphql?query=${path}&operationName=${path}`, `/graphql?${path}=1`];
      for (const target of targets) {
        const headers = [host, authorization, 'Apollo-Require-Preflight: 1', PLAIN];
        expectNotForged(await written(requestText(`GET ${target} HTTP/1.1`, headers)));
      }
    }
  });

  const allowed = LOG_BREAKS.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text));

  const NAMES = ['User-Agent', 'X-Request-Id', 'X-Forwarded-For', 'Apollographql-Client-Name', 'Traceparent'];

  test.each(NAMES)('despite control characters in the header %s', async (name) => {
    expect(allowed.length).toBeGreaterThan(2);
    for (const text of [...allowed, 'a\tFORGED']) {
      const headers = [host, authorization, `${name}: ${text}`, PLAIN];
      const lines = await written(postText(create(), headers));
      expectNotForged(lines, 1);
      expect([lines.log.length, lines.audit.length]).toEqual([1, 1]);
    }
  });

  test('despite control characters in Authorization', async () => {
    for (const text of allowed) {
      const headers = [host, `Authorization: Bearer ${text}`, PLAIN];
      expectNotForged(await written(postText(json({ query: '{ __typename }' }), headers)));
    }
  });
});

describe('Random input', () => {
  /** Fixed for reproducible runs; FUZZ_SEED=123 FUZZ_TIMES=50 npx jest test/http/requests.slow is another, longer run. */
  const SEED = Number(process.env['FUZZ_SEED'] ?? 20261121);
  const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1);

  async function faultsFor(body: string): Promise<string[]> {
    const { status, text } = await send(body);
    return graphqlProblems({ status, body: text });
  }

  const inDocument = (documents: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    documents.map((query) => JSON.stringify({ query, operationName: 'Named' }));
  const calls = (name: string): fc.Arbitrary<string> =>
    mutationCall(name).map((body) => JSON.stringify(body));

  test.each<[string, fc.Arbitrary<string>, number]>([
    ['inputs of mutations', fc.oneof(...MUTATIONS.map(calls)), 120],
    ['documents', anyDocument.map((query) => JSON.stringify({ query })), 80],
    ['broken documents', inDocument(brokenDocument), 80],
    ['bodies', anyBody, 120],
  ])(
    'causes no internal error: %s',
    async (_what, bodies, numRuns) => {
      const property = fc.asyncProperty(bodies, async (body) => expect(await faultsFor(body)).toEqual([]));
      await fc.assert(property, { seed: SEED, numRuns: numRuns * TIMES });
    },
    60_000 * TIMES,
  );

  test('leaks no memory', async () => {
    const bodies = fc.oneof(anyBody, inDocument(brokenDocument), calls('createPayment'));
    const many = fc.sample(bodies, { seed: SEED, numRuns: 60 });
    const sendAll = async (): Promise<void> => {
      for (const body of many) await faultsFor(body);
      server.service.requests.length = 0;
      server.logLines.length = 0;
    };
    await sendAll();
    const before = heapInUse();
    await sendAll();
    await sendAll();
    // Each run sends more than a megabyte of text.
    expect(heapInUse() - before).toBeLessThan(20);
  });

  test('includes operations that are valid and are executed', async () => {
    const documents = fc.sample(anyDocument, { seed: SEED, numRuns: 50 });
    const responses = await Promise.all(documents.map((query) => server.client.request(query)));
    expect(responses.filter(({ data }) => data).length).toBeGreaterThan(5);
    const created = server.service.ledger.entries.length;
    const creates = fc.sample(mutationCall('createPayment'), { seed: SEED + 1, numRuns: 50 });
    for (const { query, variables } of creates) await server.client.request(query, variables);
    expect(server.service.ledger.entries.length - created).toBeGreaterThan(1);
  });
});
