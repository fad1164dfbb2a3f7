import process from 'node:process';
import { DEV_ISSUER } from '../shared/dev-issuer';
import { isLoopback } from '../shared/loopback';
import { Secret } from '../shared/secret';
import { ConfigError } from './config-error';
import { EnvReader, type Environment } from './env-reader';
import { SETTINGS } from './env-vars';
import type { TracingSettings } from './types';

export { ConfigError, readSettingFile } from './config-error';
export type { Environment } from './env-reader';

/** All settings of the gateway, validated; docs/configuration.md describes them. */
export type Config = ReturnType<typeof readConfig>;

/**
 * Default credentials of the sandbox. They are not secret, because the sandbox moves no money and listens on loopback
 * only.
 */
export const SANDBOX_CREDENTIALS = {
  apiKey: new Secret('sandbox-api-key'),
  secretKey: new Secret('sandbox-secret-key'),
};

const DAY_MS = 24 * 60 * 60 * 1000;
const APOLLO_ORIGINS = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];

/** Returns a reader that validates each setting alone. readConfig() also checks combinations of settings. */
export const settingsReader = (env: Environment = process.env): EnvReader => new EnvReader(env);

const usesSandbox = (env: EnvReader): boolean => !env.has('SERVICE_BASE_URL');

function readServiceSettings(env: EnvReader) {
  const credentialsFile = env.get('SERVICE_CREDENTIALS_FILE');
  const keys = ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'] as const;
  const cause = credentialsFile === null ? 'SERVICE_BASE_URL' : keys.find((name) => env.has(name));
  for (const name of usesSandbox(env) || !cause ? [] : keys)
    if (!env.has(name)) env.addError(name, `required with ${cause}; set it or ${name}_FILE`);
  const apiKey = env.get('SERVICE_API_KEY') ?? SANDBOX_CREDENTIALS.apiKey;
  const secretKey = env.get('SERVICE_SECRET_KEY') ?? SANDBOX_CREDENTIALS.secretKey;
  const hasKeys = usesSandbox(env) || env.has('SERVICE_API_KEY');
  return {
    /** URL of the payment service. Empty with the embedded sandbox: server.ts sets the sandbox's URL later. */
    baseUrl: env.get('SERVICE_BASE_URL') ?? '',
    apiKey,
    secretKey,
    /** Credentials for channels without an entry in `credentialsFile`; undefined if the keys are not set. */
    defaultCredentials: hasKeys ? { apiKey, secretKeys: [secretKey] } : undefined,
    credentialsFile,
    timeoutMs: env.get('SERVICE_TIMEOUT_MS'),
    notFoundStatus: env.get('SERVICE_NOT_FOUND_STATUS'),
    notFoundFields: env.get('SERVICE_NOT_FOUND_FIELDS') ?? [],
  };
}

function readAuditRotation(env: EnvReader) {
  const megabytes = env.get('AUDIT_LOG_ROTATE_MB');
  const keepFiles = env.get('AUDIT_LOG_KEEP_FILES');
  if (keepFiles !== null && !env.has('AUDIT_LOG_ROTATE_MB'))
    env.addError('AUDIT_LOG_ROTATE_MB', 'required with AUDIT_LOG_KEEP_FILES');
  return megabytes === null ? null : { maxBytes: megabytes * 1_000_000, keptFileCount: keepFiles };
}

function readJournalSettings(env: EnvReader, secretKey: Secret) {
  if (env.has('SERVICE_CREDENTIALS_FILE') && !env.has('SERVICE_SECRET_KEY') && !env.has('FINGERPRINT_KEY'))
    env.addError(
      'FINGERPRINT_KEY',
      'required with SERVICE_CREDENTIALS_FILE if SERVICE_SECRET_KEY is not set',
    );
  return {
    url: env.get('DATABASE_URL'),
    settleMs: env.get('UNKNOWN_SETTLE_SECONDS') * 1000,
    fenceMs: env.get('FENCE_SECONDS') * 1000,
    payoutPreflight: env.get('PAYOUT_PREFLIGHT'),
    fingerprintKey: env.get('FINGERPRINT_KEY') ?? secretKey,
    keepMs: env.get('JOURNAL_RETENTION_DAYS') * DAY_MS,
  };
}

function readSandboxSettings(env: EnvReader) {
  const port = env.get('SANDBOX_PORT');
  const control = env.get('SANDBOX_CONTROL');
  if (!usesSandbox(env)) return null;
  // AUTH_JWKS_URL of the development issuer contains the sandbox's port, so the sandbox must not use another port.
  const isPortFixed = env.has('SANDBOX_PORT') || env.get('AUTH_ISSUER') === DEV_ISSUER;
  return { port, anyPortIfTaken: !isPortFixed, control };
}

function readAccessSettings(env: EnvReader) {
  const clientKeysFile = env.get('CLIENT_KEYS_FILE');
  const jwksUrl = env.get('AUTH_JWKS_URL');
  const issuer = env.get('AUTH_ISSUER');
  const audience = env.get('AUTH_AUDIENCE');
  const maxLifetimeSeconds = env.get('AUTH_MAX_TOKEN_LIFETIME_SECONDS');
  const maxStaleKeysSeconds = env.get('AUTH_MAX_STALE_KEYS_SECONDS');
  const names = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'] as const;
  const setNames = names.filter((name) => env.has(name));
  for (const name of names)
    if (setNames.length > 0 && !env.has(name)) env.addError(name, `required with ${setNames.join(' and ')}`);
  if (issuer === DEV_ISSUER && !usesSandbox(env))
    env.addError('AUTH_ISSUER', `${DEV_ISSUER} is not allowed with SERVICE_BASE_URL: set your own issuer`);
  if (!usesSandbox(env) && !env.has('CLIENT_KEYS_FILE') && setNames.length === 0)
    env.addError(
      'CLIENT_KEYS_FILE',
      'a gateway with SERVICE_BASE_URL must authenticate callers: set CLIENT_KEYS_FILE (npm run client-key -- new <id> creates a key), or set AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE',
    );
  /** Settings with which tokens of frontends are verified; null: tokens are not accepted. */
  const tokens =
    jwksUrl && issuer && audience
      ? { jwksUrl, issuer, audience, maxLifetimeSeconds, maxStaleKeysSeconds }
      : null;
  return { clientKeysFile, tokens };
}

const readHttpSettings = (env: EnvReader) => ({
  corsOrigins: env.get('CORS_ORIGINS') ?? (usesSandbox(env) ? APOLLO_ORIGINS : []),
  trustedProxies: env.get('TRUSTED_PROXIES') ?? [],
  ratePerMinute: usesSandbox(env) && !env.has('RATE_LIMIT_PER_MINUTE') ? 0 : env.get('RATE_LIMIT_PER_MINUTE'),
  maxEventLoopLagMs: env.get('MAX_EVENT_LOOP_LAG_MS'),
  clientTimeoutMs: env.get('CLIENT_TIMEOUT_MS'),
  maxConnections: env.get('MAX_CONNECTIONS'),
  maxConnectionsPerAddress: env.get('MAX_CONNECTIONS_PER_ADDRESS'),
  maxUnreadBytes: env.get('MAX_UNREAD_BYTES'),
  maxUnreadBytesPerCaller: env.get('MAX_UNREAD_BYTES_PER_CALLER'),
  persisted: {
    manifest: env.get('PERSISTED_OPERATIONS'),
    modeForFrontends: env.get('PERSISTED_OPERATIONS_FRONTENDS'),
    modeForServices: env.get('PERSISTED_OPERATIONS_SERVICES'),
  },
});

const readPollSettings = (env: EnvReader) => ({
  intervalsByPhase: {
    payer: env.get('POLL_INTERVALS_PAYER'),
    provider: env.get('POLL_INTERVALS_PROVIDER'),
    mispaid: env.get('POLL_INTERVALS_MISPAID'),
  },
  maxOutageMs: env.get('SUBSCRIPTION_OUTAGE_SECONDS') * 1000,
});

const readChangeSettings = (env: EnvReader) => ({
  followMs: env.get('FOLLOW_DAYS') * DAY_MS,
  lookupsPerSecond: env.get('FOLLOW_LOOKUPS_PER_SECOND'),
  keepMs: env.get('CHANGES_RETENTION_DAYS') * DAY_MS,
});

/** Returns the settings of tracing; null if no collector is set. */
function readTracingSettings(env: EnvReader): TracingSettings | null {
  // Validate the protocol, but do not use it: the only valid value is the one that the exporter supports.
  env.get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const base = env.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    env.get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (base && `${base.replace(/\/*$/, '/')}v1/traces`);
  const attributes = env.get('OTEL_RESOURCE_ATTRIBUTES') ?? {};
  const { 'service.name': defaultName = 'paygraph', ...resourceAttributes } = attributes;
  const settings = {
    headers: env.get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    serviceName: env.get('OTEL_SERVICE_NAME') ?? defaultName,
    resourceAttributes,
    sampler: env.get('OTEL_TRACES_SAMPLER'),
    samplingRatio: env.get('OTEL_TRACES_SAMPLER_ARG'),
  };
  return url === null ? null : { url, ...settings };
}

function configWarnings(env: EnvReader): string[] {
  const warnings = env.unknownNameWarnings();
  if (env.get('REUSE_PORT') && env.get('DATABASE_URL').reveal().startsWith('file:'))
    warnings.push(
      'REUSE_PORT is on, but DATABASE_URL is a SQLite file. Instances that share a port need one PostgreSQL journal.',
    );
  if (usesSandbox(env) && (env.has('SERVICE_API_KEY') || env.has('SERVICE_SECRET_KEY')))
    warnings.push('Credentials are set, but SERVICE_BASE_URL is not: the gateway uses the embedded sandbox.');
  return warnings;
}

/** Whether callers need no authentication, because neither client keys nor tokens are configured. */
export const allowsUnauthenticatedCallers = (access: ReturnType<typeof readAccessSettings>): boolean =>
  !access.clientKeysFile && !access.tokens;

/** Reads and checks every setting. Throws one ConfigError with all errors if a setting is missing or invalid. */
export function readConfig(source?: Environment) {
  const env = settingsReader(source);
  const isSandbox = usesSandbox(env);
  const service = readServiceSettings(env);
  const config = {
    host: env.get('HOST'),
    port: env.get('PORT'),
    reusePort: env.get('REUSE_PORT'),
    metricsPort: env.get('METRICS_PORT'),
    service,
    journal: readJournalSettings(env, service.secretKey),
    /** Settings of the embedded sandbox; null if no sandbox is started, because SERVICE_BASE_URL is set. */
    sandbox: readSandboxSettings(env),
    access: readAccessSettings(env),
    urlPolicy: {
      allowsLoopback: isSandbox,
      allowedHosts: env.get('ALLOWED_URL_HOSTS')?.map((host) => host.toLowerCase()) ?? null,
    },
    limits: readHttpSettings(env),
    subscriptions: {
      maxSubscriptions: env.get('MAX_SUBSCRIPTIONS'),
      maxSubscriptionsPerClient: env.get('MAX_SUBSCRIPTIONS_PER_CLIENT'),
      heartbeatMs: env.get('SUBSCRIPTION_PING_SECONDS') * 1000,
    },
    polling: readPollSettings(env),
    changes: readChangeSettings(env),
    tracing: readTracingSettings(env),
    publicUrl: env.get('PUBLIC_URL'),
    auditFile: env.get('AUDIT_LOG_FILE'),
    auditKey: env.get('AUDIT_LOG_KEY'),
    /** Rotation of the audit log; null if the gateway does not rotate the audit log. */
    auditRotation: readAuditRotation(env),
    metricsToken: env.get('METRICS_TOKEN'),
    introspection: env.get('INTROSPECTION') ?? isSandbox,
    subgraph: env.get('SUBGRAPH'),
    explorer: env.get('EXPLORER') ?? isSandbox,
    shutdownDelayMs: env.get('SHUTDOWN_DELAY_MS'),
    shutdownGraceMs: env.get('SHUTDOWN_GRACE_MS'),
    logLevel: env.get('LOG_LEVEL'),
  };
  // Validate SETTLE_APPROVAL, which operator commands use and the gateway does not.
  env.get('SETTLE_APPROVAL');
  if (allowsUnauthenticatedCallers(config.access) && !isLoopback(config.host))
    env.addError(
      'HOST',
      'expected a loopback address, because callers are not authenticated; set CLIENT_KEYS_FILE or AUTH_JWKS_URL to allow other addresses',
    );
  // Also report unknown names, because a required setting may be missing due to a misspelt name.
  if (env.errors.length > 0) throw new ConfigError([...env.errors, ...env.unknownNameWarnings()]);
  /** `warnings`: sentences for the log about suspicious settings; they contain no secrets. */
  return Object.freeze({ ...config, warnings: configWarnings(env) });
}

const STANDALONE_SANDBOX_SETTINGS = [
  ...['SANDBOX_PORT', 'SANDBOX_CONTROL', 'LOG_LEVEL'],
  ...['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE', 'SERVICE_SECRET_KEY', 'SERVICE_SECRET_KEY_FILE'],
];

/** Reads the settings of the standalone sandbox; ignores all others. Throws a ConfigError if one is invalid. */
export const readStandaloneSandboxConfig = (env: Environment = process.env): Config =>
  readConfig(Object.fromEntries(STANDALONE_SANDBOX_SETTINGS.map((name) => [name, env[name]])));

/**
 * Returns the <NAME>_FILE variables that are set, but only those of secret settings. `setting`: name of the variable.
 * `path`: value of the variable.
 */
export const secretFiles = (env: Environment = process.env): { setting: string; path: string }[] =>
  Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const path = env[`${name}_FILE`];
    return 'isSecret' in setting && path ? [{ setting: `${name}_FILE`, path }] : [];
  });

/** Returns the settings that `read` reads. Throws a ConfigError if one of them is missing or invalid. */
function readSubset<T>(source: Environment, read: (env: EnvReader) => T): T {
  const env = settingsReader(source);
  const config = read(env);
  if (env.errors.length > 0) throw new ConfigError(env.errors);
  return config;
}

/** Reads the settings that operator commands use. Throws a ConfigError if one is invalid. */
export const readCommandConfig = (source: Environment = process.env) =>
  readSubset(source, (env) => ({
    journalUrl: env.get('DATABASE_URL'),
    fenceMs: env.get('FENCE_SECONDS') * 1000,
    serviceBaseUrl: env.get('SERVICE_BASE_URL'),
    auditFile: env.get('AUDIT_LOG_FILE'),
    auditKey: env.get('AUDIT_LOG_KEY'),
    sandboxPort: env.get('SANDBOX_PORT'),
    settleApproval: env.get('SETTLE_APPROVAL'),
    metricsToken: env.get('METRICS_TOKEN'),
    sudoUser: source['SUDO_USER'] || null,
  }));

/** Reads the settings of commands that look transactions up. Throws a ConfigError if one is missing or invalid. */
export const readLookupConfig = (source: Environment = process.env) =>
  readSubset(source, (env) => ({
    journalUrl: env.get('DATABASE_URL'),
    service: readServiceSettings(env),
    followsTransactions: env.get('FOLLOW_DAYS') > 0,
  }));
