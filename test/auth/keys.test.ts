import { AUTHORIZED, CLIENT_KEY } from '../support/credentials';
import { TRANSACTION_ID } from '../support/calls';
import { testGateway, testSandbox, clear, type LoggedGateway, type TestClient } from '../support/gateway';
import { sha256 } from '../support/manifests';
import { post as sendPost, raw, type RawResult } from '../support/raw';
import { Wire, exchange, requestText, type WireResponse } from '../support/wire';
import { expectUnauthenticated } from './support/responses';
import { OURS, startAuthHarness, clientOf, keyOf } from './support/harness';

const LOOKUP = `{ payment(channel: "${OURS}", transactionId: "${TRANSACTION_ID}") { __typename } }`;
const BODY = JSON.stringify({ query: LOOKUP });
const SHOP = keyOf('shop');

let harness: LoggedGateway;
let url: string;

beforeAll(async () => {
  harness = await startAuthHarness({ clients: [clientOf('shop', { channels: [OURS] })] });
  url = harness.client.gateway.url;
});

beforeEach(() => clear(harness));

const headOf = (...headers: string[]): string[] => [
  'POST /graphql HTTP/1.1',
  'Host: gateway.example',
  'Content-Type: application/json',
  ...headers,
];

const post = (headers: readonly string[], body = BODY, target = '/graphql'): Promise<WireResponse> => {
  const [, ...lines] = headOf(`Content-Length: ${body.length}`, ...headers);
  return exchange(url, [`POST ${target} HTTP/1.1`, ...lines], body);
};

/** Expects 401 without any part of a key in response and log, and no request to the service. */
function expectRefused(response: WireResponse | undefined): void {
  const { status = 0, headers = {}, body = '{}' } = response ?? {};
  expectUnauthenticated({
    status,
    headers: new Headers(headers),
    text: body,
    ...(JSON.parse(body) as { errors?: never }),
    data: undefined,
  });
  expect(harness.service.requests).toHaveLength(0);
  expect(body + harness.logLines.join('')).not.toMatch(/CANARY|canary/);
}

test.each([
  ['in an Authorization header', `Authorization: Bearer ${SHOP}`],
  ['with the scheme in lower case', `Authorization: bearer ${SHOP}`],
  ['between spaces and tabs that HTTP removes', `Authorization:  \t Bearer ${SHOP} \t `],
])('A client key is accepted %s, and the id of its client is logged', async (_how, header) => {
  const { status, body } = await post([header]);
  expect({ status, body }).toEqual({ status: 200, body: expect.stringContaining('"data"') as unknown });
  expect(harness.service.requests).toHaveLength(1);
  expect(harness.logLines.join('')).toContain('service:shop');
  expect(harness.logLines.join('')).not.toContain('CANARY');
});

const REFUSED: [string, string[]][] = [
  ['no Authorization header', []],
  ['the scheme without a key', ['Authorization: Bearer ']],
  ['the key without a scheme', [`Authorization: ${SHOP}`]],
  ['the scheme Basic', [`Authorization: Basic ${SHOP}`]],
  ['no space after the scheme', [`Authorization: Bearer${SHOP}`]],
  ['a wrong key', ['Authorization: Bearer pgk_CANARY-nobody']],
  ['the key in capitals', [`Authorization: Bearer ${SHOP.toUpperCase()}`]],
  ['a word after the key', [`Authorization: Bearer ${SHOP} please`]],
  ['two keys in one header', [`Authorization: Bearer ${SHOP}, Bearer ${CLIENT_KEY}`]],
  ['the SHA-256 of the key', [`Authorization: Bearer ${sha256(SHOP)}`]],
  ['a key of 9000 letters', [`Authorization: Bearer pgk_CANARY${'x'.repeat(9000)}`]],
  ['the key in another header', [`X-Authorization: Bearer ${SHOP}`]],
  ['the key in a cookie', [`Cookie: authorization=Bearer ${SHOP}; token=${SHOP}`]],
  ['a loopback address in X-Forwarded-For', ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1']],
];

describe('The gateway responds with 401, without reading the body or calling the service,', () => {
  test.each(REFUSED)('to a request with %s', async (_what, headers) => expectRefused(await post(headers)));

  test.each([
    ['the query string', `/graphql?access_token=${SHOP}&authorization=Bearer%20${SHOP}&token=${SHOP}`],
    ['the user part of the address', `http://shop:${SHOP}@gateway.example/graphql`],
  ])('to a request with a key in %s', async (_where, target) => expectRefused(await post([], BODY, target)));

  test('to a request with an invalid body, or with a key in the body', async () => {
    const withKey = JSON.stringify({ query: LOOKUP, authorization: `Bearer ${SHOP}` });
    for (const body of ['{', '{"query":"{ nosuch }"}', '', withKey]) expectRefused(await post([], body));
  });

  test.each(['Content-Length: 90000', 'Content-Length: 1000000000', 'Transfer-Encoding: chunked'])(
    'to a request whose body has not arrived (%s)',
    async (header) => {
      const wire = await Wire.open(url);
      const [line = '', ...headers] = headOf(header);
      const start = header.includes('chunked') ? '4\r\n{"qu\r\n' : '{"que';
      expectRefused((await wire.write(requestText(line, headers, start)).responses(1))[0]);
      wire.close();
    },
  );
});

test.each([
  ['two Authorization headers', 400, ['Authorization:', `Authorization: Bearer ${SHOP}`]],
  ['a header of 20 KB', 431, [`Authorization: Bearer CANARY${'x'.repeat(20_000)}`]],
])('A request with %s is refused with %d', async (_what, status, headers) => {
  const response = await post(headers);
  expect(response.status).toBe(status);
  if (status === 400) expect(response.body).toContain('"BAD_REQUEST"');
  expect(harness.service.requests).toHaveLength(0);
  expect(response.body + harness.logLines.join('')).not.toContain('CANARY');
});

const BROWSER = { 'apollo-require-preflight': 'true', authorization: '' };

/** Starts a gateway with the sandbox, as `npm start` does without a real service. */
const sandboxGateway = async (env: Record<string, string> = {}): Promise<TestClient> =>
  testGateway((await testSandbox()).url, { inSandbox: true, env });

const get = ({ url }: TestClient, search: Record<string, string>, headers: object): Promise<RawResult> =>
  raw(`${url}?${new URLSearchParams(search)}`, { headers: { ...BROWSER, ...headers } });

/** Removes the nonces of scripts, which are new in every response. */
const withoutNonces = (page: string): string => page.replaceAll(/[0-9a-f]{64}/g, '<nonce>');

describe('A gateway with the sandbox and client keys', () => {
  let client: TestClient;

  beforeAll(async () => {
    client = await sandboxGateway();
  });

  // For most of these headers, content negotiation could select the landing page or a GraphQL response.
  test.each([
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'the landing page'],
    ['text/html;q=0.1, application/json', '401'],
    ['text/html-ish, application/json', '401'],
    ['', '401'],
  ])('responds to a GET without a key whose Accept header is "%s" with %s', async (accept, expected) => {
    const isPage = expected === 'the landing page';
    const bare = await get(client, {}, { accept });
    for (const query of [LOOKUP, '{', '{ __schema { queryType { name } } }']) {
      const response = await get(client, { query }, { accept });
      if (!isPage) expectUnauthenticated({ data: undefined, ...response });
      else expect(withoutNonces(response.text)).toBe(withoutNonces(bare.text));
      expect(response.headers.get('content-type')?.startsWith('text/html')).toBe(isPage);
    }
  });

  test('responds with 401 to a POST without a key, even if it accepts text/html', async () => {
    const headers = { ...BROWSER, accept: 'text/html' };
    expect((await sendPost(client.url, BODY, headers)).status).toBe(401);
  });

  test('registers no persisted query for a GET without a key that accepts text/html', async () => {
    const persistedQuery = { version: 1, sha256Hash: sha256(LOOKUP) };
    const extensions = JSON.stringify({ persistedQuery });
    await get(client, { query: LOOKUP, extensions }, { accept: 'text/html;q=0.1, application/json' });
    const { errors } = await get(client, { extensions }, { accept: 'application/json', ...AUTHORIZED });
    expect(errors).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }]);
  });
});

test('A gateway with the sandbox and without client keys serves every caller, whatever credentials it sends', async () => {
  const client = await sandboxGateway({ CLIENT_KEYS_FILE: '' });
  for (const authorization of ['', 'Bearer whatever', 'Basic eDp5']) {
    const { status, data, errors } = await client.request(LOOKUP, {}, { authorization });
    expect({ status, data, errors }).toEqual({ status: 200, data: { payment: null }, errors: undefined });
  }
});

test('A gateway with a real payment service responds with 401 to a GET without a key that accepts text/html', async () => {
  const client = await testGateway('http://127.0.0.1:9/');
  expectUnauthenticated({ data: undefined, ...(await get(client, {}, { accept: 'text/html' })) });
});
