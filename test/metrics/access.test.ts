import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { text as readText } from 'node:stream/consumers';
import { testGateway } from '../support/gateway';
import { ask } from './support/scrape';
import { scriptedService, type ScriptedService } from '../support/scripted-service';

const TOKEN = 'metrics-token-0123456789';
let service: ScriptedService;

beforeAll(async () => {
  service = await scriptedService();
});

const start = async (env: Record<string, string> = {}): Promise<string> =>
  (await testGateway(service.url, { env })).gateway.url;

describe('Without METRICS_TOKEN', () => {
  let base: string;

  beforeAll(async () => {
    base = await start({ TRUSTED_PROXIES: '127.0.0.1' });
  });

  test('who is on this machine reads the metrics, in the form of Prometheus', async () => {
    const { status, text, type } = await ask(base);
    expect(status).toBe(200);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('# TYPE paygraph_operations_total counter');
  });

  test.each([
    ['X-Forwarded-For', '127.0.0.1'],
    ['X-Forwarded-Host', 'localhost'],
    ['x-forwarded-proto', 'https'],
    ['Forwarded', 'for=127.0.0.1'],
    ['Via', '1.1 proxy'],
    ['X-Real-IP', '127.0.0.1'],
    ['CF-Connecting-IP', '127.0.0.1'],
    ['True-Client-IP', '127.0.0.1'],
    ['X-Azure-ClientIP', '127.0.0.1'],
    ['CDN-Loop', 'cdn'],
    ['Host', 'gateway.example'],
    ['Host', 'gateway.example@localhost'],
  ])('a request that came through a proxy, or under another name, does not: %s: %s', async (name, value) => {
    const { status, text } = await ask(base, { [name]: value });
    expect(status).toBe(403);
    expect(text).toBe(
      'Metrics are shown on this machine only, and not through a proxy; set METRICS_TOKEN to read them from elsewhere.\n',
    );
  });

  test.each([
    ['HTTP/1.0', 'GET /metrics HTTP/1.0\r\nHost: localhost'],
    ['a whole address', 'GET http://gateway.example/metrics HTTP/1.1\r\nHost: localhost'],
    ['two hosts', 'GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: gateway.example'],
  ])('a proxy that adds no header is known by %s', async (_what, head) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    const answer = await readText(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    expect(answer).not.toContain('paygraph_');
  });

  test('credentials of callers do not help', async () => {
    expect((await ask(base, { 'X-Real-IP': '::1', authorization: `Bearer ${TOKEN}` })).status).toBe(403);
  });

  const address = Object.values(networkInterfaces())
    .flat()
    .find((each) => each && !each.internal && each.family === 'IPv4')?.address;

  (address === undefined ? test.skip : test)('another address of this machine does not', async () => {
    const { port } = new URL(await start({ HOST: '0.0.0.0' }));
    expect((await ask(`http://${address}:${port}`, { host: 'localhost' })).status).toBe(403);
    expect((await ask(`http://127.0.0.1:${port}`)).status).toBe(200);
  });
});

describe('With METRICS_TOKEN', () => {
  let base: string;

  beforeAll(async () => {
    base = await start({ METRICS_TOKEN: TOKEN });
  });

  test('who shows it reads the metrics, also through a proxy', async () => {
    const shown = {
      authorization: `Bearer ${TOKEN}`,
      'x-forwarded-for': '203.0.113.7',
      host: 'gateway.example',
    };
    expect((await ask(base, shown)).status).toBe(200);
  });

  test.each([
    ['nothing', undefined],
    ['another token', `Bearer ${TOKEN}x`],
    ['a part of it', `Bearer ${TOKEN.slice(1)}`],
    ['the token alone', TOKEN],
    ['no token', 'Bearer '],
  ])('who shows %s does not, on this machine either', async (_what, authorization) => {
    const { status, text } = await ask(base, authorization === undefined ? {} : { authorization });
    expect(status).toBe(403);
    expect(text).toBe('Metrics are shown to who sends METRICS_TOKEN: Authorization: Bearer <token>.\n');
  });

  test('it is no key to the gateway', async () => {
    const response = await fetch(`${base}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
      body: '{"query":"{ __typename }"}',
    });
    expect(response.status).toBe(401);
  });
});

test('The metrics have no rate limit', async () => {
  const base = await start({ RATE_LIMIT_PER_MINUTE: '1' });
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await ask(base)).status));
  expect(new Set(statuses)).toEqual(new Set([200]));
});
