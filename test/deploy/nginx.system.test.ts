import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInput, type Json } from '../support/caller';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { Program } from '../support/program';
import { newKey } from '../support/harness';
import { openStore, noPostgres } from '../support/stores';
import { frozenClock } from '../support/fake-clock';
import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { Wire, postText, requestText } from '../support/wire';
import { delaySeconds, describeWhere, envOf, lacking, openFolder, textOf } from './support/files';
import { MixedLoad } from './support/mixed-load';
import { CONFIGURATION, UPSTREAM_KEEPALIVE, startNginx, testTlsConfiguration } from './support/nginx';

/** Number of restarts of both gateways in the long run of CONTRIBUTING.md, which has the delays of the deployment. */
const ROUNDS = Number(process.env['ROLLING_RESTARTS'] ?? 0);
const { SHUTDOWN_DELAY_MS = '', SHUTDOWN_GRACE_MS = '' } = envOf('deploy/systemd/paygraph.env');

jest.setTimeout(600_000 + ROUNDS * 120_000);

const HOST = ['Host: localhost'];

describeWhere(lacking('nginx', 'openssl'), 'The configuration of nginx', () => {
  test('is valid with TLS, and keeps idle connections for less time than a gateway accepts requests after SIGTERM', () => {
    expect(testTlsConfiguration()).toBe(0);
    const [, seconds] = UPSTREAM_KEEPALIVE.exec(textOf(CONFIGURATION)) ?? [];
    expect(Number(seconds)).toBeLessThan(delaySeconds(envOf('deploy/systemd/paygraph.env')));
  });
});

describeWhere(
  lacking('nginx') ?? noPostgres,
  'Two gateways behind nginx, with one journal in PostgreSQL',
  () => {
    const gateways: Program[] = [];
    let start: (port: number) => Promise<Program>;
    let nginx: Awaited<ReturnType<typeof startNginx>>;
    let auditFile: string;

    beforeAll(async () => {
      const [store, sandbox] = await Promise.all([
        openStore('PostgreSQL'),
        testSandbox({ realClock: frozenClock(Date.now()) }),
      ]);
      closeAfterTests(Object.assign(store, { close: () => store.drop() }));
      auditFile = path.join(openFolder(), 'audit.log');
      const env = {
        TRUSTED_PROXIES: '127.0.0.1',
        RATE_LIMIT_PER_MINUTE: '0',
        AUDIT_LOG_FILE: auditFile,
        SERVICE_TIMEOUT_MS: '10000',
        SHUTDOWN_DELAY_MS: ROUNDS > 0 ? SHUTDOWN_DELAY_MS : '5000',
        SHUTDOWN_GRACE_MS,
      };
      start = async (port) => {
        const program = await Program.start({
          serviceUrl: sandbox.url,
          databaseUrl: store.url,
          env: { ...env, PORT: String(port) },
          hasSlowJournal: true,
        });
        return closeAfterTests(Object.assign(program, { close: () => program.kill() }));
      };
      const [first, second] = await Promise.all([start(await freePort()), start(await freePort())]);
      gateways.push(first, second);
      nginx = await startNginx([first.url, second.url], ROUNDS > 0 ? undefined : 1);
    });

    const statusOf = async (place: string): Promise<number> => (await fetch(`${nginx.url}${place}`)).status;

    const exchange = async (text: string): Promise<{ status?: number; type?: string; errors?: Json[] }> => {
      const wire = await Wire.open(nginx.url);
      const [response] = await wire.write(text).responses(1);
      wire.close();
      const { errors } = JSON.parse(response?.body ?? '{}') as { errors?: Json[] };
      return { status: response?.status, type: response?.headers['content-type'], errors };
    };
    const text = expect.any(String) as unknown;
    const errorOf = (code: string, retryable: boolean) => [
      { message: text, extensions: { code, retryable, requestId: text } },
    ];

    test.each([
      ['an unknown path', 404, 'BAD_REQUEST', requestText('GET /nothing HTTP/1.1', HOST)],
      ['a body that is too large', 413, 'BAD_REQUEST', postText('x'.repeat(200_000), HOST)],
      ['a long URL', 414, 'BAD_REQUEST', requestText(`GET /graphql?${'a'.repeat(20_000)} HTTP/1.1`, HOST)],
      ['a request that is not HTTP', 400, 'BAD_REQUEST', requestText('BROKEN', [])],
      // The response of a gateway, not of nginx.
      ['missing credentials', 401, 'UNAUTHENTICATED', postText('{"query":"{ __typename }"}', HOST)],
    ])(
      'respond to %s with a GraphQL error in JSON, status %i and code %s',
      async (_what, status, code, sent) => {
        const type = expect.stringMatching(/^application\/json/) as unknown;
        expect(await exchange(sent)).toMatchObject({ status, type, errors: errorOf(code, false) });
      },
    );

    test('respond with 404 to requests for /metrics, /readyz and HTML pages', async () => {
      const places = ['/metrics', '/readyz', '/explorer', '/_sandbox/', '/', '/graphql/../metrics'];
      expect(await Promise.all(places.map(statusOf))).toEqual(places.map(() => 404));
      expect(await statusOf('/healthz')).toBe(200);
      expect(await statusOf('/callbacks/some-token-of-a-callback')).toBe(204);
    });

    test('record the real address of the client in the audit log', async () => {
      const key = newKey();
      const query = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
      const body = JSON.stringify({ query, variables: { input: createInput('payment', key) } });
      const sent = Object.entries({ Host: 'localhost', 'X-Forwarded-For': '203.0.113.7', ...AUTHORIZED });
      const wire = await Wire.open(nginx.url, '127.0.0.2');
      await wire
        .write(
          postText(
            body,
            sent.map((header) => header.join(': ')),
          ),
        )
        .responses(1);
      wire.close();
      const lines = readFileSync(auditFile, 'utf8').split('\n');
      const line = lines.find((one) => one.includes(key)) ?? '{}';
      expect(JSON.parse(line)).toMatchObject({ outcome: 'PaymentSuccess', ip: '127.0.0.2' });
    });

    // Closing a listener resets the connections in the backlog of the kernel: nginx responds with 502 and repeats no
    // POST.
    test('lose at most one call of a mixed load during a rolling restart, with 502 or SERVICE_UNAVAILABLE', async () => {
      const load = new MixedLoad(nginx.url);
      await load.start();
      for (let round = 0; round < Math.max(ROUNDS, 1); round += 1)
        for (const [index, { url }] of gateways.entries()) {
          gateways[index]!.signal('SIGTERM');
          expect(await gateways[index]!.exited).toBe(0);
          gateways[index] = await start(Number(new URL(url).port));
          await until(async () => (await fetch(new URL('/readyz', url))).status === 200);
        }
      await load.stop();
      expect(load.failed.filter((failure) => !/502|SERVICE_UNAVAILABLE/.test(failure))).toEqual([]);
      expect(load.failed.length).toBeLessThanOrEqual(Math.max(ROUNDS / 10, 1));
    });

    test('can both fail: nginx then responds with a retryable GraphQL error, and logs no variable and no callback token', async () => {
      for (const gateway of gateways) await gateway.kill();
      const { status, errors } = await exchange(postText('{"query":"{ __typename }"}', HOST));
      expect([status, errors]).toEqual([502, errorOf('SERVICE_UNAVAILABLE', true)]);
      const secret = 'order-of-somebody';
      expect(await statusOf(`/graphql?query={__typename}&variables={"a":"${secret}"}`)).toBe(502);
      expect(await statusOf(`/callbacks/${secret}`)).toBe(502);
      for (const line of ['"GET /graphql" 502', '"GET /callbacks/[token]" 502'])
        await until(nginx.log, (log) => log.includes(line));
      expect(nginx.log()).not.toMatch(new RegExp(`${secret}|some-token-of-a-callback|variables`));
    });
  },
);
