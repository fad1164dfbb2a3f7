import { once } from 'node:events';
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Check } from '../../src/cli/doctor/check';
import { CHECKS, runChecks } from '../../src/cli/doctor/run-checks';
import { checkServiceConnection } from '../../src/cli/doctor/network';
import { readConfig } from '../../src/config';
import { writeLog } from '../audit/support/files';
import { readPage } from '../docs/support/markdown';
import { clientKeysText, type TestClientKey } from '../support/credentials';
import { freePort } from '../support/free-port';
import { API_KEY, CHANNEL, closeAfterTests, testGateway, testSandbox, testService } from '../support/gateway';
import { AUDIENCE, ISSUER, Issuer, newKey } from '../support/issuer';
import { fileOf, temporaryFolder } from '../support/manifests';
import { NOBODY, doctor, finding, goodSettings, type Settings } from './support/doctor';
import { run } from './support/run';

const OTHER_CHANNEL = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Writes a file with this text and mode. Returns its path. */
function fileWithMode(text: string, mode = 0o600): string {
  const file = fileOf(text);
  chmodSync(file, mode);
  return file;
}

const keysFile = (...clients: TestClientKey[]): Settings => ({
  CLIENT_KEYS_FILE: fileWithMode(clientKeysText(clients)),
});
const expiring = (days: number) => ({ expiresAt: new Date(Date.now() + days * DAY).toISOString() });
/** Starts an issuer with keys of these algorithms. Returns the settings for it. */
async function issuer(...algorithms: ('ES256' | 'RS256' | 'EdDSA' | 'ES384')[]): Promise<Settings> {
  return (await Issuer.start(...(await Promise.all(algorithms.map((each) => newKey(each)))))).settings;
}

/** Starts a service that responds with `status` to every lookup, and whose clock is ahead by `aheadMs`. */
const respondingWith = async (status: number, aheadMs = 0): Promise<Settings> => {
  const date = () => new Date(Date.now() + aheadMs).toUTCString();
  const { url } = await testService(() => ({ status, json: {}, headers: { date: date() } }));
  return { SERVICE_BASE_URL: url };
};

const usedPort = async (): Promise<string> => new URL((await testService()).url).port;

type Given = Settings | (() => Settings | Promise<Settings>);

/** `faults` are the findings of the check that are not ok, `good` is one that is ok. */
type Case = [given: string, settings: Given, faults: string[], good?: string];

const CASES: Record<string, Case[]> = {
  settings: [
    ['an unknown setting', { SERVICE_TIMEOUT: '5' }, ['warning: SERVICE_TIMEOUT; configuration.md']],
    [
      'a manifest with an invalid operation',
      () => ({ PERSISTED_OPERATIONS: fileOf('{"a": "{ paymnt }"}') }),
      ['failed: PERSISTED_OPERATIONS; paymnt; paygraph persist'],
    ],
    [
      'a MAX_CONNECTIONS above the file descriptor limit',
      { MAX_CONNECTIONS: '1000000' },
      ['warning: MAX_CONNECTIONS; LimitNOFILE'],
    ],
  ],
  'client keys': [
    [
      'expired and expiring keys',
      () =>
        keysFile(
          { id: 'shop', key: 'one', label: 'old', ...expiring(-1) },
          { id: 'shop', key: 'two', label: 'new', ...expiring(365) },
          { id: 'kiosk', key: 'three', label: 'only', ...expiring(13) },
        ),
      ['warning: shop (old); client-key revoke', 'warning: kiosk (only); client-key rotate'],
    ],
    [
      'a malformed file',
      () => ({ CLIENT_KEYS_FILE: fileWithMode('[{"id": "CANARY"') }),
      ['failed: JSON; security.md'],
    ],
  ],
  'token keys': [
    ['one unusable key', () => issuer('ES256', 'RS256', 'EdDSA', 'ES384'), [], 'ok: 3 of 4'],
    ['only unusable keys', () => issuer('ES384'), ['failed: ES256']],
    [
      'an issuer that is down',
      async () => ({
        AUTH_JWKS_URL: `http://127.0.0.1:${await freePort()}/`,
        AUTH_ISSUER: ISSUER,
        AUTH_AUDIENCE: AUDIENCE,
      }),
      ['failed: ECONNREFUSED'],
    ],
  ],
  'file permissions': [
    ['files that only their owner can read', {}, [], 'ok: CLIENT_KEYS_FILE'],
    ...[0o644, 0o602].map((mode): Case => [
      `client keys of mode ${mode.toString(8)}`,
      () => ({ CLIENT_KEYS_FILE: fileWithMode('[]', mode) }),
      [`${mode & 0o002 ? 'failed' : 'warning'}: CLIENT_KEYS_FILE; chmod 600`],
    ]),
  ],
  'audit log': [
    ['a missing folder', { AUDIT_LOG_FILE: '/nowhere/near/audit.log' }, ['failed: /nowhere; mkdir -p']],
  ],
  ports: [
    ['a free port', async () => ({ PORT: String(await freePort()) }), [], 'ok'],
    ['a port that another program uses', async () => ({ PORT: await usedPort() }), ['failed: PORT']],
    [
      'a port for metrics that another program uses',
      async () => ({ METRICS_PORT: await usedPort() }),
      ['skipped: PORT is 0', 'failed: METRICS_PORT'],
    ],
  ],
  'public url': [
    [
      'a gateway on this machine',
      async () => ({ PUBLIC_URL: new URL((await testGateway(NOBODY)).url).origin }),
      ['warning: 127.0.0.1'],
      'ok',
    ],
    ['a host without address', { PUBLIC_URL: 'https://pay.invalid' }, ['failed: PUBLIC_URL; ENOTFOUND']],
  ],
  'service connection': [['a URL where nothing listens', {}, ['failed: 127.0.0.1; ECONNREFUSED']]],
  credentials: [
    ['a URL where nothing listens', {}, ['failed: ECONNREFUSED', 'warning: NTP']],
    [
      'a wrong secret key',
      async () => ({ SERVICE_BASE_URL: (await testSandbox()).url, SERVICE_SECRET_KEY: 'CANARY-secret' }),
      ['failed: "default"; 401'],
    ],
    ['a 400 for every lookup', () => respondingWith(400), ['warning: 400; SERVICE_NOT_FOUND_STATUS'], 'ok'],
    ['a 503 for every lookup', () => respondingWith(503), ['failed: 503'], 'ok'],
    ['a 404 for any API key', () => respondingWith(404), ['warning: 404; 401; SERVICE_BASE_URL'], 'ok'],
    ['a clock 10 minutes behind', () => respondingWith(400, 10 * MINUTE), ['warning', 'failed: behind; NTP']],
    ['a clock a minute ahead', () => respondingWith(400, -MINUTE), ['warning', 'warning: ahead; NTP']],
  ],
  journal: [
    [
      'a file that is not a database',
      () => ({ DATABASE_URL: `file:${fileOf('no database '.repeat(99))}` }),
      ['failed: SQLITE_NOTADB'],
    ],
    ['a missing folder', { DATABASE_URL: 'file:/nowhere/near/journal.db' }, ['failed: /nowhere; mkdir -p']],
  ],
};

describe.each(Object.entries(CASES))('The check "%s" of doctor', (check, cases) => {
  test.each(cases)('reports the expected findings for %s', async (...[, settings, faults, good]: Case) => {
    const own = typeof settings === 'function' ? await settings() : settings;
    const report = await doctor({ ...goodSettings(NOBODY), ...own });
    expect(report.faults(check)).toEqual(faults.map(finding));
    if (good !== undefined) expect(report.good(check)).toContainEqual(finding(good));
    expect(report.text).not.toContain('CANARY');
  });
});

describe('The command `doctor`', () => {
  test('finds no fault with a healthy service and valid settings, and exits with 0', async () => {
    const report = await doctor(goodSettings((await testSandbox()).url));
    expect(report).toMatchObject({ code: 0, failed: 0 });
    for (const { name } of CHECKS)
      expect(report.faults(name).filter((each) => !/^skipped/.test(each))).toEqual([]);
  });

  test('skips the checks of the service with the embedded sandbox, and exits with 0', async () => {
    const sandbox = { SERVICE_BASE_URL: '', SERVICE_API_KEY: '', SERVICE_SECRET_KEY: '' };
    const report = await doctor({ ...goodSettings(NOBODY), ...sandbox });
    expect(report).toMatchObject({ code: 0, failed: 0 });
    for (const check of ['service connection', 'credentials'])
      expect(report.faults(check)).toEqual([finding('skipped')]);
  });

  test('names all malformed settings without their values, and exits with 2', async () => {
    const malformed = { PORT: 'hunter2', LOG_LEVEL: 'hunter3', DATABASE_URL: 'mysql://hunter4/' };
    const env = { ...goodSettings(NOBODY), ...malformed };
    const report = await doctor(env);
    expect(report.code).toBe(2);
    const names = report.findings.map(({ message }) => message.split(':')[0]);
    expect(names.sort()).toEqual(['DATABASE_URL', 'LOG_LEVEL', 'PORT']);
    const { code, out } = await run(['doctor'], env);
    expect(code).toBe(2);
    expect(out).toMatch(/^failed +settings +PORT: /m);
    expect(report.text + out).not.toContain('hunter');
  });

  test('sends one signed lookup for each entry of the credentials, and one with an unknown API key', async () => {
    const fake = await testService();
    const entryOf = (name: string) => ({ apiKey: `key-${name}`, secretKeys: ['secret'] });
    const channels = { [CHANNEL]: entryOf('a'), [OTHER_CHANNEL]: entryOf('b') };
    const SERVICE_CREDENTIALS_FILE = fileOf(JSON.stringify({ channels }));
    const report = await doctor({ ...goodSettings(fake.url), SERVICE_CREDENTIALS_FILE });
    expect(report).toMatchObject({ code: 0, failed: 0 });
    await doctor(goodSettings(fake.url), '--channel', OTHER_CHANNEL);
    const sent = fake.requests.map(({ method, path: to, parameters, headers }) => {
      expect([method, to]).toEqual(['GET', '/api/v1/payment/']);
      return [parameters.get('channel'), headers['x-api-key']];
    });
    // First run: two channels, default credentials, unknown API key. Second run: only the latter two.
    expect(sent).toHaveLength(6);
    expect(sent).toEqual(
      expect.arrayContaining([
        [CHANNEL, 'key-a'],
        [OTHER_CHANNEL, 'key-b'],
        [OTHER_CHANNEL, API_KEY],
      ]),
    );
  });

  test('neither writes to the audit log nor creates a journal', async () => {
    const file = path.join(temporaryFolder(), 'audit.log');
    await writeLog(file, 'a');
    const { size, mtimeMs } = statSync(file);
    const folder = temporaryFolder();
    const env = { AUDIT_LOG_FILE: file, DATABASE_URL: `file:${folder}/data/journal.db` };
    const report = await doctor({ ...goodSettings(NOBODY), ...env });
    expect([...report.faults('audit log'), ...report.faults('journal')]).toEqual([]);
    expect(statSync(file)).toMatchObject({ size, mtimeMs });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('finds no fault while a gateway runs with the same files and port', async () => {
    const env = goodSettings(NOBODY);
    const client = await testGateway(NOBODY, { env });
    const report = await doctor({ ...env, PORT: new URL(client.url).port });
    for (const check of ['ports', 'journal', 'audit log']) expect(report.faults(check)).toEqual([]);
    expect((await client.request('{ __typename }')).status).toBe(200);
  });

  test('stops a check that hangs, and continues after a check that throws', async () => {
    const checks: Check[] = [
      { name: 'slow', run: () => new Promise<never>(() => undefined) },
      { name: 'broken', run: () => Promise.reject(Object.assign(new Error('CANARY'), { code: 'EOTHER' })) },
      { name: 'good', run: () => [{ status: 'ok' as const, code: 'ok', message: 'It is.' }] },
    ];
    const config = readConfig(goodSettings(NOBODY));
    const context = { config, secretFiles: [], channel: undefined, now: Date.now };
    const findings = await runChecks(checks, context, 20);
    expect(findings).toMatchObject([
      { check: 'slow', status: 'failed', code: 'timeout' },
      { check: 'broken', status: 'failed', message: expect.stringContaining('EOTHER') },
      { check: 'good', status: 'ok' },
    ]);
    expect(JSON.stringify(findings)).not.toContain('CANARY');
  });

  test('has exactly the checks that docs/doctor.md lists, in the same order', () => {
    const rows = readPage('docs/doctor.md').rows.filter(({ columns }) => columns[0] === 'check');
    expect(rows.map(({ cells: [name] }) => name)).toEqual(CHECKS.map(({ name }) => name));
  });
});

describe('In the report of doctor, a TLS certificate of the payment service', () => {
  // Keys with self-signed certificates for localhost, which are used only here.
  const pemOf = (name: string): string => readFileSync(path.join(__dirname, 'fixtures', name), 'utf8');
  const before = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(before));

  /** Starts a service with that certificate. */
  async function serviceOf(file: string, isTrusted: boolean): Promise<string> {
    const pem = pemOf(file);
    if (isTrusted) setDefaultCACertificates([...before, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))]);
    const server = createTlsServer({ key: pem, cert: pem }, (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}');
    }).listen(0, 'localhost');
    await once(server, 'listening');
    closeAfterTests({ close: async () => (server.closeAllConnections(), void server.close()) });
    return `https://localhost:${(server.address() as AddressInfo).port}/`;
  }

  test.each([
    [100, 'ok'],
    [10, 'warning'],
    [2, 'failed'],
  ])('that expires in %i days is reported as %s', async (days, status) => {
    const config = readConfig(goodSettings(await serviceOf('localhost.pem', true)));
    const now = (): number => Date.UTC(2120, 0, 1) - (days + 0.5) * DAY;
    const findings = await checkServiceConnection({ config, secretFiles: [], channel: undefined, now });
    expect(findings.at(-1)).toMatchObject({ status, message: expect.stringContaining(`${days} `) });
  });

  test.each([
    ['localhost.pem', false, 'DEPTH_ZERO_SELF_SIGNED_CERT; NODE_EXTRA_CA_CERTS'],
    ['localhost-expired.pem', true, 'CERT_HAS_EXPIRED'],
  ])('that is invalid is reported as a failure: %s (trusted: %j)', async (file, isTrusted, names) => {
    const report = await doctor(goodSettings(await serviceOf(file, isTrusted)));
    expect(report.code).toBe(1);
    expect(report.faults('service connection')).toEqual([finding(`failed: localhost; ${names}`)]);
    expect(report.faults('credentials')[0]).toEqual(finding(`failed: ${names.split('; ')[0]}`));
  });
});
