import { Wire, postText, requestText } from '../attack/wire';
import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { post, raw, type RawResult } from '../gateway/fixtures/raw';
import { startOpenGateway } from './support/open-gateway';
import { startServer, type Server } from './support/servers';

/** Before a real service, and with the embedded sandbox, where there is a page for browsers. */
let server: Server;
let open: string;

beforeAll(async () => {
  server = await startServer();
  const sandbox = await testSandbox();
  const gateway = closeAfterTests(await startOpenGateway(sandbox.url));
  open = gateway.url;
});

const HELLO = '{"query":"{ __typename }"}';
const PAGE = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

/** Every kind of answer there is. */
const ANSWERS: [string, status: number, () => Promise<RawResult>][] = [
  ['an answer to an operation', 200, () => post(`${server.base}/graphql`, HELLO)],
  [
    'an answer to a GET',
    200,
    () =>
      raw(`${server.base}/graphql?query=%7B__typename%7D`, { headers: { 'apollo-require-preflight': '1' } }),
  ],
  ['an operation that is not valid', 400, () => post(`${server.base}/graphql`, '{"query":"{ nosuch }"}')],
  ['a document that does not parse', 400, () => post(`${server.base}/graphql`, '{"query":"{"}')],
  ['a body that is no JSON', 400, () => post(`${server.base}/graphql`, '{')],
  [
    'a body that is too large',
    413,
    () => post(`${server.base}/graphql`, JSON.stringify({ query: ' '.repeat(102_400) })),
  ],
  ['a GET that a foreign page could make', 400, () => raw(`${server.base}/graphql?query=%7B__typename%7D`)],
  [
    'a caller that is not known',
    401,
    () => post(`${server.base}/graphql`, HELLO, { authorization: 'Bearer nobody' }),
  ],
  ['a browser where there is no page', 400, () => raw(`${server.base}/graphql`, { headers: PAGE })],
  ['nothing at this address', 404, () => raw(`${server.base}/nosuch`)],
  ['a method that is not served', 404, () => raw(`${server.base}/graphql`, { method: 'DELETE' })],
  ['an address that cannot be read', 404, () => raw(`${server.base}/%`)],
  ['the health of the process', 200, () => raw(`${server.base}/healthz`)],
  ['whether it takes work', 200, () => raw(`${server.base}/readyz`)],
  ['the page for browsers', 200, () => raw(`${open}/graphql`, { headers: PAGE })],
  ['an answer of the sandbox mode', 200, () => post(`${open}/graphql`, HELLO)],
];

describe.each(ANSWERS)('%s', (_what, status, ask) => {
  let answer: RawResult;

  beforeAll(async () => {
    answer = await ask();
  });

  test(`is answered with ${status}`, () => {
    expect(answer.status).toBe(status);
  });

  test.each([
    ['x-content-type-options', /^nosniff$/],
    ['x-frame-options', /^deny$/i],
    ['content-security-policy', /frame-ancestors 'none'/],
    ['content-security-policy', /object-src 'none'/],
    ['content-security-policy', /base-uri 'none'/],
    ['referrer-policy', /^no-referrer$/],
    ['strict-transport-security', /max-age=\d{8}/],
    ['cross-origin-opener-policy', /^same-origin$/],
    ['cross-origin-resource-policy', /^same-(origin|site)$/],
    ['cache-control', /\bno-store\b/],
    ['x-request-id', /^[0-9a-f-]{36}$/],
  ])('has %s: %s', (name, value) => {
    expect(answer.headers.get(name)).toMatch(value);
  });

  test.each(['server', 'x-powered-by', 'via', 'set-cookie', 'access-control-allow-origin', 'etag'])(
    'has no %s',
    (name) => {
      expect(answer.headers.get(name)).toBeNull();
    },
  );
});

test('the page for browsers is the only answer that is a page', async () => {
  for (const [what, , ask] of ANSWERS) {
    const type = (await ask()).headers.get('content-type');
    expect([what, type]).toEqual([
      what,
      expect.stringMatching(
        what === 'the page for browsers' ? /^text\/html/ : /^application\/(\S+\+)?json\b/,
      ),
    ]);
  }
});

test('a client that prefers a page to JSON gets no page where there is none', async () => {
  const { text, status } = await raw(`${server.base}/graphql?query=%7B__typename%7D`, { headers: PAGE });
  expect(status).toBe(400);
  expect(text).not.toMatch(/<\w/);
});

describe('What is no request at all', () => {
  test.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 400],
    [
      'a head that is too large',
      requestText('GET / HTTP/1.1', ['Host: a', `X-Long: ${'a'.repeat(50_000)}`]),
      431,
    ],
  ])('is answered shortly, and without telling what answers: %s', async (_what, text, status) => {
    const wire = await Wire.open(server.base);
    const answers = await wire.write(text).end();
    expect(answers.map((answer) => answer.status)).toEqual([status]);
    expect(wire.received.length).toBeLessThan(600);
    expect(wire.received).not.toMatch(/\b(fastify|node|express|apollo|llhttp|HPE_|server:)/i);
    expect(wire.received).not.toMatch(/\n\s+at |\.js\b/);
  });
});

test('answers on one connection belong to their questions, in their order', async () => {
  const wire = await Wire.open(server.base);
  const aliases = Array.from({ length: 16 }, (_, place) => `answer${place}`);
  const headers = [`Host: ${new URL(server.base).host}`, `Authorization: ${AUTHORIZED.authorization}`];
  for (const alias of aliases)
    wire.write(postText(JSON.stringify({ query: `{ ${alias}: __typename }` }), headers));
  const answers = await wire.answers(aliases.length);
  wire.close();
  expect(answers.map(({ body }) => JSON.parse(body) as unknown)).toEqual(
    aliases.map((alias) => ({ data: { [alias]: 'Query' } })),
  );
});
