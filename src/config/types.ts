import type { PollIntervals } from '../shared/poll-intervals';
import type { Secret } from '../shared/secret';

/** Allowed URLs of callers: whether loopback, and the hosts (null: any public one). */
export interface UrlPolicy {
  loopback: boolean;
  hosts: readonly string[] | null;
}

/** Operations that are not in the manifest are executed, executed with a warning, or rejected. */
export type PersistedMode = 'allow' | 'warn' | 'require';

export interface PollSettings {
  schedule: Readonly<Record<'payer' | 'provider' | 'mispaid', PollIntervals>>;
  /** How long lookups may fail before subscriptions end with an error, in milliseconds; 0: never. */
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
  /** The full URL for traces. */
  url: string;
  headers: Readonly<Record<string, Secret>>;
  serviceName: string;
  /** Resource attributes. */
  resource: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** For the ratio samplers, from 0 to 1. */
  ratio: number;
}

export interface ServiceConfig {
  /** Empty until the sandbox has started, if there is no real service. */
  baseUrl: string;
  apiKey: Secret;
  secretKey: Secret;
  /** Credentials per channel; null: apiKey and secretKey for all of them. */
  credentialsFile: string | null;
  timeoutMs: number;
  notFoundStatus: number;
  /** JSON fields of every response with that status. */
  notFoundFields: readonly string[];
}

/** Authentication of callers. Both null: none, from this machine only. */
export interface AccessConfig {
  clientKeysFile: string | null;
  tokens: {
    jwksUrl: string;
    issuer: string;
    audience: string;
    maxLifetimeSeconds: number;
    /** How long cached public keys are used while they cannot be reloaded. */
    maxStaleKeysSeconds: number;
  } | null;
}

export interface LimitsConfig {
  corsOrigins: readonly string[];
  trustedProxies: readonly string[];
  /** 0: no limit. */
  ratePerMinute: number;
  /** 0: no limit. */
  maxEventLoopLagMs: number;
  clientTimeoutMs: number;
  /** Null: as many as file descriptors allow. */
  maxConnections: number | null;
  /** 0: no limit; null: three quarters of maxConnections. */
  maxConnectionsPerAddress: number | null;
  maxUnreadBytes: number;
  maxUnreadBytesPerCaller: number;
  persisted: { manifest: string | null; frontends: PersistedMode; services: PersistedMode };
}

export interface JournalConfig {
  /** file:<path> or postgres://…; may contain a password. */
  url: Secret;
  settleMs: number;
  preflight: boolean;
  fingerprintKey: Secret;
  keepMs: number;
}

export interface SandboxConfig {
  port: number;
  /** Whether to use any free port if `port` is in use. */
  anyPortIfTaken: boolean;
  control: boolean;
}

/** All settings, validated; docs/configuration.md describes them. */
export interface Config {
  host: string;
  port: number;
  reusePort: boolean;
  /** Null: `port` serves /metrics. */
  metricsPort: number | null;
  service: ServiceConfig;
  journal: JournalConfig;
  /** Null with a real service. */
  sandbox: SandboxConfig | null;
  access: AccessConfig;
  urls: UrlPolicy;
  limits: LimitsConfig;
  subscriptions: { maxSubscriptions: number; maxSubscriptionsPerClient: number; heartbeatMs: number };
  watching: PollSettings;
  /** Null: no traces. */
  tracing: TracingSettings | null;
  /** Without a trailing slash. */
  publicUrl: string | null;
  auditFile: string;
  /** Key of the hashes in the audit log; null: plain hashes. */
  auditKey: Secret | null;
  /** Null: the gateway does not rotate the audit log. */
  auditRotation: { maxBytes: number; keepFiles: number | null } | null;
  /** Null: /metrics is readable from this machine only. */
  metricsToken: Secret | null;
  introspection: boolean;
  subgraph: boolean;
  explorer: boolean;
  /** For the log; without values. */
  warnings: string[];
  shutdownDelayMs: number;
  shutdownGraceMs: number;
  logLevel: string;
}

/** Settings of the operator's commands. */
export interface ToolConfig {
  journalUrl: Secret;
  /** Null without a real service. */
  serviceBaseUrl: string | null;
  auditFile: string;
  /** Key of the hashes in the audit log; null: plain hashes. */
  auditKey: Secret | null;
  /** 0: any free port. */
  sandboxPort: number;
  /** Whether another operator has to approve an outcome. */
  settleApproval: boolean;
  metricsToken: Secret | null;
  /** The environment variable SUDO_USER; null if not set. */
  sudoUser: string | null;
}
