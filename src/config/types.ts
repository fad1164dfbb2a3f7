import type { PollIntervals } from '../shared/poll-intervals';
import type { Secret } from '../shared/secret';

/** Rules for the returnUrl and callbackUrl of callers. */
export interface UrlPolicy {
  /** Whether loopback hosts are allowed, also with plain http. */
  allowsLoopback: boolean;
  /** Allowed host names, such as *.shop.example; null: any public host. */
  hosts: readonly string[] | null;
}

/** Whether an operation that is not in the manifest is executed, executed with a log warning, or rejected. */
export type PersistedMode = 'allow' | 'warn' | 'require';

export interface PollSettings {
  /** Poll intervals of a transaction that waits for the payer, waits for the provider, or is MISPAID. */
  schedule: Readonly<Record<'payer' | 'provider' | 'mispaid', PollIntervals>>;
  /** How long lookups may fail before subscriptions end with an error, in ms; 0: they never end because of it. */
  outageMs: number;
}

/** Values of OTEL_TRACES_SAMPLER. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

export interface TracingSettings {
  /** The full URL to which traces are posted. */
  url: string;
  headers: Readonly<Record<string, Secret>>;
  serviceName: string;
  resourceAttributes: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** Share of traces that the samplers with `traceidratio` in their name keep, from 0 to 1. */
  samplingRatio: number;
}

export interface ServiceConfig {
  /** With the embedded sandbox: empty until the sandbox has started. */
  baseUrl: string;
  apiKey: Secret;
  secretKey: Secret;
  /** The file with credentials per channel; null: apiKey and secretKey are used for all channels. */
  credentialsFile: string | null;
  timeoutMs: number;
  /** HTTP status with which the service answers a lookup of an unknown transaction. */
  notFoundStatus: number;
  /** JSON fields that the service includes in every response with `notFoundStatus`. */
  notFoundFields: readonly string[];
}

/** Authentication of callers. If both are null, callers are not authenticated, and only this machine may connect. */
export interface AccessConfig {
  clientKeysFile: string | null;
  /** Verification of the tokens of frontends; null: tokens are not accepted. */
  tokens: {
    jwksUrl: string;
    issuer: string;
    audience: string;
    maxLifetimeSeconds: number;
    /** How long cached public keys are used while `jwksUrl` cannot be read. */
    maxStaleKeysSeconds: number;
  } | null;
}

export interface LimitsConfig {
  corsOrigins: readonly string[];
  trustedProxies: readonly string[];
  /** Rate limit of a caller, in points (RATE_LIMIT_PER_MINUTE); 0: no limit. */
  ratePerMinute: number;
  /** Mean event loop lag above which operations are rejected; 0: no limit. */
  maxEventLoopLagMs: number;
  /** How long a client may take to send a request and to read what the gateway writes to it. */
  clientTimeoutMs: number;
  /** Null: as many as the limit of file descriptors allows. */
  maxConnections: number | null;
  /** 0: no limit; null: three quarters of maxConnections. */
  maxConnectionsPerAddress: number | null;
  maxUnreadBytes: number;
  maxUnreadBytesPerCaller: number;
  /** `modeForServices` also applies to callers without authentication. */
  persisted: { manifest: string | null; modeForFrontends: PersistedMode; modeForServices: PersistedMode };
}

export interface JournalConfig {
  /** file:<path> or postgres://…; may contain a password. */
  url: Secret;
  /** UNKNOWN_SETTLE_SECONDS, in ms. */
  settleMs: number;
  /** Whether the external id of a payout is looked up before the payout is sent. */
  payoutPreflight: boolean;
  /** Secret from which the key of the input fingerprints is derived. */
  fingerprintKey: Secret;
  /** How long ended attempts are kept. */
  keepMs: number;
  /** FENCE_SECONDS, in ms. */
  fenceMs: number;
}

export interface SandboxConfig {
  port: number;
  /** Whether to use any free port if `port` is in use. */
  anyPortIfTaken: boolean;
  /** Whether to serve the control API and the console. */
  control: boolean;
}

/** All settings of the gateway, validated; docs/configuration.md describes them. */
export interface Config {
  host: string;
  port: number;
  reusePort: boolean;
  /** Null: /metrics is served at `port`. */
  metricsPort: number | null;
  service: ServiceConfig;
  journal: JournalConfig;
  /** Null if SERVICE_BASE_URL is set: no sandbox is started. */
  sandbox: SandboxConfig | null;
  access: AccessConfig;
  urls: UrlPolicy;
  limits: LimitsConfig;
  subscriptions: { maxSubscriptions: number; maxSubscriptionsPerClient: number; heartbeatMs: number };
  watching: PollSettings;
  /** Null: tracing is off. */
  tracing: TracingSettings | null;
  /** URL of this gateway for callbacks, without a trailing slash; null: no callbacks are requested. */
  publicUrl: string | null;
  auditFile: string;
  /** Secret key of the hashes in the audit log; null: the hashes have no key. */
  auditKey: Secret | null;
  /** Null: the gateway does not rotate the audit log. `keepFiles`: number of rotated files that it keeps; null: all. */
  auditRotation: { maxBytes: number; keepFiles: number | null } | null;
  /** Null: /metrics is readable from this machine only. */
  metricsToken: Secret | null;
  introspection: boolean;
  subgraph: boolean;
  explorer: boolean;
  /** Suspicious settings, as sentences for the log without values. */
  warnings: string[];
  shutdownDelayMs: number;
  shutdownGraceMs: number;
  logLevel: string;
}

/** The settings that operator commands use. */
export interface ToolConfig {
  journalUrl: Secret;
  /** FENCE_SECONDS, in ms. */
  fenceMs: number;
  /** Null if SERVICE_BASE_URL is not set. */
  serviceBaseUrl: string | null;
  auditFile: string;
  /** Secret key of the hashes in the audit log; null: the hashes have no key. */
  auditKey: Secret | null;
  /** 0: any free port. */
  sandboxPort: number;
  /** Whether another operator has to approve an outcome before it is recorded. */
  settleApproval: boolean;
  metricsToken: Secret | null;
  /** The environment variable SUDO_USER; null if not set. */
  sudoUser: string | null;
}
