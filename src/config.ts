import process from 'node:process';
import { Secret } from './secret';
import {
  SettingsReader,
  credential,
  oneOf,
  onOff,
  wholeNumber,
  type Environment,
  type Setting,
} from './settings';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name or address stays on this machine. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

function readDatabaseUrl(text: string): string | undefined {
  if (/^file:[^?#\s]+$/.test(text)) return text;
  return /^postgres(ql)?:\/\/./.test(text) && URL.canParse(text) ? text : undefined;
}

function readBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const bare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  const isBase = text.endsWith('/') && !url.pathname.includes('/api/v1/');
  return bare && safe && isBase ? url.href : undefined;
}

/** Every setting of the gateway, in the order of docs/configuration.md. */
export const SETTINGS = {
  HOST: {
    about: 'The address to listen on. Without authentication of callers only a loopback address is accepted.',
    expected: 'an IP address or a host name',
    unset: '127.0.0.1',
    read: (text: string) => (/^[\w.:-]{1,253}$/.test(text) ? text : undefined),
  },
  PORT: { about: 'The port of the gateway; 0 takes any free one.', unset: '4000', ...wholeNumber(0, 65535) },
  SERVICE_BASE_URL: {
    about: 'Where the payment service is (spec: {base_url}). Plain http is allowed for loopback only.',
    expected:
      'an https address that ends with /, without api/v1/, credentials, query or fragment (plain http for loopback only)',
    unset: 'the embedded sandbox is started and used',
    read: readBaseUrl,
  },
  SERVICE_API_KEY: {
    about: 'The API key for the service (spec section 5).',
    unset: 'required with SERVICE_BASE_URL',
    ...credential,
  },
  SERVICE_SECRET_KEY: {
    about: 'The secret key that signs requests to the service (spec section 5).',
    unset: 'required with SERVICE_BASE_URL',
    ...credential,
  },
  SERVICE_TIMEOUT_MS: {
    about: 'The total deadline of one call to the service: connecting, headers and body, in milliseconds.',
    unset: '10000',
    ...wholeNumber(50, 120_000),
  },
  SERVICE_NOT_FOUND_STATUS: {
    about: 'The HTTP status that means "no such transaction" in a lookup. The service does not document it.',
    unset: '404',
    ...wholeNumber(400, 499),
  },
  DATABASE_URL: {
    about:
      'Where the journal of creates is kept: a SQLite file that the processes of one machine may share, or PostgreSQL for several machines.',
    expected: 'file:<path> or postgres://<user>@<host>:<port>/<database>',
    unset: 'file:data/paygraph.db',
    secret: true,
    read: readDatabaseUrl,
  },
  UNKNOWN_SETTLE_SECONDS: {
    about:
      'How long after the last possible moment of sending a lookup that finds nothing proves nothing. After that a payment may be created anew under the same key; a payout stays unknown.',
    unset: '900',
    ...wholeNumber(1, 604_800),
  },
  PAYOUT_PREFLIGHT: {
    about:
      'Whether the external id of a payout is looked up before its first sending: one already taken is refused, and a payout found later under it is certainly ours. Off saves the call.',
    unset: 'on',
    ...onOff,
  },
  FINGERPRINT_KEY: {
    about:
      'The secret from which the key of the fingerprints in the journal is derived: the same for all instances, and worth keeping when SERVICE_SECRET_KEY changes.',
    unset: 'SERVICE_SECRET_KEY',
    ...credential,
  },
  JOURNAL_RETENTION_DAYS: {
    about:
      'How long settled attempts are kept, and with them the memory of their keys. Unknown ones are kept until they are settled.',
    unset: '30',
    ...wholeNumber(30, 3650),
  },
  SANDBOX_PORT: {
    about: 'The port of the embedded sandbox; 0 takes any free one.',
    unset: '4001, or any free port where that is taken',
    ...wholeNumber(0, 65535),
  },
  SANDBOX_CONTROL: {
    about: 'Whether the sandbox has its control plane and console under /_sandbox/.',
    unset: 'off',
    ...onOff,
  },
  INTROSPECTION: {
    about: 'Whether callers may introspect the schema.',
    unset: 'on with the embedded sandbox, off with a real service',
    ...onOff,
  },
  SHUTDOWN_GRACE_MS: {
    about: 'How long work in flight may take to end after SIGTERM, in milliseconds.',
    unset: '10000',
    ...wholeNumber(0, 600_000),
  },
  LOG_LEVEL: {
    about: 'How much is logged: JSON lines on standard output.',
    unset: 'info',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
} satisfies Record<string, Setting<unknown>>;

/** How to reach the service. */
export interface ServiceConfig {
  baseUrl: string;
  apiKey: Secret;
  secretKey: Secret;
  timeoutMs: number;
  notFoundStatus: number;
}

/** How creates are recorded. */
export interface JournalConfig {
  /** file:<path> or postgres://…; it may hold a password. */
  url: Secret;
  settleMs: number;
  preflight: boolean;
  fingerprintKey: Secret;
  keepMs: number;
}

/** The embedded sandbox, where there is no real service. */
export interface SandboxConfig {
  port: number;
  /** Whether another port may be taken when that one is in use: only when nobody asked for it. */
  anyPortIfTaken: boolean;
  control: boolean;
}

/** Everything that can be set, checked. */
export interface Config {
  host: string;
  port: number;
  /** baseUrl is empty while the sandbox has not been started. */
  service: ServiceConfig;
  journal: JournalConfig;
  /** Null with a real service. */
  sandbox: SandboxConfig | null;
  introspection: boolean;
  /** What is odd about the settings, in words for the log; never a value. */
  warnings: string[];
  shutdownGraceMs: number;
  logLevel: string;
}

/** What is wrong with the settings; never holds a value. */
export class ConfigError extends Error {
  constructor(readonly faults: readonly string[]) {
    super(`The settings are wrong:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** The credentials of the embedded sandbox, which guard nothing: it holds no real money and listens on loopback only. */
export const SANDBOX_CREDENTIALS = {
  apiKey: new Secret('sandbox-api-key'),
  secretKey: new Secret('sandbox-secret-key'),
};

function readService(reader: SettingsReader): ServiceConfig {
  const baseUrl = reader.get('SERVICE_BASE_URL', SETTINGS.SERVICE_BASE_URL) ?? '';
  if (reader.has('SERVICE_BASE_URL')) {
    for (const name of ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY']) {
      if (!reader.hasSecret(name))
        reader.fault(name, `required with SERVICE_BASE_URL; set it or ${name}_FILE`);
    }
  }
  return {
    baseUrl,
    apiKey: reader.get('SERVICE_API_KEY', SETTINGS.SERVICE_API_KEY) ?? SANDBOX_CREDENTIALS.apiKey,
    secretKey: reader.get('SERVICE_SECRET_KEY', SETTINGS.SERVICE_SECRET_KEY) ?? SANDBOX_CREDENTIALS.secretKey,
    timeoutMs: reader.get('SERVICE_TIMEOUT_MS', SETTINGS.SERVICE_TIMEOUT_MS) ?? 10_000,
    notFoundStatus: reader.get('SERVICE_NOT_FOUND_STATUS', SETTINGS.SERVICE_NOT_FOUND_STATUS) ?? 404,
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

function readJournal(reader: SettingsReader, { secretKey }: ServiceConfig): JournalConfig {
  return {
    url: new Secret(reader.get('DATABASE_URL', SETTINGS.DATABASE_URL) ?? 'file:data/paygraph.db'),
    settleMs: (reader.get('UNKNOWN_SETTLE_SECONDS', SETTINGS.UNKNOWN_SETTLE_SECONDS) ?? 900) * 1000,
    preflight: reader.get('PAYOUT_PREFLIGHT', SETTINGS.PAYOUT_PREFLIGHT) ?? true,
    fingerprintKey: reader.get('FINGERPRINT_KEY', SETTINGS.FINGERPRINT_KEY) ?? secretKey,
    keepMs: (reader.get('JOURNAL_RETENTION_DAYS', SETTINGS.JOURNAL_RETENTION_DAYS) ?? 30) * DAY_MS,
  };
}

function readSandbox(reader: SettingsReader): SandboxConfig | null {
  const port = reader.get('SANDBOX_PORT', SETTINGS.SANDBOX_PORT);
  const control = reader.get('SANDBOX_CONTROL', SETTINGS.SANDBOX_CONTROL) ?? false;
  if (reader.has('SERVICE_BASE_URL')) return null;
  return { port: port ?? 4001, anyPortIfTaken: !reader.has('SANDBOX_PORT'), control };
}

const KNOWN: ReadonlySet<string> = new Set(Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]));

/** Names that begin so are meant for the gateway. */
const OWN_PREFIXES = ['SERVICE_', 'SANDBOX_', 'JOURNAL_', 'DATABASE_', 'PAYOUT_', 'UNKNOWN_', 'FINGERPRINT_'];

function warningsOf(reader: SettingsReader, sandbox: SandboxConfig | null): string[] {
  const unknown = reader.unknown(OWN_PREFIXES, KNOWN);
  const warnings = unknown.map((name) => `${name} is no setting of paygraph: see docs/configuration.md.`);
  const credentials = ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'].some((name) => reader.hasSecret(name));
  if (sandbox && credentials) {
    warnings.push(
      'SERVICE_BASE_URL is not set although credentials are: this is the sandbox, no real service.',
    );
  }
  return warnings;
}

/** Reads and checks every setting. Throws one ConfigError that names all that is wrong. */
export function readConfig(env: Environment = process.env): Config {
  const reader = new SettingsReader(env);
  const sandbox = readSandbox(reader);
  const service = readService(reader);
  const config: Config = {
    host: reader.get('HOST', SETTINGS.HOST) ?? '127.0.0.1',
    port: reader.get('PORT', SETTINGS.PORT) ?? 4000,
    service,
    journal: readJournal(reader, service),
    sandbox,
    introspection: reader.get('INTROSPECTION', SETTINGS.INTROSPECTION) ?? sandbox !== null,
    warnings: warningsOf(reader, sandbox),
    shutdownGraceMs: reader.get('SHUTDOWN_GRACE_MS', SETTINGS.SHUTDOWN_GRACE_MS) ?? 10_000,
    logLevel: reader.get('LOG_LEVEL', SETTINGS.LOG_LEVEL) ?? 'info',
  };
  if (!isLoopback(config.host)) {
    reader.fault(
      'HOST',
      'expected a loopback address: callers are not authenticated, so nobody else may reach the gateway',
    );
  }
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return Object.freeze(config);
}
