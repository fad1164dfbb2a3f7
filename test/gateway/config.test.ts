import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { inspect } from 'node:util';
import { ConfigError, readConfig, readStandaloneSandboxConfig } from '../../src/config';
import { SETTINGS } from '../../src/config/env-vars';
import { temporaryFolder } from '../support/cleanup';

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
    if (error instanceof ConfigError) return error.errors;
    throw error;
  }
  return [];
}

test('A gateway without settings listens on loopback, starts the sandbox and allows introspection', () => {
  const config = readConfig({});
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 4000,
    sandbox: { port: 4001, anyPortIfTaken: true, servesControlPlane: false },
    introspection: true,
    subgraph: false,
    shutdownDelayMs: 0,
    shutdownGraceMs: 10_000,
    logLevel: 'info',
    service: { baseUrl: '', timeoutMs: 10_000, notFoundStatus: 404 },
    journal: { settleMs: 900_000, payoutPreflight: true, keepMs: 30 * DAY_MS },
    subscriptions: { maxSubscriptions: 10_000, maxSubscriptionsPerClient: 1000, heartbeatMs: 15_000 },
    pollSettings: {
      intervalsByPhase: { payer: { length: 4 }, provider: { length: 5 }, mispaid: { length: 2 } },
      maxOutageMs: 300_000,
    },
    publicUrl: null,
  });
  expect(config.journal.url.reveal()).toBe('file:data/paygraph.db');
});

test('With SERVICE_BASE_URL set no sandbox is started, and introspection is off unless INTROSPECTION=on', () => {
  const config = readConfig(REAL);
  expect(config).toMatchObject({ sandbox: null, introspection: false });
  expect(config.service.baseUrl).toBe('https://pay.example/');
  expect(config.service.apiKey.reveal()).toBe('key');
  expect(config.service.secretKey.reveal()).toBe('secret');
  expect(readConfig({ ...REAL, INTROSPECTION: 'on' }).introspection).toBe(true);
});

const TRACING = {
  tracesUrl: 'https://collector/otlp/v1/traces',
  headers: {},
  otelServiceName: 'paygraph',
  resourceAttributes: {},
  sampler: 'parentbased_always_on',
  samplingRatio: 1,
};
const OTLP = 'https://collector/otlp/';

const TAKEN: [env: Record<string, string>, property: string, value: unknown][] = [
  [{ HOST: '127.0.0.2' }, 'host', '127.0.0.2'],
  [{ PORT: '65535' }, 'port', 65535],
  [{ PORT: '' }, 'port', 4000],
  [{ REUSE_PORT: 'on' }, 'reusePort', true],
  [{ METRICS_PORT: '9464' }, 'metricsPort', 9464],
  [{ SANDBOX_PORT: '4001' }, 'sandbox', { port: 4001, anyPortIfTaken: false, servesControlPlane: false }],
  [{ SANDBOX_CONTROL: 'on' }, 'sandbox.servesControlPlane', true],
  [{ INTROSPECTION: 'off' }, 'introspection', false],
  [{ SUBGRAPH: 'on' }, 'subgraph', true],
  [{ SHUTDOWN_DELAY_MS: '300000' }, 'shutdownDelayMs', 300_000],
  [{ SHUTDOWN_GRACE_MS: '0' }, 'shutdownGraceMs', 0],
  [{ SERVICE_TIMEOUT_MS: '50' }, 'service.timeoutMs', 50],
  [{ SERVICE_NOT_FOUND_STATUS: '400' }, 'service.notFoundStatus', 400],
  [{ LOG_LEVEL: 'silent' }, 'logLevel', 'silent'],
  [{ UNKNOWN_SETTLE_SECONDS: '604800' }, 'journal.settleMs', 604_800_000],
  [{ FENCE_SECONDS: '60' }, 'journal.fenceMs', 60_000],
  [{ PAYOUT_PREFLIGHT: 'off' }, 'journal.payoutPreflight', false],
  [{ JOURNAL_RETENTION_DAYS: '3650' }, 'journal.keepMs', 3650 * DAY_MS],
  [{ PUBLIC_URL: 'https://Shop.Example/pay//' }, 'publicUrl', 'https://shop.example/pay'],
  [{ PUBLIC_URL: 'http://127.0.0.1:4000/' }, 'publicUrl', 'http://127.0.0.1:4000'],
  [
    { POLL_INTERVALS_PAYER: '100ms/1s 5s', POLL_INTERVALS_PROVIDER: '1h', POLL_INTERVALS_MISPAID: '2m' },
    'pollSettings.intervalsByPhase',
    {
      payer: [
        { everyMs: 100, untilMs: 1000 },
        { everyMs: 5000, untilMs: Infinity },
      ],
      provider: [{ everyMs: 3_600_000, untilMs: Infinity }],
      mispaid: [{ everyMs: 120_000, untilMs: Infinity }],
    },
  ],
  [{ SUBSCRIPTION_OUTAGE_SECONDS: '86400' }, 'pollSettings.maxOutageMs', DAY_MS],
  [{ SUBSCRIPTION_PING_SECONDS: '3600' }, 'subscriptions.heartbeatMs', 3_600_000],
  [{}, 'limits.maxConnections', null],
  [{ MAX_CONNECTIONS: '500' }, 'limits.maxConnections', 500],
  [{ MAX_CONNECTIONS_PER_ADDRESS: '0' }, 'limits.maxConnectionsPerAddress', 0],
  [{ MAX_UNREAD_BYTES: '1048576' }, 'limits.maxUnreadBytes', 1_048_576],
  [{ MAX_UNREAD_BYTES_PER_CALLER: '1048576' }, 'limits.maxUnreadBytesPerCaller', 1_048_576],
  [{ MAX_SUBSCRIPTIONS: '1' }, 'subscriptions.maxSubscriptions', 1],
  [{ MAX_SUBSCRIPTIONS_PER_CLIENT: '1000000' }, 'subscriptions.maxSubscriptionsPerClient', 1_000_000],
  [{ OTEL_SERVICE_NAME: 'paygraph', OTEL_TRACES_SAMPLER: 'always_on' }, 'tracing', null],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: OTLP, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, 'tracing', TRACING],
  [
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: OTLP,
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=pay, region=eu%2Cwest,empty=',
      OTEL_TRACES_SAMPLER_ARG: '.25',
    },
    'tracing',
    {
      ...TRACING,
      otelServiceName: 'pay',
      resourceAttributes: { region: 'eu,west', empty: '' },
      samplingRatio: 0.25,
    },
  ],
  [{ ...REAL, SERVICE_BASE_URL: 'http://[::1]:1/x/' }, 'service.baseUrl', 'http://[::1]:1/x/'],
  [{ ...REAL, SERVICE_BASE_URL: 'HTTPS://Pay.Example/A/' }, 'service.baseUrl', 'https://pay.example/A/'],
];

test.each(TAKEN)('The environment variables %j set the config property %s to %j', (env, property, value) => {
  expect(readConfig(env)).toHaveProperty(property, value);
});

test('DATABASE_URL and FINGERPRINT_KEY are read unchanged, and FINGERPRINT_KEY defaults to SERVICE_SECRET_KEY', () => {
  for (const url of [
    'file:elsewhere/my.db',
    'postgresql://u:%23%2F%3F%40@db.example/paygraph?sslmode=no-verify&application_name=shop&connect_timeout=5',
    'postgres://u:p,w@db1.example:5432,[::1]:5433,db3.example/paygraph?target_session_attrs=read-write',
  ])
    expect(readConfig({ DATABASE_URL: url }).journal.url.reveal()).toBe(url);
  expect(readConfig({ FINGERPRINT_KEY: 'another' }).journal.fingerprintKey.reveal()).toBe('another');
  expect(readConfig(REAL).journal.fingerprintKey.reveal()).toBe(REAL.SERVICE_SECRET_KEY);
});

const SWITCHES = `REUSE_PORT SANDBOX_CONTROL INTROSPECTION SUBGRAPH EXPLORER SETTLE_APPROVAL PAYOUT_PREFLIGHT`;
const SECRETS = 'SERVICE_API_KEY SERVICE_SECRET_KEY FINGERPRINT_KEY AUDIT_LOG_KEY METRICS_TOKEN';
const TEXTS = `SERVICE_CREDENTIALS_FILE CLIENT_KEYS_FILE AUTH_ISSUER AUTH_AUDIENCE PERSISTED_OPERATIONS AUDIT_LOG_FILE
  OTEL_SERVICE_NAME`;

const words = (text: string): string[] => text.split(/\s+/);
const each = (names: string, values: string[]): [string, string[]][] =>
  words(names).map((name) => [name, values]);

const WRONG: [string, string[]][] = [
  ...each(SWITCHES, ['yes', 'true', '1', 'ON']),
  ...each(SECRETS, ['with blank', 'line\nbreak', 'tab\t', 'ключ', 'x'.repeat(1025)]),
  ...each(TEXTS, ['line\nbreak', 'x'.repeat(5000)]),
  ...each('MAX_UNREAD_BYTES MAX_UNREAD_BYTES_PER_CALLER', words('0 1048575 1000000000 1MiB')),
  ['HOST', ['two words', 'http://127.0.0.1', 'a/b']],
  ['PORT', ['-1', '65536', '4000.5', '4e3', ' 4000', '٤٠٠٠']],
  ['METRICS_PORT', words('65536 -1')],
  ['SANDBOX_PORT', words('-1 65536 any')],
  ['SHUTDOWN_DELAY_MS', words('-1 300001 10s')],
  ['SHUTDOWN_GRACE_MS', words('-1 600001')],
  ['SERVICE_TIMEOUT_MS', words('0 49 120001 Infinity')],
  ['SERVICE_NOT_FOUND_STATUS', words('200 399 500 none')],
  ['SERVICE_NOT_FOUND_FIELDS', ['code message', 'code,,message', '{"code":1}']],
  ['LOG_LEVEL', words('loud INFO constructor')],
  ['UNKNOWN_SETTLE_SECONDS', words('0 -1 604801')],
  ['FENCE_SECONDS', words('59 -1 2592001')],
  ['FOLLOW_DAYS', words('-1 31 0.5')],
  ['FOLLOW_LOOKUPS_PER_SECOND', words('0 1001 5/s')],
  ['CHANGES_RETENTION_DAYS', words('0 3651 30d')],
  ['JOURNAL_RETENTION_DAYS', words('0 29 3651')],
  ['AUTH_JWKS_URL', words(`http://a.test/keys https://u:p@a.test/ https://a.test/#a file:///hidden.json`)],
  ['AUTH_MAX_TOKEN_LIFETIME_SECONDS', words('59 1e3 31536001')],
  ['AUTH_MAX_STALE_KEYS_SECONDS', words('59 never 604801')],
  ['ALLOWED_URL_HOSTS', ['https://shop.example', 'shop.example,,', 'a b', '*', 'shop.*']],
  ['CORS_ORIGINS', ['*', 'shop.test', 'https://shop.test/', 'null', 'https://a.example, b']],
  ['TRUSTED_PROXIES', words('10.0.0.0/33 10.0.256.0 proxy.example ::1/129 10.0.0.1/8/8 true')],
  ['RATE_LIMIT_PER_MINUTE', words('-1 none 1e3')],
  ['AUDIT_LOG_ROTATE_MB', words('0 100001 1.5')],
  ['AUDIT_LOG_KEEP_FILES', words('0 1001 all')],
  ['MAX_CONNECTIONS', words('0 1000001 all')],
  ['MAX_CONNECTIONS_PER_ADDRESS', words('-1 1000001 half')],
  ['MAX_EVENT_LOOP_LAG_MS', words('-1 60001 1s')],
  ['CLIENT_TIMEOUT_MS', words('0 99 600001')],
  ['PERSISTED_OPERATIONS_FRONTENDS', words('on REQUIRE deny')],
  ['PERSISTED_OPERATIONS_SERVICES', words('off Allow')],
  ['PUBLIC_URL', words(`http://a.test https://u:p@a.test/ https://a.test/?a=1 https://a.test/#a a.b`)],
  ['POLL_INTERVALS_PAYER', ['2', '2s/2m', '99ms', '2s/2m 5s/1m 15s', '2s,5s', '5s 15s', '2s/2m  5s', 'none']],
  ['POLL_INTERVALS_PROVIDER', ['0s', '1s/30s 2s/30s 5s', '1s/30s/60s 2s', '-1s']],
  ['POLL_INTERVALS_MISPAID', ['1.5s', '1d', '15s/0s 60s', '1s/1h 999h']],
  ['SUBSCRIPTION_OUTAGE_SECONDS', words('-1 86401 5m')],
  ['SUBSCRIPTION_PING_SECONDS', words('0 3601 15s')],
  ['MAX_SUBSCRIPTIONS', words('0 1000001 all')],
  ['MAX_SUBSCRIPTIONS_PER_CLIENT', words('0 1000001 1e3')],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', words('http://u:p@otel.example http://otel.example/?key=a grpc://a')],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', words('https://key@otel.example/ http://otel.example/#a localhost')],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', words('grpc http/json HTTP/protobuf')],
  ['OTEL_EXPORTER_OTLP_HEADERS', words('x-key =hidden a=1,,b=2 x-key=%0d%0ahidden x-key=%zz Host=hidden')],
  ['OTEL_RESOURCE_ATTRIBUTES', ['region', '=eu', 'a=1,,b=2', 'a=%0a', 'a=%zz', 'two words=1']],
  ['OTEL_TRACES_SAMPLER', words('on AlwaysOn xray')],
  ['OTEL_TRACES_SAMPLER_ARG', words('-1 1.1 2 50% 1e-3 half')],
  [
    'DATABASE_URL',
    [
      'file:with blank.db',
      ...words(`file:a.db?mode=memory data/paygraph.db mysql://u:pw@db.example/paygraph postgres://[/ sqlite::memory:
        postgres://u:hidden%zz@db.example/paygraph postgres://u:12/hidden@db.example/paygraph
        postgres://u:#hidden@db.example/paygraph postgres://u:@a?b&hidden@db.example/paygraph
        postgres://u:hidden@db1.example:5432,db2.example:none/paygraph postgres://u:hidden@db1.example,/paygraph
        postgres://u:hidden@db1.example,db2.example/paygraph?target_session_attrs=any
        postgres://u:hidden@db.example/paygraph?sslmode=verify-full&sslmode=hidden
        postgres://u:hidden@db.example/paygraph?constructor=hidden
        postgres://u:hidden@db1.example,db2.example/paygraph?host=db3.example
        postgres://u:hidden@db.example/paygraph?sslrootcert=/nowhere/hidden.pem`),
    ],
  ],
  [
    'SERVICE_BASE_URL',
    words(`http://pay.example/ http://127.0.0.1.example/ https://pay.example/api https://pay.example/?x=/
      https://user:pw@pay.example/ ftp://pay.example/ /api/`),
  ],
];

test('The error for an invalid DATABASE_URL suggests the right parameter, the right value or the encoding of a password', () => {
  const faultOf = (rest: string) => faultsOf({ ...REAL, DATABASE_URL: `postgres://u${rest}` })[0];
  expect(faultOf('@db.example/paygraph?sslmod=require')).toMatch(/\bsslmod\b.*\bsslmode\b/);
  expect(faultOf('@db.example/paygraph?sslmode=dissable')).toMatch(/\bsslmode\b.*\bdisable\b/);
  expect(faultOf(':se/cret@db.example/paygraph')).toContain('%2F');
});

test.each(WRONG)('The error for an invalid %s does not repeat the value: %j', (name, values) => {
  const others = name.startsWith('AUTH_') ? { ...REAL, ...TOKENS } : REAL;
  for (const value of values) {
    const faults = faultsOf({ ...others, [name]: value });
    expect({ value, faults }).toEqual({ value, faults: [expect.stringMatching(new RegExp(`^${name}: `))] });
    if (value.length > 3) expect(faults[0]).not.toContain(value);
    expect(faults[0]).not.toContain('hidden');
  }
});

test('One error reports all invalid settings', () => {
  const env = Object.fromEntries(WRONG.map(([name, [value = '']]) => [name, value]));
  const faults = faultsOf(env);
  expect(faults.map((fault) => fault.split(':')[0]).sort()).toEqual(Object.keys(env).sort());
  expect(Object.keys(env).sort()).toEqual(Object.keys(SETTINGS).sort());
});

const { CLIENT_KEYS_FILE: _file, ...UNGUARDED } = REAL;
const { SERVICE_API_KEY: _key, SERVICE_SECRET_KEY: _secret, ...KEYLESS } = REAL;
const { AUTH_JWKS_URL, ...TOKEN_NAMES } = TOKENS;
const NO_CALLERS = { CLIENT_KEYS_FILE: Object.keys(TOKENS) };

/** Settings, and the missing settings that are reported, each with the other settings that its error names. */
const MISSING: [env: Record<string, string>, missing: Record<string, string[]>][] = [
  [KEYLESS, { SERVICE_API_KEY: [], SERVICE_SECRET_KEY: [] }],
  [{ ...KEYLESS, SERVICE_CREDENTIALS_FILE: 'credentials.json' }, { FINGERPRINT_KEY: [] }],
  [{ ...KEYLESS, SERVICE_CREDENTIALS_FILE: 'credentials.json', FINGERPRINT_KEY: 'other' }, {}],
  [
    { ...KEYLESS, SERVICE_CREDENTIALS_FILE: 'credentials.json', SERVICE_SECRET_KEY: 'only' },
    { SERVICE_API_KEY: ['SERVICE_SECRET_KEY'] },
  ],
  [UNGUARDED, NO_CALLERS],
  [{ ...UNGUARDED, CLIENT_KEYS_FILE: '', HOST: '127.0.0.1' }, NO_CALLERS],
  [{ ...UNGUARDED, ...TOKENS }, {}],
  [{ ...REAL, ...TOKENS }, {}],
  [
    { ...REAL, AUTH_JWKS_URL },
    { AUTH_ISSUER: ['AUTH_JWKS_URL'], AUTH_AUDIENCE: ['AUTH_JWKS_URL'] },
  ],
  [{ ...REAL, ...TOKEN_NAMES }, { AUTH_JWKS_URL: ['AUTH_ISSUER', 'AUTH_AUDIENCE'] }],
];

test.each(MISSING)(
  'The settings %j cause one error for each missing setting (key); the error also names the related settings (value): %j',
  (env, missing) => {
    const faults = faultsOf(env);
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(Object.keys(missing));
    Object.values(missing).forEach((named, place) => {
      for (const name of named) expect(faults[place]).toContain(name);
    });
  },
);

test('HOST must be a loopback address unless client keys or tokens are configured', () => {
  for (const HOST of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example', 'localhost.example']) {
    const fault = expect.stringMatching(/^HOST: .*CLIENT_KEYS_FILE or AUTH_JWKS_URL/) as unknown;
    expect({ HOST, faults: faultsOf({ HOST }) }).toEqual({ HOST, faults: [fault] });
    expect(readConfig({ ...REAL, HOST }).host).toBe(HOST);
    expect(faultsOf({ HOST, ...TOKENS })).toEqual([]);
  }
  for (const HOST of ['127.0.0.1', '127.8.9.10', '::1', 'localhost']) expect(faultsOf({ HOST })).toEqual([]);
});

test('The default limits are stricter for a real service than for the sandbox', () => {
  expect(readConfig(REAL).limits).toMatchObject({
    corsOrigins: [],
    ratePerMinute: 60_000,
    maxEventLoopLagMs: 1000,
    clientTimeoutMs: 15_000,
    persisted: { manifestPath: null, modeForFrontends: 'require', modeForServices: 'allow' },
  });
  const { corsOrigins, ratePerMinute } = readConfig({}).limits;
  expect(corsOrigins.every((origin) => origin.endsWith('.apollographql.com'))).toBe(true);
  expect(ratePerMinute).toBe(0);
});

describe('A credential file', () => {
  const folder = temporaryFolder();
  const file = (name: string, text: string): string => {
    writeFileSync(path.join(folder, name), text);
    return path.join(folder, name);
  };

  const fromFile = (name: string) => ({ ...REAL, SERVICE_SECRET_KEY: '', SERVICE_SECRET_KEY_FILE: name });

  test.each(['from-file', 'from-file\n', 'from-file\r\n'])(
    'provides its content, without a final newline, as the credential: %j',
    (text) => {
      expect(readConfig(fromFile(file('good', text))).service.secretKey.reveal()).toBe('from-file');
    },
  );

  test.each([
    ['is empty', () => file('bad', ''), /^SERVICE_SECRET_KEY(_FILE)?: /],
    ['has two lines', () => file('bad', 'one\ntwo\n'), /^SERVICE_SECRET_KEY(_FILE)?: /],
    ['contains a blank', () => file('bad', 'one two'), /^SERVICE_SECRET_KEY(_FILE)?: /],
    ['cannot be read', () => path.join(folder, 'nosuch'), /^SERVICE_SECRET_KEY_FILE: /],
  ])('that %s is rejected; the error has neither its path nor its content', (_how, name, error) => {
    const faults = faultsOf(fromFile(name()));
    expect(faults).toEqual([expect.stringMatching(error)]);
    for (const text of ['one', 'two', folder]) expect(faults[0]).not.toContain(text);
  });
});

test('The printed or serialized config contains no credential', () => {
  const config = readConfig({
    ...REAL,
    SERVICE_API_KEY: 'hidden-key-1',
    SERVICE_SECRET_KEY: 'hidden-key-2',
    FINGERPRINT_KEY: 'hidden-key-3',
    DATABASE_URL: 'postgres://paygraph:hidden-key-4@db.example/paygraph',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden-key-5',
  });
  for (const text of [inspect(config, { depth: 9, showHidden: true }), JSON.stringify(config)])
    expect(text).not.toMatch(/hidden-key/);
  expect(`${config.service.apiKey}`).toBe('[redacted]');
});

test.each([
  ['CLIENT_KEY_FILE', 'CLIENT_KEYS_FILE'],
  ['METRIC_PORT', 'METRICS_PORT'],
  ['SERVICE_TIMOUT_MS', 'SERVICE_TIMEOUT_MS'],
  ['SERVICE_TIMEOUT', 'SERVICE_TIMEOUT_MS'],
  ['SUBSCRIPTION_SOMETHING_ELSE', 'docs/configuration.md'],
  ['CHANGES_SOMETHING_ELSE', 'docs/configuration.md'],
])('The unknown setting %s causes one warning, which refers to %s', (name, hint) => {
  const others = { HOSTNAME: 'pod-1', PATH: '/bin', LOGNAME: 'root', PORTS: '1', HOSTS: 'a' };
  const { warnings } = readConfig({ ...others, [name]: 'x' });
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${name} .*\\b${hint}\\b`))]);
});

/** Returns misspellings of a name: every fourth letter is left out, doubled, replaced or swapped with the next. */
const misspelt = (name: string): string[] =>
  [...name].flatMap((letter, place) => {
    if (place % 4 !== 0) return [];
    const [before, after] = [name.slice(0, place), name.slice(place + 1)];
    const swapped = before + after.slice(0, 1) + letter + after.slice(1);
    return [before + after, before + letter + letter + after, swapped, `${before}X${after}`];
  });

test('A misspelling by one letter of a setting name with at least 7 characters causes a warning', () => {
  const known = new Set(Object.keys(SETTINGS).flatMap((each) => [each, `${each}_FILE`]));
  const names = Object.keys(SETTINGS).filter((name) => name.length >= 7);
  const typos = [...new Set(names.flatMap(misspelt))].filter((typo) => !known.has(typo) && typo.length >= 6);
  const { warnings } = readConfig(Object.fromEntries(typos.map((typo) => [typo, 'x'])));
  expect(warnings.map((warning) => warning.split(' ')[0]).sort()).toEqual(typos.sort());
});

test('The error for an invalid setting also suggests the right name of a misspelt setting', () => {
  expect(() => readConfig({ ...REAL, PORT: 'any', SHUTDWN_DELAY_MS: '5' })).toThrow(
    /PORT: [^]*SHUTDOWN_DELAY_MS\?/,
  );
});

/** Variables that shells, containers and build machines set and that resemble settings. */
const FOREIGN = `PATH HOME LOGNAME HOSTNAME HOSTTYPE NODE_ENV http_proxy SSL_CERT_FILE PGHOST POSTGRES_DB REDIS_HOST DB_URL DB_PORT
  APP_PORT HTTPS_PORT ADMIN_PORT PORTS HOSTS LOG_FORMAT LOG_FILE LOG_LEVELS_DIR AWS_SECRET_ACCESS_KEY JOURNAL_STREAM
  KUBERNETES_SERVICE_HOST KUBERNETES_PORT_443_TCP_ADDR METRICS_SERVICE_HOST METRICS_PORT_9090_TCP AUDIT_LOG_SERVICE_HOST
  AUDIT_LOG_SERVICE_PORT_HTTP AUTH_PORT_80_TCP_PROTO SANDBOX_SERVICE_PORT`;

test('Environment variables of other programs cause no warning', () => {
  const env = Object.fromEntries(words(FOREIGN).map((name) => [name, 'x']));
  const links = { DATABASE_PORT: 'tcp://10.0.0.1:5432', AUTH_PORT: 'tcp://10.0.0.2:80' };
  expect(readConfig({ ...env, ...links }).warnings).toEqual([]);
});

test('The standalone sandbox ignores the settings of the gateway, even invalid settings', () => {
  const settings = { ...REAL, PORT: 'any', SANDBOX_PORT: '4301', SANDBOX_CONTROL: 'on' };
  const { sandbox } = readStandaloneSandboxConfig(settings);
  expect(sandbox).toEqual({ port: 4301, anyPortIfTaken: false, servesControlPlane: true });
});
