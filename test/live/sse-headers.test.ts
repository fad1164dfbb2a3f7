import { AUTHORIZED } from '../support/credentials';
import { testGateway, testSandbox, type TestClient } from '../support/gateway';

/** The headers that keep a browser safe. */
const safe = (headers: Headers): string[] =>
  [...headers]
    .filter(([name]) =>
      /^(x-(?!request-id)|content-security|cross-origin|referrer|strict|origin-agent)/.test(name),
    )
    .map(([name, value]) => `${name}: ${value}`)
    .sort();

describe('What is refused instead of a stream', () => {
  let client: TestClient;

  beforeAll(async () => {
    client = await testGateway((await testSandbox()).url);
  });

  test.each<[string, number, RequestInit]>([
    ['without credentials', 401, { headers: { accept: 'text/event-stream' } }],
    ['for its variables', 400, { headers: { ...AUTHORIZED, accept: 'text/event-stream' } }],
    ['for what it accepts', 406, { headers: { ...AUTHORIZED, accept: 'image/png' } }],
    [
      'for its body',
      400,
      { method: 'POST', headers: { ...AUTHORIZED, 'content-type': 'application/json' }, body: '{' },
    ],
  ])('%s has the same safe headers as a refused query', async (_why, status, init) => {
    const query = await fetch(client.url, { method: 'POST' });
    const refused = await fetch(`${client.url}/stream?query=x&variables=5`, init);
    expect(refused.status).toBe(status);
    expect(safe(refused.headers)).toEqual(safe(query.headers));
    expect(safe(refused.headers).length).toBe(7);
  });
});
