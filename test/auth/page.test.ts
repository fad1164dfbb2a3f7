import { sha256 } from '../support/manifests';
import { TRANSACTION_ID } from '../support/calls';
import { AUTHORIZED } from '../support/credentials';
import { testGateway, testSandbox, type TestClient } from '../support/gateway';
import { raw, type RawResult } from '../support/raw';
import { expectUnauthenticated } from './support/responses';
import { OURS } from './support/harness';

const LOOKUP = `{ payment(channel: "${OURS}", transactionId: "${TRANSACTION_ID}") { __typename } }`;
const BROWSER = { 'apollo-require-preflight': 'true', authorization: '' };

/** Starts a gateway with the sandbox, as `npm start` does without a real service. */
const sandboxGateway = async (env: Record<string, string> = {}): Promise<TestClient> =>
  testGateway((await testSandbox()).url, { inSandbox: true, env });

const get = ({ url }: TestClient, search: Record<string, string>, headers: object): Promise<RawResult> =>
  raw(`${url}?${new URLSearchParams(search)}`, { headers: { ...BROWSER, ...headers } });

/** Removes the nonces of scripts, which are new in every response. */
const withoutNonces = (page: string): string => page.replaceAll(/[0-9a-f]{64}/g, '<nonce>');

describe('With the sandbox and client keys', () => {
  let client: TestClient;

  beforeAll(async () => {
    client = await sandboxGateway();
  });

  test('the landing page requires no key, and is the same for any query', async () => {
    const bare = await get(client, {}, { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    for (const query of [LOOKUP, '{ __typename }', '{', `mutation { confirmPayment { __typename } }`]) {
      const { status, headers, text } = await get(client, { query }, { accept: 'text/html' });
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/html/);
      expect(withoutNonces(text)).toBe(withoutNonces(bare.text));
    }
  });

  // Content negotiation could select the landing page or a GraphQL response for these.
  test.each([
    'text/html;q=0.1, application/json',
    'text/html; q=0.0001, */*',
    'text/html;charset=utf-8;q=0.3, application/graphql-response+json',
    'text/html, application/json;q=1.0',
    'text/html,text/html;q=0.1,application/json;q=0.5',
    'text/html-ish, application/json',
    'application/json, text/html',
    'TEXT/HTML;q=0.1, application/json',
    'text/*;q=0.1, application/json',
    '',
  ])('a GET that accepts "%s" gets the landing page or 401', async (accept) => {
    for (const query of [LOOKUP, '{ __typename }', '{ __schema { queryType { name } } }']) {
      const response = await get(client, { query }, { accept });
      const isPage = response.headers.get('content-type')?.startsWith('text/html') ?? false;
      if (!isPage) expectUnauthenticated({ data: undefined, ...response });
      expect(response.text).not.toMatch(/"data":|queryType/);
    }
  });

  test.each(['POST', 'HEAD'])(
    'a %s without a key gets 401, even if its Accept header allows text/html',
    async (method) => {
      const headers = { ...BROWSER, accept: 'text/html', 'content-type': 'application/json' };
      const body = method === 'POST' ? JSON.stringify({ query: LOOKUP }) : undefined;
      expect((await raw(`${client.url}?query=%7B__typename%7D`, { method, headers, body })).status).toBe(401);
    },
  );

  test('a GET whose Accept header allows text/html registers no persisted query', async () => {
    const persistedQuery = { version: 1, sha256Hash: sha256(LOOKUP) };
    const extensions = JSON.stringify({ persistedQuery });
    await get(client, { query: LOOKUP, extensions }, { accept: 'text/html;q=0.1, application/json' });
    const { errors } = await get(client, { extensions }, { accept: 'application/json', ...AUTHORIZED });
    expect(errors).toMatchObject([{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }]);
  });
});

test('With the sandbox and without client keys, every caller is served, whatever credentials it sends', async () => {
  const client = await sandboxGateway({ CLIENT_KEYS_FILE: '' });
  for (const authorization of ['', 'Bearer whatever', 'Basic eDp5']) {
    const { status, data, errors } = await client.request(LOOKUP, {}, { authorization });
    expect({ status, data, errors }).toEqual({ status: 200, data: { payment: null }, errors: undefined });
  }
});

test('With a real service, a GET that accepts text/html without a key gets 401', async () => {
  const client = await testGateway('http://127.0.0.1:9/');
  expectUnauthenticated({ data: undefined, ...(await get(client, {}, { accept: 'text/html' })) });
});
