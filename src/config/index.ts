import process from 'node:process';
import { DEV_ISSUER } from '../shared/dev-issuer';
import { isLoopback } from '../shared/loopback';
import { Secret } from '../shared/secret';
import { ConfigError } from './config-error';
import { EnvReader, type Environment } from './env-reader';
import { SETTINGS } from './env-vars';
import type { TracingSettings } from './types';

export { ConfigError, withSettingFileError } from './config-error';
export type { Environment } from './env-reader';

/** All settings of the gateway, validated; docs/configuration.md describes them. */
export type Config = ReturnType<typeof readConfig>;

/** Default credentials of the sandbox. They are not secret: the sandbox moves no money and listens on loopback only. */
export const SANDBOX_CREDENTIALS = {
  apiKey: new Secret('sandbox-api-key'),
  secretKey: new Secret('sandbox-secret-key'),
};

const DAY_MS = 24 * 60 * 60 * 1000;
const APOLLO_WEB_ORIGINS = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];

/** Returns a reader that validates each setting alone. readConfig() also checks combinations of settings. */
export const createEnvReader = (env: Environment = process.env): EnvReader => new EnvReader(env);

const usesSandbox = (reader: EnvReader): boolean => !reader.has('SERVICE_BASE_URL');

function readServiceSettings(reader: EnvReader) {
  const credentialsFile = reader.get('SERVICE_CREDENTIALS_FILE');
  const keyNames = ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'] as const;
  const requiredBy = credentialsFile === null ? 'SERVICE_BASE_URL' : keyNames.find((key) => reader.has(key));
  for (const name of usesSandbox(reader) || !requiredBy ? [] : keyNames)
    if (!reader.has(name)) reader.addError(name, `required with ${requiredBy}; set it or ${name}_FILE`);
  const apiKey = reader.get('SERVICE_API_KEY') ?? SANDBOX_CREDENTIALS.apiKey;
  const secretKey = reader.get('SERVICE_SECRET_KEY') ?? SANDBOX_CREDENTIALS.secretKey;
  const hasDefaultCredentials = usesSandbox(reader) || reader.has('SERVICE_API_KEY');
  return {
    /** URL of the payment service. Empty with the embedded sandbox: server.ts sets the sandbox's URL later. */
    baseUrl: reader.get('SERVICE_BASE_URL') ?? '',
    apiKey,
    secretKey,
    /** Credentials for channels without an entry in `credentialsFile`; undefined if there are none. */
    defaultCredentials: hasDefaultCredentials ? { apiKey, secretKeys: [secretKey] } : undefined,
    credentialsFile,
    timeoutMs: reader.get('SERVICE_TIMEOUT_MS'),
    notFoundStatus: reader.get('SERVICE_NOT_FOUND_STATUS'),
    notFoundFields: reader.get('SERVICE_NOT_FOUND_FIELDS') ?? [],
  };
}

function readAuditRotation(reader: EnvReader) {
  const rotateMegabytes = reader.get('AUDIT_LOG_ROTATE_MB');
  const keptFileCount = reader.get('AUDIT_LOG_KEEP_FILES');
  if (keptFileCount !== null && !reader.has('AUDIT_LOG_ROTATE_MB'))
    reader.addError('AUDIT_LOG_ROTATE_MB', 'required with AUDIT_LOG_KEEP_FILES');
  return rotateMegabytes === null ? null : { maxBytes: rotateMegabytes * 1_000_000, keptFileCount };
}

function readJournalSettings(reader: EnvReader, secretKey: Secret) {
  const hasFingerprintKey = reader.has('FINGERPRINT_KEY') || reader.has('SERVICE_SECRET_KEY');
  if (reader.has('SERVICE_CREDENTIALS_FILE') && !hasFingerprintKey)
    reader.addError(
      'FINGERPRINT_KEY',
      'required with SERVICE_CREDENTIALS_FILE if SERVICE_SECRET_KEY is not set',
    );
  return {
    url: reader.get('DATABASE_URL'),
    settleMs: reader.get('UNKNOWN_SETTLE_SECONDS') * 1000,
    fenceMs: reader.get('FENCE_SECONDS') * 1000,
    payoutPreflight: reader.get('PAYOUT_PREFLIGHT'),
    fingerprintKey: reader.get('FINGERPRINT_KEY') ?? secretKey,
    keepMs: reader.get('JOURNAL_RETENTION_DAYS') * DAY_MS,
  };
}

function readSandboxSettings(reader: EnvReader) {
  const port = reader.get('SANDBOX_PORT');
  const servesControlPlane = reader.get('SANDBOX_CONTROL');
  if (!usesSandbox(reader)) return null;
  // AUTH_JWKS_URL of the development issuer contains the sandbox's port, so the sandbox must not use another port.
  const isPortFixed = reader.has('SANDBOX_PORT') || reader.get('AUTH_ISSUER') === DEV_ISSUER;
  return { port, anyPortIfTaken: !isPortFixed, servesControlPlane };
}

function readAccessSettings(reader: EnvReader) {
  const jwksUrl = reader.get('AUTH_JWKS_URL');
  const issuer = reader.get('AUTH_ISSUER');
  const audience = reader.get('AUTH_AUDIENCE');
  const maxLifetimeSeconds = reader.get('AUTH_MAX_TOKEN_LIFETIME_SECONDS');
  const maxStaleKeysSeconds = reader.get('AUTH_MAX_STALE_KEYS_SECONDS');
  const requiredTokenSettingNames = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'] as const;
  const presentTokenSettingNames = requiredTokenSettingNames.filter((name) => reader.has(name));
  for (const name of requiredTokenSettingNames)
    if (presentTokenSettingNames.length > 0 && !reader.has(name))
      reader.addError(name, `required with ${presentTokenSettingNames.join(' and ')}`);
  if (issuer === DEV_ISSUER && !usesSandbox(reader))
    reader.addError('AUTH_ISSUER', `${DEV_ISSUER} is not allowed with SERVICE_BASE_URL: set your own issuer`);
  if (!usesSandbox(reader) && !reader.has('CLIENT_KEYS_FILE') && presentTokenSettingNames.length === 0)
    reader.addError(
      'CLIENT_KEYS_FILE',
      'a gateway with SERVICE_BASE_URL must authenticate callers: set CLIENT_KEYS_FILE (npm run client-key -- new <id> creates a key), or set AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE',
    );
  /** Settings with which tokens of frontends are verified; null: tokens are not accepted. */
  const jwtOptions =
    jwksUrl && issuer && audience
      ? { jwksUrl, issuer, audience, maxLifetimeSeconds, maxStaleKeysSeconds }
      : null;
  return { clientKeysFile: reader.get('CLIENT_KEYS_FILE'), jwtOptions };
}

const readHttpSettings = (reader: EnvReader) => ({
  corsOrigins: reader.get('CORS_ORIGINS') ?? (usesSandbox(reader) ? APOLLO_WEB_ORIGINS : []),
  trustedProxies: reader.get('TRUSTED_PROXIES') ?? [],
  ratePerMinute:
    usesSandbox(reader) && !reader.has('RATE_LIMIT_PER_MINUTE') ? 0 : reader.get('RATE_LIMIT_PER_MINUTE'),
  maxEventLoopLagMs: reader.get('MAX_EVENT_LOOP_LAG_MS'),
  clientTimeoutMs: reader.get('CLIENT_TIMEOUT_MS'),
  maxConnections: reader.get('MAX_CONNECTIONS'),
  maxConnectionsPerAddress: reader.get('MAX_CONNECTIONS_PER_ADDRESS'),
  maxUnreadBytes: reader.get('MAX_UNREAD_BYTES'),
  maxUnreadBytesPerCaller: reader.get('MAX_UNREAD_BYTES_PER_CALLER'),
  persisted: {
    manifestPath: reader.get('PERSISTED_OPERATIONS'),
    modeForFrontends: reader.get('PERSISTED_OPERATIONS_FRONTENDS'),
    modeForServices: reader.get('PERSISTED_OPERATIONS_SERVICES'),
  },
});

const readPollSettings = (reader: EnvReader) => ({
  intervalsByPhase: {
    payer: reader.get('POLL_INTERVALS_PAYER'),
    provider: reader.get('POLL_INTERVALS_PROVIDER'),
    mispaid: reader.get('POLL_INTERVALS_MISPAID'),
  },
  maxOutageMs: reader.get('SUBSCRIPTION_OUTAGE_SECONDS') * 1000,
});

const readChangeSettings = (reader: EnvReader) => ({
  followAfterCreateMs: reader.get('FOLLOW_DAYS') * DAY_MS,
  lookupsPerSecond: reader.get('FOLLOW_LOOKUPS_PER_SECOND'),
  keepMs: reader.get('CHANGES_RETENTION_DAYS') * DAY_MS,
});

/** Returns the settings of tracing; null if no collector is set. */
function readTracingSettings(reader: EnvReader): TracingSettings | null {
  // Validate the protocol, but do not use it: the only valid value is the one that the exporter supports.
  reader.get('OTEL_EXPORTER_OTLP_PROTOCOL');
  const collectorUrl = reader.get('OTEL_EXPORTER_OTLP_ENDPOINT');
  const defaultTracesUrl = collectorUrl && `${collectorUrl.replace(/\/*$/, '/')}v1/traces`;
  const tracesUrl = reader.get('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? defaultTracesUrl;
  const attributes = reader.get('OTEL_RESOURCE_ATTRIBUTES') ?? {};
  const { 'service.name': defaultOtelServiceName = 'paygraph', ...resourceAttributes } = attributes;
  const otherTracingSettings = {
    headers: reader.get('OTEL_EXPORTER_OTLP_HEADERS') ?? {},
    otelServiceName: reader.get('OTEL_SERVICE_NAME') ?? defaultOtelServiceName,
    resourceAttributes,
    sampler: reader.get('OTEL_TRACES_SAMPLER'),
    samplingRatio: reader.get('OTEL_TRACES_SAMPLER_ARG'),
  };
  return tracesUrl === null ? null : { tracesUrl, ...otherTracingSettings };
}

function configWarnings(reader: EnvReader): string[] {
  const warnings = reader.unknownNameWarnings();
  if (reader.get('REUSE_PORT') && reader.get('DATABASE_URL').reveal().startsWith('file:'))
    warnings.push(
      'REUSE_PORT is on, but DATABASE_URL is a SQLite file. Instances that share a port need one PostgreSQL journal.',
    );
  if (usesSandbox(reader) && (reader.has('SERVICE_API_KEY') || reader.has('SERVICE_SECRET_KEY')))
    warnings.push('Credentials are set, but SERVICE_BASE_URL is not: the gateway uses the embedded sandbox.');
  return warnings;
}

/** Whether callers need no authentication, because neither client keys nor tokens are configured. */
export const allowsUnauthenticatedCallers = (access: ReturnType<typeof readAccessSettings>): boolean =>
  !access.clientKeysFile && !access.jwtOptions;

/** Reads and checks every setting. Throws one ConfigError with all errors if a setting is missing or invalid. */
export function readConfig(env?: Environment) {
  const reader = createEnvReader(env);
  const hasSandbox = usesSandbox(reader);
  const service = readServiceSettings(reader);
  const config = {
    host: reader.get('HOST'),
    port: reader.get('PORT'),
    reusePort: reader.get('REUSE_PORT'),
    metricsPort: reader.get('METRICS_PORT'),
    service,
    journal: readJournalSettings(reader, service.secretKey),
    /** Settings of the embedded sandbox; null if no sandbox is started, because SERVICE_BASE_URL is set. */
    sandbox: readSandboxSettings(reader),
    access: readAccessSettings(reader),
    urlPolicy: {
      allowsLoopback: hasSandbox,
      allowedHosts: reader.get('ALLOWED_URL_HOSTS')?.map((host) => host.toLowerCase()) ?? null,
    },
    limits: readHttpSettings(reader),
    subscriptions: {
      maxSubscriptions: reader.get('MAX_SUBSCRIPTIONS'),
      maxSubscriptionsPerClient: reader.get('MAX_SUBSCRIPTIONS_PER_CLIENT'),
      heartbeatMs: reader.get('SUBSCRIPTION_PING_SECONDS') * 1000,
    },
    pollSettings: readPollSettings(reader),
    changeSettings: readChangeSettings(reader),
    tracing: readTracingSettings(reader),
    publicUrl: reader.get('PUBLIC_URL'),
    auditFile: reader.get('AUDIT_LOG_FILE'),
    auditKey: reader.get('AUDIT_LOG_KEY'),
    /** Rotation of the audit log by the gateway; null if AUDIT_LOG_ROTATE_MB is not set. */
    auditRotation: readAuditRotation(reader),
    metricsToken: reader.get('METRICS_TOKEN'),
    introspection: reader.get('INTROSPECTION') ?? hasSandbox,
    subgraph: reader.get('SUBGRAPH'),
    explorer: reader.get('EXPLORER') ?? hasSandbox,
    shutdownDelayMs: reader.get('SHUTDOWN_DELAY_MS'),
    shutdownGraceMs: reader.get('SHUTDOWN_GRACE_MS'),
    logLevel: reader.get('LOG_LEVEL'),
  };
  // Validate SETTLE_APPROVAL, which operator commands use and the gateway does not.
  reader.get('SETTLE_APPROVAL');
  if (allowsUnauthenticatedCallers(config.access) && !isLoopback(config.host))
    reader.addError(
      'HOST',
      'expected a loopback address, because callers are not authenticated; set CLIENT_KEYS_FILE or AUTH_JWKS_URL to allow other addresses',
    );
  // Also report unknown names, because a required setting may be missing due to a misspelt name.
  if (reader.errors.length > 0) throw new ConfigError([...reader.errors, ...reader.unknownNameWarnings()]);
  /** `warnings`: sentences for the log about suspicious settings; they contain no secrets. */
  return Object.freeze({ ...config, warnings: configWarnings(reader) });
}

const STANDALONE_SANDBOX_SETTING_NAMES = [
  ...['SANDBOX_PORT', 'SANDBOX_CONTROL', 'LOG_LEVEL'],
  ...['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE', 'SERVICE_SECRET_KEY', 'SERVICE_SECRET_KEY_FILE'],
];

/** Reads the settings of the standalone sandbox; ignores all others. Throws a ConfigError if one is invalid. */
export const readStandaloneSandboxConfig = (env: Environment = process.env): Config =>
  readConfig(Object.fromEntries(STANDALONE_SANDBOX_SETTING_NAMES.map((name) => [name, env[name]])));

/**
 * Returns the <NAME>_FILE variables that are set, but only those of secret settings. `filePath`: value of the
 * variable.
 */
export const secretFiles = (env: Environment = process.env): { variableName: string; filePath: string }[] =>
  Object.entries(SETTINGS).flatMap(([name, setting]) => {
    const filePath = env[`${name}_FILE`];
    return 'isSecret' in setting && filePath ? [{ variableName: `${name}_FILE`, filePath }] : [];
  });

/** Returns the settings that `readSettings` reads. Throws a ConfigError if one of them is missing or invalid. */
function readSettingsSubset<T>(env: Environment, readSettings: (reader: EnvReader) => T): T {
  const reader = createEnvReader(env);
  const config = readSettings(reader);
  if (reader.errors.length > 0) throw new ConfigError(reader.errors);
  return config;
}

/** Reads the settings that operator commands use. Throws a ConfigError if one is invalid. */
export const readCommandConfig = (env: Environment = process.env) =>
  readSettingsSubset(env, (reader) => ({
    journalUrl: reader.get('DATABASE_URL'),
    fenceMs: reader.get('FENCE_SECONDS') * 1000,
    serviceBaseUrl: reader.get('SERVICE_BASE_URL'),
    auditFile: reader.get('AUDIT_LOG_FILE'),
    auditKey: reader.get('AUDIT_LOG_KEY'),
    sandboxPort: reader.get('SANDBOX_PORT'),
    settleApproval: reader.get('SETTLE_APPROVAL'),
    metricsToken: reader.get('METRICS_TOKEN'),
    sudoUser: env['SUDO_USER'] || null,
  }));

/** Reads the settings of commands that look transactions up. Throws a ConfigError if one is missing or invalid. */
export const readLookupConfig = (env: Environment = process.env) =>
  readSettingsSubset(env, (reader) => ({
    journalUrl: reader.get('DATABASE_URL'),
    service: readServiceSettings(reader),
    isFollowingEnabled: reader.get('FOLLOW_DAYS') > 0,
  }));
