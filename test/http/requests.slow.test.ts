import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { serverAudits } from 'graphql-http';
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

  test.each(audits)('passes the graphql-http audit $id: $name', async ({ fn }) => {
    expect(await fn()).toMatchObject({ status: 'ok' });
  });
});

describe('Two requests on one connection', () => {
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

  test.each(MALFORMED)(
    'do not allow request smuggling when the first is malformed: $name',
    async (malformed) => {
      const { responses, reached } = await sendMalformed(malformed);
      const [first, second, ...more] = responses;
      expect(malformed.statuses).toContain(first?.status ?? 0);
      expect(httpProblems(first ?? { status: 0, body: '' })).toEqual([]);
      expect(JSON.stringify(responses)).not.toMatch(
        /\b(fastify|node|express|apollo(?!-require)|llhttp|HPE_|server":)/i,
      );
      if (malformed.followed) {
        // The bytes that follow are a separate request; the connection may have ended before it.
        if (second) expect(JSON.parse(second.body)).toEqual({ data: { payment: null } });
        expect(more).toEqual([]);
      } else {
        expect([reached, second]).toEqual([false, undefined]);
      }
    },
  );

  test('are both processed when both are well-formed', async () => {
    const { responses, reached } = await sendMalformed({
      write: ({ smuggled }) => postText('{"query":"{ __typename }"}', [host, authorization]) + smuggled,
    });
    expect([responses.map(({ status }) => status), reached]).toEqual([[200, 200], true]);
  });
});

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

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

describe('A request body', () => {
  const withExtensions = (extensions: string): string =>
    createText().replace('{', `{"extensions": ${extensions}, `);

  test.each([
    ['text in Latin-1', latin1(createText('Müller'))],
    ['a truncated UTF-8 character', Buffer.concat([Buffer.from(createText()), Buffer.from([0xc3])])],
    ['an overlong UTF-8 form', latin1(createText('\u00c0\u00af'))],
    ['a surrogate in UTF-8', latin1(createText('\u00ed\u00a0\u0080'))],
    ['text in UTF-16', Buffer.from(createText(), 'utf16le')],
    ['a duplicate field at the top level', `{"query": "{ a }", ${createText().slice(1)}`],
    ['a duplicate field in a variable', createText('order-1', '"value": "5.00", "value": "9.00"')],
    ['a duplicate field with an escape', createText('order-1', '"value": "5.00", "\\u0076alue": "9.00"')],
    ['a duplicate field in its extensions', withExtensions('{"a": [{"b": 1, "b": 2}]}')],
  ])('is refused when it is ambiguous: %s', async (_how, body) => expectRefused(await send(body)));

  test.each(['iso-8859-1', 'utf-16', 'utf-8; charset=latin1', ''])(
    'is refused with the charset "%s"',
    async (charset) => expectRefused(await send(createText(), `application/json; charset=${charset}`), 415),
  );

  test('is accepted with non-ASCII text, a byte order mark, field names of JavaScript objects, or another spelling of charset=utf-8', async () => {
    const bodies = [
      createText('Müller-日本-🙂'),
      // A byte order mark is not a part of the body.
      `\ufeff${createText()}`,
      withExtensions('{"query": {"query": 1}}'),
      withExtensions('{"toString": 1, "valueOf": 2}'),
      createText('a\\":\\"a\\":'),
    ];
    const types = ['charset=UTF-8', 'charset="utf-8"', 'charset=utf8'];
    for (const { status, errors } of await Promise.all([
      ...bodies.map((body) => send(body)),
      ...types.map((type) => send(createText(), `application/json; ${type}`)),
    ]))
      expect({ status, errors }).toEqual({ status: 200, errors: undefined });
  });
});

describe('Ambiguous input', () => {
  test('in the body of a server-sent events request is refused', async () => {
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

  test('is not falsely detected in a GET with escaped percent signs, plus signs and spaces', async () => {
    expect((await get(`${query}&${variables('Müller %2B +')}`)).data).toEqual({ payment: null });
    expect(server.service.requests[0]?.parameters.get('external_id')).toBe('Müller %2B +');
  });

  test('such as + or %71 in the query string of a GET does not bypass the document limits', async () => {
    const document = `{ ${Array.from({ length: 200 }, (_, place) => `a${place}: __typename`).join(' ')} }`;
    const escaped = encodeURIComponent(document);
    for (const query of [`query=${escaped}`, `query=${escaped.replaceAll('%20', '+')}`, `%71uery=${escaped}`])
      expectErrors(await get(query), 'OPERATION_TOO_LARGE');
    expectRefused(await get(`?query=${escaped}`));
  });

  const initWith = (payload: object): string => JSON.stringify({ type: 'connection_init', payload });
  const init = initWith(AUTHORIZED);

  test.each([
    ['a duplicate field', 4400, [init.replace('{', '{"type": "ping", ')]],
    ['duplicate credentials', 4400, [init.replace('"auth', '"authorization": "x", "\\u0061uth')]],
    ['credentials in both letter cases', 4401, [initWith({ Authorization: 'Bearer x', ...AUTHORIZED })]],
    [
      'a duplicate variable of a subscription',
      4400,
      [init, '{"type":"subscribe","id":"a","payload":{"query":"{ a }","variables":{"t":1,"t":2}}}'],
    ],
  ])('in a WebSocket message closes the connection: %s', async (_what, code, messages) => {
    const client = await WireClient.open(server.client.url);
    for (const message of messages) client.say(message);
    expect((await client.closed).code).toBe(code);
    expect(client.messages.filter(({ type }) => type !== 'connection_ack')).toEqual([]);
  });
});

describe('A log entry', () => {
  const json = (body: object): string => JSON.stringify(body);
  const create = (over: object = {}): string =>
    json({ query: CREATE, variables: { input: createInput('payment', newKey(), { ...over }) } });
  const note = (text: string): object => ({
    amount: { currency: 'USD', value: '1.00' },
    method: { other: { fields: { note: text } } },
  });

  type Place = [where: string, audited: number, (text: string) => string];
  const inBody = (where: string, audited: number, body: (text: string) => string): Place => [
    where,
    audited,
    (text) => postText(body(text), [host, authorization, 'Connection: close']),
  ];
  const inTarget = (where: string, targetWith: (escaped: string) => string): Place => [
    where,
    0,
    (text) => {
      const target = targetWith(encodeURIComponent(text.toWellFormed()));
      const headers = [host, authorization, 'Apollo-Require-Preflight: 1', 'Connection: close'];
      return requestText(`GET ${target} HTTP/1.1`, headers);
    },
  ];
  const inHeader = (name: string): Place => [
    `the header ${name}`,
    1,
    (text) => postText(create(), [host, authorization, `${name}: ${text}`, 'Connection: close']),
  ];

  /** Places for a caller's text, and the maximum number of audit lines that the request causes. */
  const PLACES: Place[] = [
    inBody('operationName', 0, (text) => json({ query: '{ __typename }', operationName: text })),
    inBody('the document', 0, (text) => json({ query: `{ __typename } ${text}` })),
    inBody('a literal', 0, (text) => json({ query: `{ node(id: ${JSON.stringify(text)}) { id } }` })),
    inBody('a variable', 0, (text) => json({ query: LOOKUP, variables: { c: CHANNEL, e: text } })),
    inBody('the name of a variable', 0, (text) => json({ query: LOOKUP, variables: { [text]: 1 } })),
    inBody('documentId', 0, (text) => json({ documentId: text })),
    inBody('the key of a create', 1, (text) => create({ idempotencyKey: text })),
    inBody('the external id of a create', 1, (text) => create({ externalId: text })),
    inBody('a custom field of a create', 1, (text) => create(note(text))),
    inTarget('a path', (text) => `/${text}`),
    inTarget('a query parameter', (text) => `/graphql?query=${text}&operationName=${text}`),
    inTarget('the name of a query parameter', (text) => `/graphql?${text}=1`),
    ...['User-Agent', 'X-Request-Id', 'X-Forwarded-For', 'Traceparent'].map(inHeader),
    [
      'the header Authorization',
      0,
      (text) =>
        postText(json({ query: '{ __typename }' }), [
          host,
          `Authorization: Bearer ${text}`,
          'Connection: close',
        ]),
    ],
  ];

  test.each(PLACES)('stays one line despite control characters in %s', async (where, audited, write) => {
    const isHeader = where.startsWith('the header');
    const texts = isHeader ? LOG_BREAKS.filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text)) : LOG_BREAKS;
    expect(texts.length).toBeGreaterThan(2);
    for (const text of texts) {
      const before = server.auditText().length;
      server.logLines.length = 0;
      await (await Wire.open(server.base)).write(write(text)).end();
      const log = [...server.logLines];
      const audit = server.auditText().slice(before).split('\n').filter(Boolean);
      expect([...log, ...audit].flatMap((line) => logLineProblem(line) ?? [])).toEqual([]);
      expect(log.join('')).not.toContain('FORGED');
      expect(log.length).toBeLessThanOrEqual(2);
      expect(audit.length).toBeLessThanOrEqual(audited);
      if (isHeader) expect(audit).toHaveLength(audited);
    }
  });
});

describe('Random input', () => {
  /** Fixed for reproducible runs; a longer run: FUZZ_SEED=123 FUZZ_TIMES=50 npx jest test/http/requests.slow. */
  const SEED = Number(process.env['FUZZ_SEED'] ?? 20261121);
  const TIMES = Number(process.env['FUZZ_TIMES'] ?? 1);

  async function faultsFor(body: string): Promise<string[]> {
    const { status, text } = await send(body);
    return graphqlProblems({ status, body: text });
  }

  const inDocument = (documents: fc.Arbitrary<string>): fc.Arbitrary<string> =>
    documents.map((query) => JSON.stringify({ query, operationName: 'Named' }));
  const calls = (name: string) => mutationCall(name).map((body) => JSON.stringify(body));

  test.each<[string, fc.Arbitrary<string>, number]>([
    ['the inputs of mutations', fc.oneof(...MUTATIONS.map(calls)), 120],
    ['documents', anyDocument.map((query) => JSON.stringify({ query })), 80],
    ['syntactically broken documents', inDocument(brokenDocument), 80],
    ['request bodies', anyBody, 120],
  ])(
    'in %s causes no internal error',
    async (_what, bodies, numRuns) => {
      const property = fc.asyncProperty(bodies, async (body) => expect(await faultsFor(body)).toEqual([]));
      await fc.assert(property, { seed: SEED, numRuns: numRuns * TIMES });
    },
    60_000 * TIMES,
  );

  test('causes no memory leak', async () => {
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
});
