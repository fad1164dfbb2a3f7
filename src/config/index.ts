import process from 'node:process';
import { DEV_ISSUER } from '../shared/dev-issuer';
import { isLoopback } from '../shared/loopback';
import { Secret } from '../shared/secret';
import { EnvReader, type Environment } from './env-reader';
import { SETTINGS } from './env-vars';
import { readTracing } from './tracing';
import type {
  AccessConfig,
  Config,
  JournalConfig,
  LimitsConfig,
  SandboxConfig,
  ServiceConfig,
  ToolConfig,
} from './types';

export type * from './types';
export type { Environment } from './env-reader';

/** Thrown if settings are missing or invalid. The message lists every error and contains no values. */
export class ConfigError extends Error {
  /** @param errors sentences that begin with the name of the setting */
  constructor(readonly errors: readonly string[]) {
    super(`Invalid settings (environment variables):\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Default credentials of the sandbox. They are not secret, because it moves no money and listens on loopback only. */
export const SANDBOX_CREDENTIALS = {
  apiKey: new Secret('sandbox-api-key'),
  secretKey: new Secret('sandbox-secret-key'),
};

const DAY_MS = 24 * 60 * 60 * 1000;
const APOLLO_ORIGINS = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];

type Reader = EnvReader<typeof SETTINGS>;

/** Returns a reader of single settings. It does not check whether settings fit together. */
export const settingsReader = (env: Environment): Reader => new EnvReader(env, SETTINGS);

function readService(env: Reader): ServiceConfig {
  const baseUrl = env.get('SERVICE_BASE_URL') ?? '';
  const credentialsFile = env.get('SERVICE_CREDENTIALS_FILE') ?? null;
  if (env.has('SERVICE_BASE_URL') && credentialsFile === null) {
    for (const name of ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'] as const) {
      if (!env.has(name)) env.addError(name, `required with SERVICE_BASE_URL; set it or ${name}_FILE`);
    }
  }
  return {
    baseUrl,
    apiKey: env.get('SERVICE_API_KEY') ?? SANDBOX_CREDENTIALS.apiKey,
    secretKey: env.get('SERVICE_SECRET_KEY') ?? SANDBOX_CREDENTIALS.secretKey,
    credentialsFile,
    timeoutMs: env.get('SERVICE_TIMEOUT_MS'),
    notFoundStatus: env.get('SERVICE_NOT_FOUND_STATUS'),
    notFoundFields: env.get('SERVICE_NOT_FOUND_FIELDS') ?? [],
  };
}

function readAuditRotation(env: Reader): Config['auditRotation'] {
  const megabytes = env.get('AUDIT_LOG_ROTATE_MB');
  const keepFiles = env.get('AUDIT_LOG_KEEP_FILES') ?? null;
  if (keepFiles !== null && !env.has('AUDIT_LOG_ROTATE_MB'))
    env.addError('AUDIT_LOG_ROTATE_MB', 'required with AUDIT_LOG_KEEP_FILES');
  return megabytes === undefined ? null : { maxBytes: megabytes * 1_000_000, keepFiles };
}

function readJournal(env: Reader, { secretKey }: ServiceConfig): JournalConfig {
  if (env.has('SERVICE_CREDENTIALS_FILE') && !env.has('SERVICE_SECRET_KEY') && !env.has('FINGERPRINT_KEY')) {
    env.addError(
      'FINGERPRINT_KEY',
      'required with SERVICE_CREDENTIALS_FILE if SERVICE_SECRET_KEY is not set',
    );
  }
  return {
    url: env.get('DATABASE_URL'),
    settleMs: env.get('UNKNOWN_SETTLE_SECONDS') * 1000,
    fenceMs: env.get('FENCE_SECONDS') * 1000,
    payoutPreflight: env.get('PAYOUT_PREFLIGHT'),
    fingerprintKey: env.get('FINGERPRINT_KEY') ?? secretKey,
    keepMs: env.get('JOURNAL_RETENTION_DAYS') * DAY_MS,
  };
}

function readSandbox(env: Reader): SandboxConfig | null {
  const port = env.get('SANDBOX_PORT');
  const control = env.get('SANDBOX_CONTROL');
  if (env.has('SERVICE_BASE_URL')) return null;
  // With tokens of the development issuer, AUTH_JWKS_URL contains the port.
  const isPortFixed = env.has('SANDBOX_PORT') || env.get('AUTH_ISSUER') === DEV_ISSUER;
  return { port, anyPortIfTaken: !isPortFixed, control };
}

function readAccess(env: Reader): AccessConfig {
  const clientKeysFile = env.get('CLIENT_KEYS_FILE') ?? null;
  const jwksUrl = env.get('AUTH_JWKS_URL');
  const issuer = env.get('AUTH_ISSUER');
  const audience = env.get('AUTH_AUDIENCE');
  const names = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'] as const;
  const setNames = names.filter((name) => env.has(name));
  if (setNames.length > 0) {
    names
      .filter((name) => !env.has(name))
      .forEach((name) => env.addError(name, `required with ${setNames.join(' and ')}`));
  }
  const maxLifetimeSeconds = env.get('AUTH_MAX_TOKEN_LIFETIME_SECONDS');
  const maxStaleKeysSeconds = env.get('AUTH_MAX_STALE_KEYS_SECONDS');
  const tokens =
    jwksUrl && issuer && audience
      ? { jwksUrl, issuer, audience, maxLifetimeSeconds, maxStaleKeysSeconds }
      : null;
  if (issuer === DEV_ISSUER && env.has('SERVICE_BASE_URL'))
    env.addError('AUTH_ISSUER', `${DEV_ISSUER} is not allowed with SERVICE_BASE_URL: set your own issuer`);
  if (env.has('SERVICE_BASE_URL') && !env.has('CLIENT_KEYS_FILE') && setNames.length === 0) {
    env.addError(
      'CLIENT_KEYS_FILE',
      'a gateway with SERVICE_BASE_URL must authenticate callers: set CLIENT_KEYS_FILE (npm run client-key -- new <id> creates a key), or set AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE',
    );
  }
  return { clientKeysFile, tokens };
}

const readLimits = (env: Reader, isSandbox: boolean): LimitsConfig => ({
  corsOrigins: env.get('CORS_ORIGINS') ?? (isSandbox ? APOLLO_ORIGINS : []),
  trustedProxies: env.get('TRUSTED_PROXIES') ?? [],
  ratePerMinute: isSandbox && !env.has('RATE_LIMIT_PER_MINUTE') ? 0 : env.get('RATE_LIMIT_PER_MINUTE'),
  maxEventLoopLagMs: env.get('MAX_EVENT_LOOP_LAG_MS'),
  clientTimeoutMs: env.get('CLIENT_TIMEOUT_MS'),
  maxConnections: env.get('MAX_CONNECTIONS') ?? null,
  maxConnectionsPerAddress: env.get('MAX_CONNECTIONS_PER_ADDRESS') ?? null,
  maxUnreadBytes: env.get('MAX_UNREAD_BYTES'),
  maxUnreadBytesPerCaller: env.get('MAX_UNREAD_BYTES_PER_CALLER'),
  persisted: {
    manifest: env.get('PERSISTED_OPERATIONS') ?? null,
    modeForFrontends: env.get('PERSISTED_OPERATIONS_FRONTENDS'),
    modeForServices: env.get('PERSISTED_OPERATIONS_SERVICES'),
  },
});

/** Prefixes of settings. An unknown variable with one of them is probably a misspelt setting. */
const SETTING_PREFIXES = [
  ...['SERVICE_', 'SANDBOX_', 'JOURNAL_', 'DATABASE_', 'PAYOUT_', 'UNKNOWN_', 'FINGERPRINT_', 'AUTH_'],
  ...['CLIENT_KEYS', 'CORS_', 'PERSISTED_', 'RATE_LIMIT', 'AUDIT_', 'TRUSTED_PROX', 'ALLOWED_URL'],
  ...['PUBLIC_URL', 'POLL_INTERVALS', 'SUBSCRIPTION_', 'MAX_SUBSCRIPTIONS', 'MAX_CONNECTIONS', 'MAX_UNREAD'],
  ...['SUBGRAPH', 'OTEL_', 'METRICS_', 'FENCE_'],
];

/** Variables with such a prefix that are no settings: systemd sets JOURNAL_STREAM. */
const FOREIGN_NAMES = ['JOURNAL_STREAM'];

function warningsOf(
  env: Reader,
  { sandbox, journal, reusePort }: Pick<Config, 'sandbox' | 'journal' | 'reusePort'>,
): string[] {
  const warnings = env.unknownNameWarnings(SETTING_PREFIXES, FOREIGN_NAMES);
  if (reusePort && journal.url.reveal().startsWith('file:')) {
    warnings.push(
      'REUSE_PORT is on, but DATABASE_URL is a SQLite file. Instances that share a port need one PostgreSQL journal.',
    );
  }
  if (sandbox && (env.has('SERVICE_API_KEY') || env.has('SERVICE_SECRET_KEY'))) {
    warnings.push('Credentials are set, but SERVICE_BASE_URL is not: the gateway uses the embedded sandbox.');
  }
  return warnings;
}

/** Whether the settings accept callers without authentication. */
export const allowsUnauthenticatedCallers = ({ clientKeysFile, tokens }: AccessConfig): boolean =>
  !clientKeysFile && !tokens;

/** Returns the environment variables of this process. */
export const environment = (): Environment => process.env;

/** Reads and checks every setting. Throws one ConfigError with all errors if a setting is missing or invalid. */
export function readConfig(source: Environment = process.env): Config {
  const env = settingsReader(source);
  const sandbox = readSandbox(env);
  const isSandbox = sandbox !== null;
  const service = readService(env);
  const access = readAccess(env);
  const config = {
    host: env.get('HOST'),
    port: env.get('PORT'),
    reusePort: env.get('REUSE_PORT'),
    service,
    journal: readJournal(env, service),
    sandbox,
    access,
    urls: { allowsLoopback: isSandbox, hosts: env.get('ALLOWED_URL_HOSTS') ?? null },
    limits: readLimits(env, isSandbox),
    subscriptions: {
      maxSubscriptions: env.get('MAX_SUBSCRIPTIONS'),
      maxSubscriptionsPerClient: env.get('MAX_SUBSCRIPTIONS_PER_CLIENT'),
      heartbeatMs: env.get('SUBSCRIPTION_PING_SECONDS') * 1000,
    },
    watching: {
      schedule: {
        payer: env.get('POLL_INTERVALS_PAYER'),
        provider: env.get('POLL_INTERVALS_PROVIDER'),
        mispaid: env.get('POLL_INTERVALS_MISPAID'),
      },
      outageMs: env.get('SUBSCRIPTION_OUTAGE_SECONDS') * 1000,
    },
    tracing: readTracing(env),
    publicUrl: env.get('PUBLIC_URL') ?? null,
    auditFile: env.get('AUDIT_LOG_FILE'),
    auditKey: env.get('AUDIT_LOG_KEY') ?? null,
    auditRotation: readAuditRotation(env),
    metricsPort: env.get('METRICS_PORT') ?? null,
    metricsToken: env.get('METRICS_TOKEN') ?? null,
    introspection: env.get('INTROSPECTION') ?? isSandbox,
    subgraph: env.get('SUBGRAPH'),
    explorer: env.get('EXPLORER') ?? isSandbox,
    shutdownDelayMs: env.get('SHUTDOWN_DELAY_MS'),
    shutdownGraceMs: env.get('SHUTDOWN_GRACE_MS'),
    logLevel: env.get('LOG_LEVEL'),
  };
  // Only validated: operator commands use it.
  env.get('SETTLE_APPROVAL');
  if (allowsUnauthenticatedCallers(access) && !isLoopback(config.host)) {
    env.addError(
      'HOST',
      'expected a loopback address, because callers are not authenticated; set CLIENT_KEYS_FILE or AUTH_JWKS_URL to allow others',
    );
  }
  // A required setting may be missing because its name is misspelt.
  if (env.errors.length > 0)
    throw new ConfigError([...env.errors, ...env.unknownNameWarnings(SETTING_PREFIXES, FOREIGN_NAMES)]);
  return Object.freeze({ ...config, warnings: warningsOf(env, config) });
}

const STANDALONE_SANDBOX_SETTINGS = [
  ...['SANDBOX_PORT', 'SANDBOX_CONTROL', 'LOG_LEVEL'],
  ...['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE', 'SERVICE_SECRET_KEY', 'SERVICE_SECRET_KEY_FILE'],
];

/** Reads the settings of the standalone sandbox and ignores all others. Throws a ConfigError if one is invalid. */
export const readStandaloneSandboxConfig = (env: Environment = process.env): Config =>
  readConfig(Object.fromEntries(STANDALONE_SANDBOX_SETTINGS.map((name) => [name, env[name]])));

/** Returns the <NAME>_FILE settings of secrets that are set, with the paths of the files. */
export const secretFiles = (env: Environment = process.env): { setting: string; path: string }[] =>
  Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const path = env[`${name}_FILE`];
    return 'secret' in setting && path ? [{ setting: `${name}_FILE`, path }] : [];
  });

/** Reads the settings that operator commands use. Throws a ConfigError if one is invalid. */
export function readToolConfig(source: Environment = process.env): ToolConfig {
  const env = settingsReader(source);
  const config: ToolConfig = {
    journalUrl: env.get('DATABASE_URL'),
    fenceMs: env.get('FENCE_SECONDS') * 1000,
    serviceBaseUrl: env.get('SERVICE_BASE_URL') ?? null,
    auditFile: env.get('AUDIT_LOG_FILE'),
    auditKey: env.get('AUDIT_LOG_KEY') ?? null,
    sandboxPort: env.get('SANDBOX_PORT'),
    settleApproval: env.get('SETTLE_APPROVAL'),
    metricsToken: env.get('METRICS_TOKEN') ?? null,
    sudoUser: source['SUDO_USER'] || null,
  };
  if (env.errors.length > 0) throw new ConfigError(env.errors);
  return config;
}
