import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { readConfig } from '../../src/config';
import { serviceConnection } from '../../src/cli/doctor/service-network';
import { temporaryFolder } from '../gateway/fixtures/manifests';
import { CHANNEL, SECRET_KEY, closeAfterTests, testSandbox } from '../support/gateway';
import { scriptedService } from '../support/scripted-service';
import { NOBODY, doctor, goodSettings } from './support/doctor';
import { run } from './support/run';

const OTHER_CHANNEL = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
const CANARY = 'CANARY-secret-key-4711';
const MINUTE = 60_000;

describe('Before a service that is as it should be', () => {
  test('all is well: the exit code is 0, and nothing is created there', async () => {
    const service = await testSandbox();
    const report = await doctor(goodSettings(service.url));
    expect(report).toMatchObject({ code: 0, failed: 0 });
    expect(
      report.findings.filter(({ status, says }) => status === 'warning' && !says.includes('MiB')),
    ).toEqual([]);
    expect(report.of('credentials')).toEqual([
      { check: 'credentials', status: 'ok', says: expect.stringMatching(/"default" is accepted \(404/) },
      { check: 'credentials', status: 'ok', says: "This clock agrees with the service's." },
    ]);
    expect(report.of('service connection')).toMatchObject([{ status: 'ok' }]);
  });

  test('it is asked once for each entry of the credentials, and once with made up ones, by signed lookups only', async () => {
    const service = await scriptedService();
    const file = path.join(temporaryFolder(), 'credentials.json');
    const entry = (name: string) => ({ apiKey: `key-${name}`, secretKeys: ['secret'] });
    const channels = { [CHANNEL]: entry('a'), [OTHER_CHANNEL]: entry('b') };
    writeFileSync(file, JSON.stringify({ channels }), { mode: 0o600 });
    const report = await doctor({ ...goodSettings(service.url), SERVICE_CREDENTIALS_FILE: file });
    expect(report).toMatchObject({ code: 0, failed: 0 });
    const asked = service.seen.map(({ method, path: to, query, headers }) => {
      const { channel } = Object.fromEntries(new URLSearchParams(query));
      return [method, to, channel, headers['x-api-key']];
    });
    expect(asked).toHaveLength(4);
    expect(asked.every(([method, to]) => method === 'GET' && to === '/api/v1/payment/')).toBe(true);
    expect(asked).toContainEqual(['GET', '/api/v1/payment/', CHANNEL, 'key-a']);
    expect(asked).toContainEqual(['GET', '/api/v1/payment/', OTHER_CHANNEL, 'key-b']);
  });

  test('the default credentials are tried on the channel that --channel names', async () => {
    const service = await scriptedService();
    await doctor(goodSettings(service.url), '--channel', OTHER_CHANNEL);
    const asked = service.seen.map(({ query, headers }) => [
      query.includes(`channel=${OTHER_CHANNEL}&`),
      headers['x-api-key'] === service.seen[0]?.headers['x-api-key'],
    ]);
    // The other one is by nobody.
    expect(asked).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});

describe('Where credentials are wrong', () => {
  test('a wrong secret key is found, and not printed', async () => {
    const service = await testSandbox();
    const settings = { ...goodSettings(service.url), SERVICE_SECRET_KEY: CANARY };
    const report = await doctor(settings);
    expect(report.code).toBe(1);
    expect(report.of('credentials')[0]).toMatchObject({
      status: 'failed',
      says: expect.stringContaining('"default" is refused (401)'),
      mend: expect.stringContaining('secret key is wrong'),
    });
    expect(report.text + (await run(['doctor'], settings)).out).not.toContain('CANARY');
  });

  test('the entry of the channel whose key is wrong is named', async () => {
    const service = await scriptedService(({ headers }) => ({
      status: headers['x-api-key'] === 'bad' ? 401 : 404,
      json: {},
    }));
    const file = path.join(temporaryFolder(), 'credentials.json');
    const channels = { [OTHER_CHANNEL]: { apiKey: 'bad', secretKeys: [CANARY] } };
    writeFileSync(file, JSON.stringify({ channels }), { mode: 0o600 });
    const report = await doctor({ ...goodSettings(service.url), SERVICE_CREDENTIALS_FILE: file });
    const says = report.of('credentials').map(({ status, says: text }) => [status, text]);
    expect(says).toContainEqual(['ok', expect.stringContaining('"default"')]);
    expect(says).toContainEqual([
      'failed',
      expect.stringContaining(`"channels.${OTHER_CHANNEL}" is refused`),
    ]);
    expect(report.text).not.toContain('CANARY');
  });

  test('the secret key that the service does not take any more is told of', async () => {
    const service = await testSandbox();
    const file = path.join(temporaryFolder(), 'credentials.json');
    const entry = { apiKey: 'test-api-key', secretKeys: ['the-old-one', SECRET_KEY] };
    writeFileSync(file, JSON.stringify({ default: entry }), { mode: 0o600 });
    const report = await doctor({ ...goodSettings(service.url), SERVICE_CREDENTIALS_FILE: file });
    expect(report.code).toBe(0);
    expect(report.of('credentials')).toContainEqual(
      expect.objectContaining({
        status: 'warning',
        says: 'The service accepts secret key 2 of "default" and refuses the other.',
      }),
    );
  });

  test('a file of credentials that cannot be used is said so', async () => {
    const file = path.join(temporaryFolder(), 'credentials.json');
    writeFileSync(file, `{"default": "${CANARY}"}`, { mode: 0o600 });
    const report = await doctor({ ...goodSettings(NOBODY), SERVICE_CREDENTIALS_FILE: file });
    expect(report.of('credentials')).toMatchObject([
      { status: 'failed', says: expect.stringContaining('SERVICE_CREDENTIALS_FILE: default: expected') },
    ]);
    expect(report.text).not.toContain('CANARY');
  });
});

describe('Where the service answers otherwise', () => {
  test.each([
    [400, 'warning', 'SERVICE_NOT_FOUND_STATUS=400'],
    [200, 'warning', 'Check SERVICE_BASE_URL'],
    [503, 'failed', 'The service is in trouble'],
  ])('with %i it is a finding: %s', async (status, found, mend) => {
    const service = await scriptedService(() => ({ status, json: {} }));
    const report = await doctor(goodSettings(service.url));
    expect(report.of('credentials')[0]).toMatchObject({
      status: found,
      mend: expect.stringContaining(mend),
    });
  });

  test('with 404 to everybody, as any web server does where it has nothing: the address is doubted', async () => {
    const service = await scriptedService(() => ({ status: 404, json: {} }));
    const report = await doctor(goodSettings(`${service.url}wrong/path/`));
    expect(report.of('credentials')).toContainEqual(
      expect.objectContaining({
        status: 'warning',
        says: 'A lookup with an API key that nobody has is answered with 404, and not refused (401).',
        mend: expect.stringContaining('SERVICE_BASE_URL, its path too'),
      }),
    );
    const keys = service.seen.map(({ headers }) => headers['x-api-key']);
    expect(new Set(keys).size).toBe(2);
  });

  test.each([
    [-10 * MINUTE, 'failed', /^This clock is 6\d\d s ahead of the service's\.$/],
    [10 * MINUTE, 'failed', /^This clock is [56]\d\d s behind the service's\.$/],
    [-MINUTE, 'warning', /ahead of/],
  ])('with a clock that is %i ms off: %s', async (offMs, status, says) => {
    const service = await scriptedService(() => ({
      status: 404,
      json: {},
      headers: { date: new Date(Date.now() + offMs).toUTCString() },
    }));
    const report = await doctor(goodSettings(service.url));
    expect(report.of('credentials').at(-1)).toMatchObject({
      status,
      says: expect.stringMatching(says),
      mend: expect.stringContaining('NTP'),
    });
  });

  test('with nothing: no connection, no answer', async () => {
    const report = await doctor(goodSettings(NOBODY));
    expect(report.code).toBe(1);
    expect(report.of('service connection')).toMatchObject([
      { status: 'failed', says: 'No connection to 127.0.0.1, port 1 (ECONNREFUSED).' },
    ]);
    expect(report.of('credentials')[0]).toMatchObject({
      status: 'failed',
      says: expect.stringContaining('got no answer (ECONNREFUSED)'),
    });
  });

  test('with silence: the deadline ends the wait', async () => {
    const service = await scriptedService(() => () => undefined);
    const report = await doctor({ ...goodSettings(service.url), SERVICE_TIMEOUT_MS: '200' });
    expect(report.of('service connection')).toMatchObject([{ status: 'ok' }]);
    expect(report.of('credentials')[0]).toMatchObject({
      status: 'failed',
      says: expect.stringContaining('got no answer (DEADLINE)'),
    });
  });

  test('a name that nobody has is found before all else', async () => {
    const report = await doctor(goodSettings('https://pay.invalid/'));
    expect(report.of('service name')).toMatchObject([
      { status: 'failed', says: expect.stringMatching(/^pay\.invalid has no address \(E\w+\)\.$/) },
    ]);
  });
});

describe('Over TLS', () => {
  // Keys and certificates of nobody: for localhost, signed by themselves, in this folder only.
  const pemOf = (name: string): string => readFileSync(path.join(__dirname, 'fixtures', name), 'utf8');
  const before = getCACertificates('default');
  afterEach(() => setDefaultCACertificates(before));

  /** A service with that certificate, and whether it is trusted here. */
  async function serviceWith(pem: string, { isTrusted }: { isTrusted: boolean }): Promise<string> {
    if (isTrusted) setDefaultCACertificates([...before, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))]);
    const server = createServer({ key: pem, cert: pem }, (_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' });
      response.end('{}');
    }).listen(0, 'localhost');
    await once(server, 'listening');
    closeAfterTests({
      close: async () => {
        server.closeAllConnections();
        server.close();
      },
    });
    return `https://localhost:${(server.address() as AddressInfo).port}/`;
  }

  test('a good certificate is good for so many days', async () => {
    const url = await serviceWith(pemOf('localhost.pem'), { isTrusted: true });
    const report = await doctor(goodSettings(url));
    expect(report.code).toBe(0);
    expect(report.of('service connection').at(-1)).toMatchObject({
      status: 'ok',
      says: expect.stringMatching(/^The certificate of localhost is good for \d+ more days\.$/),
    });
  });

  test.each([
    [10, 'warning'],
    [2, 'failed'],
  ])('one that has %i days left: %s', async (days, status) => {
    const url = await serviceWith(pemOf('localhost.pem'), { isTrusted: true });
    const now = (): number => Date.UTC(2120, 0, 1) - (days + 0.5) * 24 * 60 * MINUTE;
    const config = readConfig(goodSettings(url));
    const findings = await serviceConnection.run({ config, secretFiles: [], channel: undefined, now });
    expect(findings.at(-1)).toMatchObject({
      status,
      says: `The certificate of localhost is good for ${days} more days.`,
    });
  });

  test.each([
    [
      { what: 'signed by itself', file: 'localhost.pem', isTrusted: false },
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'NODE_EXTRA_CA_CERTS',
    ],
    [
      { what: 'expired', file: 'localhost-expired.pem', isTrusted: true },
      'CERT_HAS_EXPIRED',
      'renew its certificate',
    ],
  ])('a certificate that is not good is not accepted: %j', async ({ file, isTrusted }, word, mend) => {
    const url = await serviceWith(pemOf(file), { isTrusted });
    const report = await doctor(goodSettings(url));
    expect(report.code).toBe(1);
    expect(report.of('service connection').at(-1)).toMatchObject({
      status: 'failed',
      says: `The certificate of localhost is not accepted (${word}).`,
      mend: expect.stringContaining(mend),
    });
    expect(report.of('credentials')[0]).toMatchObject({
      status: 'failed',
      says: expect.stringContaining(word),
    });
  });
});

test('with the embedded sandbox it is said which checks do not apply, and the exit code is 0', async () => {
  const {
    SERVICE_BASE_URL: _,
    SERVICE_API_KEY: _key,
    SERVICE_SECRET_KEY: _secret,
    ...settings
  } = goodSettings(NOBODY);
  const report = await doctor(settings);
  expect(report).toMatchObject({ code: 0, failed: 0 });
  for (const check of ['service name', 'service connection', 'credentials'])
    expect(report.of(check)).toMatchObject([
      { status: 'skipped', says: expect.stringContaining('embedded sandbox') },
    ]);
});

test('settings that are wrong are all named, without their values, and the exit code is 2', async () => {
  const env = {
    ...goodSettings(NOBODY),
    PORT: 'hunter2',
    LOG_LEVEL: 'hunter3',
    DATABASE_URL: 'mysql://hunter4/',
  };
  const report = await doctor(env);
  expect(report.code).toBe(2);
  expect(report.findings.map(({ says }) => says.split(':')[0]).sort()).toEqual([
    'DATABASE_URL',
    'LOG_LEVEL',
    'PORT',
  ]);
  const { code, out } = await run(['doctor'], env);
  expect(code).toBe(2);
  expect(out).toMatch(/^failed +settings +PORT: expected/m);
  expect(report.text + out).not.toContain('hunter');
});
