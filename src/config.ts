import process from 'node:process';
import { Secret } from './secret';
import { SettingsReader, type Environment } from './settings';
import { DEV_ISSUER } from './access/dev-issuer';
import { isLoopback } from './loopback';
import { readMetricsToken } from './metrics-settings';
import { SETTINGS } from './settings-table';
import { readTracing } from './tracing-settings';
import { readExplorer } from './explorer-settings';
import { readLimits } from './limits-settings';
import { readLive, readWatching } from './watching-settings';

import type {
  AccessConfig,
  Config,
  JournalConfig,
  SandboxConfig,
  ServiceConfig,
  ToolConfig,
} from './config-types';

export type * from './config-types';

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
  const credentialsFile = reader.get('SERVICE_CREDENTIALS_FILE', SETTINGS.SERVICE_CREDENTIALS_FILE) ?? null;
  if (reader.has('SERVICE_BASE_URL') && credentialsFile === null) {
    for (const name of ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY']) {
      if (!reader.hasSecret(name))
        reader.fault(name, `required with SERVICE_BASE_URL; set it or ${name}_FILE`);
    }
  }
  return {
    baseUrl,
    apiKey: reader.get('SERVICE_API_KEY', SETTINGS.SERVICE_API_KEY) ?? SANDBOX_CREDENTIALS.apiKey,
    secretKey: reader.get('SERVICE_SECRET_KEY', SETTINGS.SERVICE_SECRET_KEY) ?? SANDBOX_CREDENTIALS.secretKey,
    credentialsFile,
    timeoutMs: reader.get('SERVICE_TIMEOUT_MS', SETTINGS.SERVICE_TIMEOUT_MS) ?? 10_000,
    notFoundStatus: reader.get('SERVICE_NOT_FOUND_STATUS', SETTINGS.SERVICE_NOT_FOUND_STATUS) ?? 404,
    notFoundFields: reader.get('SERVICE_NOT_FOUND_FIELDS', SETTINGS.SERVICE_NOT_FOUND_FIELDS) ?? [],
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

const readJournalUrl = (reader: SettingsReader): Secret =>
  new Secret(reader.get('DATABASE_URL', SETTINGS.DATABASE_URL) ?? 'file:data/paygraph.db');

const readAuditFile = (reader: SettingsReader): string =>
  reader.get('AUDIT_LOG_FILE', SETTINGS.AUDIT_LOG_FILE) ?? 'data/audit.log';

function readAuditRotation(reader: SettingsReader): Config['auditRotation'] {
  const megabytes = reader.get('AUDIT_LOG_ROTATE_MB', SETTINGS.AUDIT_LOG_ROTATE_MB);
  const keepFiles = reader.get('AUDIT_LOG_KEEP_FILES', SETTINGS.AUDIT_LOG_KEEP_FILES) ?? null;
  if (keepFiles !== null && !reader.has('AUDIT_LOG_ROTATE_MB'))
    reader.fault('AUDIT_LOG_ROTATE_MB', 'required with AUDIT_LOG_KEEP_FILES');
  return megabytes === undefined ? null : { maxBytes: megabytes * 1_000_000, keepFiles };
}

function readJournal(reader: SettingsReader, { secretKey }: ServiceConfig): JournalConfig {
  if (
    reader.has('SERVICE_CREDENTIALS_FILE') &&
    !reader.hasSecret('SERVICE_SECRET_KEY') &&
    !reader.hasSecret('FINGERPRINT_KEY')
  ) {
    reader.fault(
      'FINGERPRINT_KEY',
      'required with SERVICE_CREDENTIALS_FILE where SERVICE_SECRET_KEY is not set',
    );
  }
  return {
    url: readJournalUrl(reader),
    settleMs: (reader.get('UNKNOWN_SETTLE_SECONDS', SETTINGS.UNKNOWN_SETTLE_SECONDS) ?? 900) * 1000,
    preflight: reader.get('PAYOUT_PREFLIGHT', SETTINGS.PAYOUT_PREFLIGHT) ?? true,
    fingerprintKey: reader.get('FINGERPRINT_KEY', SETTINGS.FINGERPRINT_KEY) ?? secretKey,
    keepMs: (reader.get('JOURNAL_RETENTION_DAYS', SETTINGS.JOURNAL_RETENTION_DAYS) ?? 30) * DAY_MS,
  };
}

const SANDBOX_PORT = 4001;

function readSandbox(reader: SettingsReader): SandboxConfig | null {
  const port = reader.get('SANDBOX_PORT', SETTINGS.SANDBOX_PORT);
  const control = reader.get('SANDBOX_CONTROL', SETTINGS.SANDBOX_CONTROL) ?? false;
  if (reader.has('SERVICE_BASE_URL')) return null;
  // The address of the development issuer's keys names the port.
  const isFixed =
    reader.has('SANDBOX_PORT') || reader.get('AUTH_ISSUER', SETTINGS.AUTH_ISSUER) === DEV_ISSUER;
  return { port: port ?? SANDBOX_PORT, anyPortIfTaken: !isFixed, control };
}

function readAccess(reader: SettingsReader): AccessConfig {
  const clientKeysFile = reader.get('CLIENT_KEYS_FILE', SETTINGS.CLIENT_KEYS_FILE) ?? null;
  const names = ['AUTH_JWKS_URL', 'AUTH_ISSUER', 'AUTH_AUDIENCE'] as const;
  const [jwksUrl, issuer, audience] = names.map((name) => reader.get(name, SETTINGS[name]));
  const given = names.filter((name) => reader.has(name));
  if (given.length > 0) {
    names
      .filter((name) => !reader.has(name))
      .forEach((name) => reader.fault(name, `required with ${given.join(' and ')}`));
  }
  const maxLifetimeSeconds =
    reader.get('AUTH_MAX_TOKEN_LIFETIME_SECONDS', SETTINGS.AUTH_MAX_TOKEN_LIFETIME_SECONDS) ?? 86_400;
  const maxStaleKeysSeconds =
    reader.get('AUTH_MAX_STALE_KEYS_SECONDS', SETTINGS.AUTH_MAX_STALE_KEYS_SECONDS) ?? 3600;
  const tokens =
    jwksUrl && issuer && audience
      ? { jwksUrl, issuer, audience, maxLifetimeSeconds, maxStaleKeysSeconds }
      : null;
  if (issuer === DEV_ISSUER && reader.has('SERVICE_BASE_URL'))
    reader.fault('AUTH_ISSUER', `tokens of ${DEV_ISSUER} are for the embedded sandbox only`);
  if (reader.has('SERVICE_BASE_URL') && !reader.has('CLIENT_KEYS_FILE') && given.length === 0) {
    reader.fault(
      'CLIENT_KEYS_FILE',
      'required with SERVICE_BASE_URL, or else AUTH_JWKS_URL, AUTH_ISSUER and AUTH_AUDIENCE: with a real service nobody calls without credentials (npm run client-key -- new <id> makes a key)',
    );
  }
  return { clientKeysFile, tokens };
}

/** Names that are not warned of. systemd sets JOURNAL_STREAM. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]),
  'JOURNAL_STREAM',
]);

/** Names that begin so are meant for the gateway. */
const OWN_PREFIXES = [
  'SERVICE_',
  'SANDBOX_',
  'JOURNAL_',
  'DATABASE_',
  'PAYOUT_',
  'UNKNOWN_',
  'FINGERPRINT_',
  'AUTH_',
  'CLIENT_KEYS',
  'CORS_',
  'PERSISTED_',
  'RATE_LIMIT',
  'AUDIT_',
  'TRUSTED_PROX',
  'ALLOWED_URL',
  'PUBLIC_URL',
  'WATCH_',
  'MAX_WATCH',
  'MAX_CONNECTIONS',
  'MAX_UNREAD',
  'SUBGRAPH',
  'OTEL_',
  'METRICS_',
];

const unknownNames = (reader: SettingsReader): string[] => reader.unknown(OWN_PREFIXES, KNOWN);

function warningsOf(reader: SettingsReader, sandbox: SandboxConfig | null): string[] {
  const warnings = unknownNames(reader);
  const credentials = ['SERVICE_API_KEY', 'SERVICE_SECRET_KEY'].some((name) => reader.hasSecret(name));
  if (sandbox && credentials) {
    warnings.push(
      'SERVICE_BASE_URL is not set although credentials are: this is the sandbox, no real service.',
    );
  }
  return warnings;
}

/** Whether everybody on this machine may call. */
export const isOpen = ({ clientKeysFile, tokens }: AccessConfig): boolean => !clientKeysFile && !tokens;

/** The settings of this process. */
export const environment = (): Environment => process.env;

/** Reads and checks every setting. Throws one ConfigError that names all that is wrong. */
export function readConfig(env: Environment = process.env): Config {
  const reader = new SettingsReader(env);
  const sandbox = readSandbox(reader);
  const service = readService(reader);
  const access = readAccess(reader);
  const config: Config = {
    host: reader.get('HOST', SETTINGS.HOST) ?? '127.0.0.1',
    port: reader.get('PORT', SETTINGS.PORT) ?? 4000,
    workers: reader.get('WORKERS', SETTINGS.WORKERS) ?? 1,
    service,
    journal: readJournal(reader, service),
    sandbox,
    access,
    urls: {
      loopback: sandbox !== null,
      hosts: reader.get('ALLOWED_URL_HOSTS', SETTINGS.ALLOWED_URL_HOSTS) ?? null,
    },
    limits: readLimits(reader, sandbox !== null),
    live: readLive(reader),
    watching: readWatching(reader),
    tracing: readTracing(reader),
    publicUrl: reader.get('PUBLIC_URL', SETTINGS.PUBLIC_URL) ?? null,
    auditFile: readAuditFile(reader),
    auditRotation: readAuditRotation(reader),
    metricsToken: readMetricsToken(reader),
    introspection: reader.get('INTROSPECTION', SETTINGS.INTROSPECTION) ?? sandbox !== null,
    subgraph: reader.get('SUBGRAPH', SETTINGS.SUBGRAPH) ?? false,
    explorer: readExplorer(reader, sandbox !== null),
    warnings: warningsOf(reader, sandbox),
    shutdownDelayMs: reader.get('SHUTDOWN_DELAY_MS', SETTINGS.SHUTDOWN_DELAY_MS) ?? 0,
    shutdownGraceMs: reader.get('SHUTDOWN_GRACE_MS', SETTINGS.SHUTDOWN_GRACE_MS) ?? 10_000,
    logLevel: reader.get('LOG_LEVEL', SETTINGS.LOG_LEVEL) ?? 'info',
  };
  // For operators' commands only, and read here so that a wrong value is noticed at start.
  reader.get('SETTLE_APPROVAL', SETTINGS.SETTLE_APPROVAL);
  if (isOpen(access) && !isLoopback(config.host)) {
    reader.fault(
      'HOST',
      'expected a loopback address: callers are not authenticated, so nobody else may reach the gateway; CLIENT_KEYS_FILE or AUTH_JWKS_URL changes that',
    );
  }
  // A setting that is missing may be one that is misspelt.
  if (reader.faults.length > 0) throw new ConfigError([...reader.faults, ...unknownNames(reader)]);
  return Object.freeze(config);
}

/** What the sandbox reads where it is a program of its own. */
const SANDBOX_SETTINGS = [
  ...['SANDBOX_PORT', 'SANDBOX_CONTROL', 'LOG_LEVEL'],
  ...['SERVICE_API_KEY', 'SERVICE_API_KEY_FILE', 'SERVICE_SECRET_KEY', 'SERVICE_SECRET_KEY_FILE'],
];

/** Reads the settings of the sandbox alone; those of a gateway may stand beside them. Throws a ConfigError. */
export const readSandboxConfig = (env: Environment = process.env): Config =>
  readConfig(Object.fromEntries(SANDBOX_SETTINGS.map((name) => [name, env[name]])));

/**
 * The gateway's settings as they are set, and nothing else, with what the files of secrets hold in the place of their
 * paths: a process that is started with them is set as this one is, whatever has become of the files. Throws a
 * ConfigError.
 */
export function readSettings(env: Environment = process.env): Environment {
  const reader = new SettingsReader(env);
  const set = Object.entries(SETTINGS).map(([name, setting]): [string, string | undefined] => [
    name,
    reader.text(name, setting),
  ]);
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return Object.fromEntries(set);
}

/** The files that secrets are given in, by the names of their settings. */
export const secretFiles = (env: Environment = process.env): { setting: string; path: string }[] =>
  Object.keys(SETTINGS).flatMap((name) => {
    const setting = `${name}_FILE`;
    const path = env[setting];
    return 'secret' in SETTINGS[name as keyof typeof SETTINGS] && path ? [{ setting, path }] : [];
  });

/** Reads only the settings that the operator's tools use. Throws a ConfigError. */
export function readToolConfig(env: Environment = process.env): ToolConfig {
  const reader = new SettingsReader(env);
  const config = {
    journalUrl: readJournalUrl(reader),
    serviceBaseUrl: reader.get('SERVICE_BASE_URL', SETTINGS.SERVICE_BASE_URL) ?? null,
    auditFile: readAuditFile(reader),
    sandboxPort: reader.get('SANDBOX_PORT', SETTINGS.SANDBOX_PORT) ?? SANDBOX_PORT,
    settleApproval: reader.get('SETTLE_APPROVAL', SETTINGS.SETTLE_APPROVAL) ?? false,
    metricsToken: readMetricsToken(reader),
    sudoUser: env['SUDO_USER'] || null,
  };
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  return config;
}
