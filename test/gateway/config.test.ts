import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { ConfigError, readConfig, readSandboxConfig, readSettings, type Config } from '../../src/config';
import { DEFAULT_SCHEDULE } from '../../src/operations/watching/schedule';
import { SETTINGS } from '../../src/settings-table';

const REAL = {
  CLIENT_KEYS_FILE: 'clients.json',
  SERVICE_BASE_URL: 'https://pay.example/',
  SERVICE_API_KEY: 'key',
  SERVICE_SECRET_KEY: 'secret',
};

const TOKENS = {
  AUTH_JWKS_URL: 'https://login.example/keys',
  AUTH_ISSUER: 'https://login.example/',
  AUTH_AUDIENCE: 'paygraph',
};

const DAY_MS = 24 * 60 * 60 * 1000;

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

test('With nothing set there is a sandbox, on loopback, and everything may be seen', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 4000,
    sandbox: { port: 4001, anyPortIfTaken: true, control: false },
    introspection: true,
    subgraph: false,
    shutdownDelayMs: 0,
    shutdownGraceMs: 10_000,
    logLevel: 'info',
    service: { baseUrl: '', timeoutMs: 10_000, notFoundStatus: 404 },
    journal: { settleMs: 900_000, preflight: true, keepMs: 30 * DAY_MS },
    live: { maxWatchers: 10_000, maxWatchersPerClient: 1000, heartbeatMs: 15_000 },
    watching: { schedule: DEFAULT_SCHEDULE, outageMs: 300_000 },
    publicUrl: null,
  });
  expect(config.journal.url.reveal()).toBe('file:data/paygraph.db');
});

test('With a real service there is no sandbox, and no introspection unless it is asked for', () => {
  const config = readConfig(REAL);
  expect(config).toMatchObject({
    sandbox: null,
    introspection: false,
    service: { baseUrl: 'https://pay.example/' },
  });
  expect(config.service.apiKey.reveal()).toBe('key');
  expect(config.service.secretKey.reveal()).toBe('secret');
  expect(readConfig({ ...REAL, INTROSPECTION: 'on' }).introspection).toBe(true);
});

const TAKEN: [Record<string, string>, (config: Config) => unknown, unknown][] = [
  [{ HOST: 'localhost' }, ({ host }) => host, 'localhost'],
  [{ HOST: '::1' }, ({ host }) => host, '::1'],
  [{ HOST: '127.0.0.2' }, ({ host }) => host, '127.0.0.2'],
  [{ PORT: '0' }, ({ port }) => port, 0],
  [{ PORT: '65535' }, ({ port }) => port, 65535],
  [{ PORT: '' }, ({ port }) => port, 4000],
  [{ WORKERS: '' }, ({ workers }) => workers, 1],
  [{ WORKERS: '64' }, ({ workers }) => workers, 64],
  [{ SANDBOX_PORT: '4001' }, ({ sandbox }) => sandbox, { port: 4001, anyPortIfTaken: false, control: false }],
  [{ SANDBOX_CONTROL: 'on' }, ({ sandbox }) => sandbox?.control, true],
  [{ INTROSPECTION: 'off' }, ({ introspection }) => introspection, false],
  [{ SUBGRAPH: 'on' }, ({ subgraph }) => subgraph, true],
  [{ SHUTDOWN_DELAY_MS: '300000' }, ({ shutdownDelayMs }) => shutdownDelayMs, 300_000],
  [{ SHUTDOWN_GRACE_MS: '0' }, ({ shutdownGraceMs }) => shutdownGraceMs, 0],
  [{ SERVICE_TIMEOUT_MS: '50' }, ({ service }) => service.timeoutMs, 50],
  [{ SERVICE_TIMEOUT_MS: '120000' }, ({ service }) => service.timeoutMs, 120_000],
  [{ SERVICE_NOT_FOUND_STATUS: '400' }, ({ service }) => service.notFoundStatus, 400],
  [{ LOG_LEVEL: 'silent' }, ({ logLevel }) => logLevel, 'silent'],
  [{ DATABASE_URL: 'file:elsewhere/my.db' }, ({ journal }) => journal.url.reveal(), 'file:elsewhere/my.db'],
  ...[
    'postgres://u:pw@db.example:5432/paygraph',
    'postgresql://db.example/paygraph?sslmode=require',
    'postgresql://u:%23%2F%3F%40@db.example/paygraph?sslmode=no-verify&application_name=shop&connect_timeout=5',
    'postgres://u:p,w@db1.example:5432,[::1]:5433,db3.example/paygraph?target_session_attrs=read-write',
  ].map((url): (typeof TAKEN)[0] => [{ DATABASE_URL: url }, ({ journal }) => journal.url.reveal(), url]),
  [{ UNKNOWN_SETTLE_SECONDS: '1' }, ({ journal }) => journal.settleMs, 1000],
  [{ UNKNOWN_SETTLE_SECONDS: '604800' }, ({ journal }) => journal.settleMs, 604_800_000],
  [{ PAYOUT_PREFLIGHT: 'off' }, ({ journal }) => journal.preflight, false],
  [{ FINGERPRINT_KEY: 'another' }, ({ journal }) => journal.fingerprintKey.reveal(), 'another'],
  [REAL, ({ journal }) => journal.fingerprintKey.reveal(), REAL.SERVICE_SECRET_KEY],
  [{ PUBLIC_URL: 'https://pay.shop.example' }, ({ publicUrl }) => publicUrl, 'https://pay.shop.example'],
  [{ PUBLIC_URL: 'https://Shop.Example/pay//' }, ({ publicUrl }) => publicUrl, 'https://shop.example/pay'],
  [{ PUBLIC_URL: 'http://127.0.0.1:4000/' }, ({ publicUrl }) => publicUrl, 'http://127.0.0.1:4000'],
  [
    { WATCH_PACE_PAYER: '100ms/1s 5s' },
    ({ watching }) => watching.schedule,
    {
      ...DEFAULT_SCHEDULE,
      payer: [
        { everyMs: 100, untilMs: 1000 },
        { everyMs: 5000, untilMs: Infinity },
      ],
    },
  ],
  [
    { WATCH_PACE_PROVIDER: '1h' },
    ({ watching }) => watching.schedule,
    { ...DEFAULT_SCHEDULE, provider: [{ everyMs: 3_600_000, untilMs: Infinity }] },
  ],
  [
    { WATCH_PACE_MISPAID: '2m' },
    ({ watching }) => watching.schedule,
    { ...DEFAULT_SCHEDULE, mispaid: [{ everyMs: 120_000, untilMs: Infinity }] },
  ],
  [{ WATCH_OUTAGE_SECONDS: '0' }, ({ watching }) => watching.outageMs, 0],
  [{ WATCH_OUTAGE_SECONDS: '86400' }, ({ watching }) => watching.outageMs, DAY_MS],
  [{ WATCH_HEARTBEAT_SECONDS: '1' }, ({ live }) => live.heartbeatMs, 1000],
  [{ WATCH_HEARTBEAT_SECONDS: '3600' }, ({ live }) => live.heartbeatMs, 3_600_000],
  [{}, ({ limits }) => limits.maxConnections, null],
  [{ MAX_CONNECTIONS: '500' }, ({ limits }) => limits.maxConnections, 500],
  [{ MAX_CONNECTIONS_PER_ADDRESS: '0' }, ({ limits }) => limits.maxConnectionsPerAddress, 0],
  [{ MAX_UNREAD_BYTES: '1048576' }, ({ limits }) => limits.maxUnreadBytes, 1_048_576],
  [{ MAX_UNREAD_BYTES_PER_CALLER: '1048576' }, ({ limits }) => limits.maxUnreadBytesPerCaller, 1_048_576],
  [{ MAX_WATCHERS: '1' }, ({ live }) => live.maxWatchers, 1],
  [{ MAX_WATCHERS_PER_CLIENT: '1000000' }, ({ live }) => live.maxWatchersPerClient, 1_000_000],
  [{ OTEL_SERVICE_NAME: 'paygraph', OTEL_TRACES_SAMPLER: 'always_on' }, ({ tracing }) => tracing, null],
  ...[
    ['http://collector:4318', 'http://collector:4318/v1/traces'],
    ['https://collector.example/otlp/', 'https://collector.example/otlp/v1/traces'],
  ].map(([base = '', url]): (typeof TAKEN)[0] => [
    { OTEL_EXPORTER_OTLP_ENDPOINT: base, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' },
    ({ tracing }) => tracing,
    {
      url,
      headers: {},
      serviceName: 'paygraph',
      resource: {},
      sampler: 'parentbased_always_on',
      ratio: 1,
    },
  ]),
  [
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=pay, region=eu%2Cwest,empty=',
    },
    ({ tracing }) => [tracing?.serviceName, tracing?.resource],
    ['pay', { region: 'eu,west', empty: '' }],
  ],
  ...['0', '.25', '0.001', '1', '1.0'].map((text): (typeof TAKEN)[0] => [
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_TRACES_SAMPLER_ARG: text },
    ({ tracing }) => tracing?.ratio,
    Number(text),
  ]),
  [{ JOURNAL_RETENTION_DAYS: '30' }, ({ journal }) => journal.keepMs, 30 * DAY_MS],
  [{ JOURNAL_RETENTION_DAYS: '3650' }, ({ journal }) => journal.keepMs, 3650 * DAY_MS],
  [
    { ...REAL, SERVICE_BASE_URL: 'http://127.0.0.1:8080/x/' },
    ({ service }) => service.baseUrl,
    'http://127.0.0.1:8080/x/',
  ],
  [{ ...REAL, SERVICE_BASE_URL: 'http://localhost/' }, ({ service }) => service.baseUrl, 'http://localhost/'],
  [{ ...REAL, SERVICE_BASE_URL: 'http://[::1]:1/' }, ({ service }) => service.baseUrl, 'http://[::1]:1/'],
  [
    { ...REAL, SERVICE_BASE_URL: 'HTTPS://Pay.Example/A/' },
    ({ service }) => service.baseUrl,
    'https://pay.example/A/',
  ],
];

test.each(TAKEN)('%j is taken', (env, of, value) => {
  expect(of(readConfig(env))).toEqual(value);
});

const WRONG: [string, string[]][] = [
  ['HOST', ['two words', 'http://127.0.0.1', 'a/b']],
  ['PORT', ['-1', '65536', '4000.5', '4e3', ' 4000', '0x10', 'http', '٤٠٠٠']],
  ['WORKERS', ['0', '65', '1.5', 'all']],
  ['SANDBOX_PORT', ['-1', '65536', 'any']],
  ['SANDBOX_CONTROL', ['yes', 'true', '1', 'ON']],
  ['INTROSPECTION', ['yes', 'true', '1', 'Off']],
  ['SUBGRAPH', ['yes', 'true', '1', 'On']],
  ['EXPLORER', ['yes', 'true', '1', 'Off']],
  ['SHUTDOWN_DELAY_MS', ['-1', '300001', '10s']],
  ['SHUTDOWN_GRACE_MS', ['-1', '600001', '10s']],
  ['SERVICE_TIMEOUT_MS', ['0', '49', '120001', '10s', 'Infinity']],
  ['SERVICE_NOT_FOUND_STATUS', ['200', '399', '500', 'none']],
  ['SERVICE_NOT_FOUND_FIELDS', ['code message', 'code,,message', '{"code":1}']],
  ['SETTLE_APPROVAL', ['yes', 'true', 'ON']],
  ['LOG_LEVEL', ['loud', 'INFO', 'constructor']],
  ['SERVICE_API_KEY', ['with blank', 'line\nbreak', 'tab\t', 'ключ', 'x'.repeat(1025)]],
  ['SERVICE_SECRET_KEY', ['with blank', 'line\nbreak', 'ключ']],
  ['FINGERPRINT_KEY', ['with blank', 'line\nbreak', 'ключ', 'x'.repeat(1025)]],
  ['UNKNOWN_SETTLE_SECONDS', ['0', '-1', '604801', '900s']],
  ['PAYOUT_PREFLIGHT', ['yes', 'true', '0', 'OFF']],
  ['JOURNAL_RETENTION_DAYS', ['0', '29', '3651', '30d']],
  ['SERVICE_CREDENTIALS_FILE', ['line\nbreak', 'x'.repeat(5000)]],
  ['CLIENT_KEYS_FILE', ['line\nbreak']],
  [
    'AUTH_JWKS_URL',
    ['http://login.example/keys', 'https://u:p@login.example/', 'https://login.example/#a', 'login.example'],
  ],
  ['AUTH_ISSUER', ['line\nbreak']],
  ['AUTH_AUDIENCE', ['line\nbreak']],
  ['AUTH_MAX_TOKEN_LIFETIME_SECONDS', ['0', '59', '1e3', '31536001']],
  ['AUTH_MAX_STALE_KEYS_SECONDS', ['0', '59', 'never', '604801']],
  ['ALLOWED_URL_HOSTS', ['https://shop.example', 'shop.example,,', 'a b', '*', 'shop.*']],
  ['CORS_ORIGINS', ['*', 'shop.test', 'https://shop.test/', 'null', 'https://a.example, b']],
  ['TRUSTED_PROXIES', ['10.0.0.0/33', '10.0.256.0', 'proxy.example', '::1/129', '10.0.0.1/8/8', 'true']],
  ['RATE_LIMIT_PER_MINUTE', ['-1', 'none', '1e3']],
  ['AUDIT_LOG_ROTATE_MB', ['0', '-1', '100001', '1.5', '64M']],
  ['AUDIT_LOG_KEEP_FILES', ['0', '-1', '1001', 'all']],
  ['MAX_CONNECTIONS', ['0', '-1', '1000001', 'all']],
  ['MAX_CONNECTIONS_PER_ADDRESS', ['-1', '1000001', 'half']],
  ['MAX_UNREAD_BYTES', ['0', '1048575', '1000000000', '1MiB']],
  ['MAX_UNREAD_BYTES_PER_CALLER', ['0', '1048575', '1000000000', '1MiB']],
  ['MAX_EVENT_LOOP_LAG_MS', ['-1', '60001', '1s']],
  ['CLIENT_TIMEOUT_MS', ['0', '99', '600001']],
  ['PERSISTED_OPERATIONS', ['line\nbreak']],
  ['PERSISTED_OPERATIONS_FRONTENDS', ['on', 'REQUIRE', 'deny']],
  ['PERSISTED_OPERATIONS_SERVICES', ['off', 'Allow']],
  ['AUDIT_LOG_FILE', ['line\nbreak']],
  [
    'PUBLIC_URL',
    [
      'http://shop.example',
      'https://u:p@shop.example/',
      'https://u@shop.example/',
      'https://shop.example/?a=1',
      'https://shop.example/#a',
      'shop.example',
      'ftp://shop.example',
    ],
  ],
  ['WATCH_PACE_PAYER', ['2', '2s/2m', '99ms', '2s/2m 5s/1m 15s', '2s,5s', '5s 15s', '2s/2m  5s', 'seldom']],
  ['WATCH_PACE_PROVIDER', ['0s', '1s/30s 2s/30s 5s', '1s/30s/60s 2s', '-1s']],
  ['WATCH_PACE_MISPAID', ['1.5s', '1d', '15s/0s 60s']],
  ['WATCH_OUTAGE_SECONDS', ['-1', '86401', '5m', 'never']],
  ['WATCH_HEARTBEAT_SECONDS', ['0', '-1', '3601', '15s']],
  ['METRICS_TOKEN', ['with blank', 'line\nbreak', 'x'.repeat(1025)]],
  ['MAX_WATCHERS', ['0', '-1', '1000001', 'all']],
  ['MAX_WATCHERS_PER_CLIENT', ['0', '1000001', '1e3']],
  ...['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'].map((name): [string, string[]] => [
    name,
    [
      'http://u:p@collector.example:4318',
      'https://key@collector.example/',
      'http://collector.example/?key=a',
      'http://collector.example/#a',
      'grpc://collector.example:4317',
      'collector:4318',
      'localhost',
    ],
  ]),
  ['OTEL_EXPORTER_OTLP_PROTOCOL', ['grpc', 'http/json', 'HTTP/protobuf']],
  [
    'OTEL_EXPORTER_OTLP_HEADERS',
    [
      'x-key',
      'x-key=',
      '=hidden',
      'a=1,,b=2',
      'x key=hidden',
      'x-key=%0d%0ahidden',
      'x-key=%zz',
      'Host=hidden',
    ],
  ],
  ['OTEL_SERVICE_NAME', ['line\nbreak']],
  ['OTEL_RESOURCE_ATTRIBUTES', ['region', '=eu', 'a=1,,b=2', 'a=%0a', 'a=%zz', 'two words=1']],
  ['OTEL_TRACES_SAMPLER', ['on', 'AlwaysOn', 'jaeger_remote', 'xray']],
  ['OTEL_TRACES_SAMPLER_ARG', ['-1', '1.1', '2', '50%', '1e-3', 'half']],
  [
    'DATABASE_URL',
    [
      'file:with blank.db',
      'file:a.db?mode=memory',
      'file:a.db#x',
      'data/paygraph.db',
      'mysql://u:pw@db.example/paygraph',
      'postgres://[/',
      'postgres:db.example',
      'postgres://u:hidden%zz@db.example/paygraph',
      'postgres://u:hidden@db.example:65536/paygraph',
      'postgres://u:hidden@db1.example:5432,db2.example:none/paygraph',
      'postgres://u:hidden@db1.example,/paygraph',
      'postgres://u:hidden@db1.example,db2.example/paygraph?target_session_attrs=standby',
      'postgres://u:hidden@db1.example,db2.example/paygraph?target_session_attrs=any',
      'postgres://u:hidden@db1.example,db2.example/paygraph?load_balance_hosts=random',
      'postgres://u:hidden@db.example/paygraph?sslmode=dissable',
      'postgres://u:hidden@db.example/paygraph?sslmode=verify-full&sslmode=hidden',
      'postgres://u:hidden@db.example/paygraph?sslmod=require',
      'postgres://u:hidden@db.example/paygraph?constructor=hidden',
      ...['#', '/', '?', '@a/', '12/', '@a?b&'].map(
        (text) => `postgres://u:${text}hidden@db.example/paygraph`,
      ),
      'postgres://u:hidden@db1.example,db2.example/paygraph?connect_timeout=never',
      'postgres://u:hidden@db1.example,db2.example/paygraph?host=db3.example',
      'postgres://u:hidden@db.example/paygraph?sslrootcert=/nowhere/hidden.pem',
      'sqlite::memory:',
    ],
  ],
  [
    'SERVICE_BASE_URL',
    [
      'http://pay.example/',
      'http://127.0.0.1.example/',
      'http://localhost.example/',
      'http://10.0.0.1/',
      'https://pay.example',
      'https://pay.example/api',
      'https://pay.example/?x=/',
      'https://pay.example/#/',
      'https://user:pw@pay.example/',
      'https://user@pay.example/',
      'ftp://pay.example/',
      'javascript:alert(1)/',
      'pay.example/',
      '/api/',
      'https://',
    ],
  ],
];

test('DATABASE_URL: names an unknown parameter or value, and the known ones', () => {
  const faultOf = (parameters: string) =>
    faultsOf({ ...REAL, DATABASE_URL: `postgres://u@db1.example,db2.example/paygraph?${parameters}` })[0];
  expect(faultOf('sslmod=require')).toMatch(/\bsslmod\b.*\bsslmode\b/);
  expect(faultOf('aplication_name=shop')).toMatch(/\baplication_name\b.*\bapplication_name\b/);
  expect(faultOf('sslmode=dissable')).toMatch(/\bsslmode\b.*\bdisable\b/);
  expect(faultOf('target_session_attrs=any')).toMatch(/\btarget_session_attrs\b.*\bread-write\b/);
});

test('DATABASE_URL: names unencoded reserved characters of a password as the fault', () => {
  for (const text of ['#', '/', '?'])
    expect(faultsOf({ ...REAL, DATABASE_URL: `postgres://u:se${text}cret@db.example/paygraph` })).toEqual([
      expect.stringContaining('%2F'),
    ]);
});

test.each(WRONG.flatMap(([name, values]) => values.map((value): [string, string] => [name, value])))(
  '%s=%j is refused, its value not printed',
  (name, value) => {
    const others = name.startsWith('AUTH_') ? { ...REAL, ...TOKENS } : REAL;
    const faults = faultsOf({ ...others, [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^${name}: expected .+\\.$`));
    if (value.length > 3) expect(faults[0]).not.toContain(value);
    expect(faults[0]).not.toContain('hidden');
  },
);

test.each(['file:', 'postgres://'])('A DATABASE_URL that says no more than %s is refused', (value) => {
  expect(faultsOf({ ...REAL, DATABASE_URL: value })).toEqual([
    expect.stringMatching(/^DATABASE_URL: expected /),
  ]);
});

test('Every fault is told at once, in one error', () => {
  const env = Object.fromEntries(WRONG.map(([name, [value = '']]) => [name, value]));
  const faults = faultsOf(env);
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(Object.keys(env).sort());
  expect(Object.keys(env).sort()).toEqual(Object.keys(SETTINGS).sort());
});

test.each(['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'])('A real service needs %s', (name) => {
  expect(faultsOf({ ...REAL, [name]: '' })).toEqual([
    expect.stringMatching(`^${name}: required with SERVICE_BASE_URL`),
  ]);
});

test('Both credentials are asked for at once', () => {
  const { SERVICE_BASE_URL, CLIENT_KEYS_FILE } = REAL;
  expect(faultsOf({ SERVICE_BASE_URL, CLIENT_KEYS_FILE })).toHaveLength(2);
});

test('A real service needs callers to be told apart, and it is said how', () => {
  const { CLIENT_KEYS_FILE: _, ...unguarded } = REAL;
  expect(faultsOf(unguarded)).toEqual([
    expect.stringMatching(/^CLIENT_KEYS_FILE: required with SERVICE_BASE_URL, or else AUTH_JWKS_URL/),
  ]);
  expect(faultsOf({ ...unguarded, ...TOKENS })).toEqual([]);
});

test.each(['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'])('Tokens need %s', (name) => {
  expect(faultsOf({ ...REAL, ...TOKENS, [name]: '' })).toEqual([
    expect.stringMatching(new RegExp(`^${name}: required with AUTH_`)),
  ]);
});

test('Credentials per channel stand in for the two keys, but not for the key of the fingerprints', () => {
  const { SERVICE_API_KEY: _a, SERVICE_SECRET_KEY: _s, ...rest } = REAL;
  const env = { ...rest, SERVICE_CREDENTIALS_FILE: 'credentials.json' };
  expect(faultsOf(env)).toEqual([expect.stringMatching(/^FINGERPRINT_KEY: required/)]);
  expect(faultsOf({ ...env, FINGERPRINT_KEY: 'other' })).toEqual([]);
});

describe('A HOST that others can reach', () => {
  test.each(['0.0.0.0', '::', '192.168.1.5', 'gateway.example', '127.0.0.1.example', 'localhost.example'])(
    '(%s) is taken only where callers are told apart',
    (HOST) => {
      expect(faultsOf({ HOST })).toEqual([expect.stringMatching(/^HOST: expected a loopback address/)]);
      expect(readConfig({ ...REAL, HOST }).host).toBe(HOST);
    },
  );
});

test('Limits differ before a real service and before the sandbox', () => {
  expect(readConfig(REAL).limits).toMatchObject({
    corsOrigins: [],
    ratePerMinute: 60_000,
    maxEventLoopLagMs: 1000,
    clientTimeoutMs: 15_000,
    persisted: { manifest: null, frontends: 'require', services: 'allow' },
  });
  const { corsOrigins, ratePerMinute } = readConfig({}).limits;
  expect(corsOrigins.every((origin) => origin.endsWith('.apollographql.com'))).toBe(true);
  expect(ratePerMinute).toBe(0);
});

describe('A credential in a file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-config-'));
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };

  afterAll(() => rmSync(folder, { recursive: true }));

  const fromFile = (SERVICE_SECRET_KEY_FILE: string) => ({
    ...REAL,
    SERVICE_SECRET_KEY: '',
    SERVICE_SECRET_KEY_FILE,
  });

  test.each([
    ['as it is', 'from-file'],
    ['without the newline at its end', 'from-file\n'],
    ['without the newline of Windows', 'from-file\r\n'],
  ])('is read %s', (_how, text) => {
    expect(readConfig(fromFile(file('good', text))).service.secretKey.reveal()).toBe('from-file');
  });

  test.each([
    ['empty', ''],
    ['of two lines', 'one\ntwo\n'],
    ['with a blank', 'one two'],
  ])('is refused when it is %s, and not printed', (_how, text) => {
    const faults = faultsOf(fromFile(file('bad', text)));
    expect(faults).toEqual([expect.stringMatching(/^SERVICE_SECRET_KEY(_FILE)?: expected/)]);
    expect(faults.join()).not.toMatch(/one|two/);
  });

  test('is refused when the file cannot be read, and neither name nor content is printed', () => {
    const faults = faultsOf(fromFile(path.join(folder, 'nosuch')));
    expect(faults).toEqual([
      expect.stringMatching(/^SERVICE_SECRET_KEY_FILE: expected a file that can be read/),
    ]);
    expect(faults.join()).not.toContain(folder);
  });
});

test('The settings of a worker are those of the first process, with what its files held', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-config-'));
  const SERVICE_SECRET_KEY_FILE = path.join(folder, 'key');
  writeFileSync(SERVICE_SECRET_KEY_FILE, 'from-file\n');
  const env = { ...REAL, SERVICE_SECRET_KEY: '', SERVICE_SECRET_KEY_FILE, PORT: '4005', HOME: '/root' };
  const settings = readSettings(env);
  rmSync(folder, { recursive: true });
  expect(settings).toMatchObject({ PORT: '4005', SERVICE_SECRET_KEY: 'from-file' });
  expect(settings).not.toHaveProperty('HOME');
  const config = readConfig(settings);
  expect(config.service.secretKey.reveal()).toBe('from-file');
  expect(() => readSettings(env)).toThrow(ConfigError);
});

test('However the settings are printed, the credentials do not show', () => {
  const config = readConfig({
    ...REAL,
    SERVICE_API_KEY: 'hidden-key-1',
    SERVICE_SECRET_KEY: 'hidden-key-2',
    FINGERPRINT_KEY: 'hidden-key-3',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden-key-5',
  });
  const printed = [
    inspect(config, { depth: 9, showHidden: true }),
    JSON.stringify(config),
    `${config.service.apiKey}`,
  ];
  printed.forEach((text) => expect(text).not.toMatch(/hidden-key/));
});

test('However the settings are printed, the password of the database does not show', () => {
  const { journal } = readConfig({ DATABASE_URL: 'postgres://paygraph:hidden-key-4@db.example/paygraph' });
  for (const text of [inspect(journal, { depth: 9 }), JSON.stringify(journal)]) {
    expect(text).not.toMatch(/hidden-key/);
  }
});

test.each([
  ['CLIENT_KEY_FILE', 'did you mean CLIENT_KEYS_FILE?'],
  ['WORKER', 'did you mean WORKERS?'],
  ['LOG_LEVLE', 'did you mean LOG_LEVEL?'],
  ['SERVICE_TIMOUT_MS', 'did you mean SERVICE_TIMEOUT_MS?'],
  ['UNKOWN_SETTLE_SECONDS', 'did you mean UNKNOWN_SETTLE_SECONDS?'],
  ['WATCH_SOMETHING_ELSE', 'see docs/configuration.md.'],
])('A name that is nearly one of ours is warned of, and nothing else is: %s', (name, hint) => {
  const others = { HOSTNAME: 'pod-1', PATH: '/bin', LOGNAME: 'root', PORTS: '1', HOSTS: 'a' };
  expect(readConfig({ ...others, [name]: 'x' }).warnings).toEqual([
    `${name} is no setting of paygraph: ${hint}`,
  ]);
});

/** A name with one letter left out, doubled, exchanged with the next, or replaced, at each of its places. */
const misspelt = (name: string): string[] =>
  [...name].flatMap((letter, place) => {
    const [before, after] = [name.slice(0, place), name.slice(place + 1)];
    const swapped = before + after.slice(0, 1) + letter + after.slice(1);
    return [before + after, before + letter + letter + after, swapped, `${before}X${after}`];
  });

const LONG_NAMES = Object.keys(SETTINGS).filter((name) => name.length >= 7);

test.each(LONG_NAMES)('A name one letter off %s causes a warning', (name) => {
  const known = new Set(Object.keys(SETTINGS).flatMap((each) => [each, `${each}_FILE`]));
  const typos = [...new Set(misspelt(name))].filter((typo) => !known.has(typo) && typo.length >= 6);
  const { warnings } = readConfig(Object.fromEntries(typos.map((typo) => [typo, 'x'])));
  const warned = warnings.map((warning) => warning.split(' ')[0]);
  expect(warned.sort()).toEqual(typos.sort());
});

test.each([
  ['SHUTDWN_DELAY_MS', 'SHUTDOWN_DELAY_MS'],
  ['MAX_CONECTIONS', 'MAX_CONNECTIONS'],
  ['MX_CONECTIONS', 'MAX_CONNECTIONS'],
  ['MAX_WATCHER', 'MAX_WATCHERS'],
])('The name nearest to %s is suggested: %s', (typo, meant) => {
  expect(readConfig({ [typo]: '5' }).warnings).toEqual([expect.stringContaining(`${meant}?`)]);
});

test('A misspelt name is named beside the faults of the settings', () => {
  expect(() => readConfig({ ...REAL, PORT: 'any', SHUTDWN_DELAY_MS: '5' })).toThrow(
    /PORT: [^]*SHUTDOWN_DELAY_MS\?/,
  );
});

/** What shells, npm, containers and build machines set. */
const FOREIGN =
  `PATH HOME USER SHELL PWD OLDPWD LANG LANGUAGE LC_ALL TERM COLORTERM TZ TMPDIR TEMP EDITOR VISUAL PAGER DISPLAY
  LOGNAME MAIL SHLVL HOSTNAME HOSTTYPE MACHTYPE OSTYPE COLUMNS LINES PS1 IFS SSH_AUTH_SOCK SSH_CONNECTION SSH_CLIENT SSH_TTY
  SUDO_USER XDG_RUNTIME_DIR XDG_SESSION_ID DBUS_SESSION_BUS_ADDRESS INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET LISTEN_FDS
  LISTEN_PID WATCHDOG_USEC MAINPID MEMORY_PRESSURE_WATCH CI DEBUG VERBOSE DRY_RUN VERSION RELEASE BRANCH COMMIT ENV STAGE
  ENVIRONMENT REGION NODE NODE_ENV NODE_OPTIONS NODE_PATH NODE_VERSION NODE_EXTRA_CA_CERTS NODE_COMPILE_CACHE NO_COLOR
  FORCE_COLOR UV_THREADPOOL_SIZE YARN_VERSION INIT_CWD npm_command npm_config_cache npm_config_loglevel npm_config_user_agent
  npm_execpath npm_lifecycle_event npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name
  npm_package_version HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy ALL_PROXY SSL_CERT_FILE SSL_CERT_DIR
  PGHOST PGPORT PGUSER PGDATABASE PGPASSWORD PGSSLMODE POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB REDIS_URL REDIS_HOST
  REDIS_PORT MYSQL_PORT DB_URL DB_HOST DB_PORT APP_PORT WEB_PORT API_PORT HTTP_PORT HTTPS_PORT GRPC_PORT ADMIN_PORT PORTS HOSTS
  LOG_FORMAT LOG_FILE LOG_DIR LOGLEVEL LOG_LEVELS_DIR AWS_REGION AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
  GOOGLE_APPLICATION_CREDENTIALS GITHUB_ACTIONS GITHUB_TOKEN GITHUB_SHA GITLAB_CI CI_COMMIT_SHA JENKINS_URL BUILD_NUMBER
  POD_NAME POD_NAMESPACE POD_IP NODE_NAME NAMESPACE KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_PORT
  KUBERNETES_SERVICE_PORT_HTTPS KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_PROTO KUBERNETES_PORT_443_TCP_ADDR
  REDIS_SERVICE_HOST REDIS_SERVICE_PORT REDIS_PORT_6379_TCP REDIS_PORT_6379_TCP_ADDR PAYMENTS_PORT WORKER_PORT
  METRICS_SERVICE_HOST METRICS_PORT_9090_TCP AUDIT_LOG_SERVICE_HOST AUDIT_LOG_SERVICE_PORT_HTTP AUTH_PORT_80_TCP_PROTO
  SANDBOX_SERVICE_PORT DATABASE_PORT_5432_TCP_ADDR`.split(/\s+/);

test('Variables of other programs cause no warning', () => {
  // LOGLEVEL may be a mistake: it means the same as LOG_LEVEL.
  const foreign = FOREIGN.filter((name) => name !== 'LOGLEVEL');
  const env = Object.fromEntries(foreign.map((name) => [name, 'x']));
  const links = { DATABASE_PORT: 'tcp://10.0.0.1:5432', AUTH_PORT: 'tcp://10.0.0.2:80' };
  expect(readConfig({ ...env, ...links }).warnings).toEqual([]);
});

test('The sandbox as a program of its own takes none of the settings of a gateway before it', () => {
  const { sandbox } = readSandboxConfig({
    ...REAL,
    PORT: 'any',
    SANDBOX_PORT: '4301',
    SANDBOX_CONTROL: 'on',
  });
  expect(sandbox).toEqual({ port: 4301, anyPortIfTaken: false, control: true });
});

test('The settings cannot be changed afterwards', () => {
  expect(Object.isFrozen(readConfig({}))).toBe(true);
});

test('Every setting says what it is for, what is expected and what holds when it is not set', () => {
  for (const { about, expected, unset } of Object.values(SETTINGS)) {
    expect([about, expected, unset].every((text) => text.length > 0)).toBe(true);
  }
});
