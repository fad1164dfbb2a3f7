import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { readConfig, SANDBOX_CREDENTIALS } from '../../src/config';
import { startGateway } from '../../src/gateway';
import { TestClient, closeAfterTests, testSandbox, testSettings } from '../support/gateway';
import { TRANSACTION_ID } from '../gateway/fixtures/calls';
import { expectUnauthenticated } from './support/answers';
import { AUTHORIZED } from '../support/credentials';
import { OURS } from './support/rig';

const LOOKUP = `{ payment(channel: "${OURS}", transactionId: "${TRANSACTION_ID}") { __typename } }`;

/** A gateway in front of its sandbox, as `npm start` makes it without a real service. */
async function sandboxGateway(env: Record<string, string>): Promise<TestClient> {
  const sandbox = await testSandbox({
    apiKey: SANDBOX_CREDENTIALS.apiKey.reveal(),
    secretKey: SANDBOX_CREDENTIALS.secretKey.reveal(),
  });
  const config = readConfig({ ...testSettings(), PORT: '0', ...env });
  const service = { ...config.service, baseUrl: sandbox.url };
  const gateway = await startGateway({ ...config, service }, pino({ level: 'silent' }));
  return new TestClient(closeAfterTests(gateway));
}

async function get(client: TestClient, accept: string, more: Record<string, string> = {}, query = '') {
  const search = query === '' ? '' : `?query=${encodeURIComponent(query)}`;
  const headers = { accept, 'apollo-require-preflight': 'true', ...more };
  const response = await fetch(`${client.url}${search}`, { headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const body = (isJson ? JSON.parse(text) : {}) as { errors?: never; data?: unknown };
  return { status: response.status, headers: response.headers, text, errors: body.errors, data: body.data };
}

/** The page names its own scripts by numbers that are new every time. */
const withoutNonces = (page: string): string => page.replaceAll(/[0-9a-f]{64}/g, '<nonce>');

describe('With the sandbox and callers told apart', () => {
  let client: TestClient;

  beforeAll(async () => {
    client = await sandboxGateway({});
  });

  test('anybody may see the page', async () => {
    const { status, headers, text } = await get(client, 'text/html,application/xhtml+xml,*/*;q=0.8');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/html/);
    expect(text).toContain('<!DOCTYPE html>');
  });

  test('the page is the same whatever is asked with it: nothing is carried out', async () => {
    const bare = await get(client, 'text/html');
    for (const query of [LOOKUP, '{ __typename }', '{', `mutation { confirmPayment { __typename } }`]) {
      const { status, headers, text } = await get(client, 'text/html', {}, query);
      expect(status).toBe(200);
      expect(headers.get('content-type')).toMatch(/^text\/html/);
      expect(withoutNonces(text)).toBe(withoutNonces(bare.text));
    }
  });

  /** They want a page by one reading of the header, and an answer by another. */
  const PRETENDERS = [
    'text/html;q=0.1, application/json',
    'text/html;q=0, application/json',
    'text/html; q=0.0001, */*',
    'text/html;q=0',
    'text/html ;q=0.5,application/graphql-response+json;q=0.9',
    'text/html;charset=utf-8;q=0.3, application/graphql-response+json',
    'text/html, application/json;q=1.0',
    'text/html,text/html;q=0.1,application/json;q=0.5',
    'text/html-ish, application/json',
    'text/html/json',
    'application/json, text/html',
    'application/json;q=0.9, text/html',
    ' text/html;q=0.2, application/json',
    'TEXT/HTML;q=0.1, application/json',
    '*/*',
    'text/*',
    'text/*;q=0.1, application/json',
    '',
  ];

  test.each(PRETENDERS)(
    'who accepts "%s" gets the page or a 401, and no query is carried out',
    async (accept) => {
      for (const query of [LOOKUP, '{ __typename }', '{ __schema { queryType { name } } }']) {
        const answer = await get(client, accept, {}, query);
        const isPage = answer.headers.get('content-type')?.startsWith('text/html') ?? false;
        if (!isPage) expectUnauthenticated(answer);
        expect(answer.text).not.toMatch(/"data":|queryType/);
      }
    },
  );

  test('a POST that accepts a page is asked for its key', async () => {
    expectUnauthenticated(await client.ask(LOOKUP, {}, { accept: 'text/html' }));
  });

  test('HEAD tells of no more than GET', async () => {
    const response = await fetch(`${client.url}?query=${encodeURIComponent(LOOKUP)}`, {
      method: 'HEAD',
      headers: { accept: 'text/html', 'apollo-require-preflight': 'true' },
    });
    expect(response.status).toBe(401);
  });

  test('who pretends registers no persisted query either', async () => {
    const sha256Hash = createHash('sha256').update(LOOKUP).digest('hex');
    const extensions = encodeURIComponent(JSON.stringify({ persistedQuery: { version: 1, sha256Hash } }));
    await fetch(`${client.url}?query=${encodeURIComponent(LOOKUP)}&extensions=${extensions}`, {
      headers: { accept: 'text/html;q=0.1, application/json', 'apollo-require-preflight': 'true' },
    });
    const { text } = await fetch(`${client.url}?extensions=${extensions}`, {
      headers: { accept: 'application/json', 'apollo-require-preflight': 'true', ...AUTHORIZED },
    }).then(async (response) => ({ text: await response.text() }));
    expect(JSON.parse(text)).toMatchObject({ errors: [{ message: 'PersistedQueryNotFound' }] });
  });

  test('with the key the same GET is answered', async () => {
    const { status, data } = await get(client, 'application/json', AUTHORIZED, '{ __typename }');
    expect({ status, data }).toEqual({ status: 200, data: { __typename: 'Query' } });
  });
});

test('With the sandbox alone nobody is told apart, and whatever credentials come are not looked at', async () => {
  const client = await sandboxGateway({ CLIENT_KEYS_FILE: '' });
  for (const headers of [{}, { authorization: 'Bearer whatever' }, { authorization: 'Basic eDp5' }]) {
    const { status, data, errors } = await client.ask(LOOKUP, {}, headers as Record<string, string>);
    expect({ status, data, errors }).toEqual({ status: 200, data: { payment: null }, errors: undefined });
  }
});

test('With a real service there is no page', async () => {
  const sandbox = await testSandbox();
  const config = readConfig({
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: sandbox.url,
    SERVICE_API_KEY: 'key',
    SERVICE_SECRET_KEY: 'secret',
  });
  const client = new TestClient(closeAfterTests(await startGateway(config, pino({ level: 'silent' }))));
  expectUnauthenticated(await get(client, 'text/html'));
});
