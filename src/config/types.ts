import type { PollIntervals } from '../shared/poll-intervals';
import type { Secret } from '../shared/secret';

/** Which URLs a caller may give: loopback, and of which hosts (null: any public one). */
export interface UrlPolicy {
  loopback: boolean;
  hosts: readonly string[] | null;
}

/** What happens to an operation that is not in the manifest: it is executed, executed with a warning, or rejected. */
export type PersistedMode = 'allow' | 'warn' | 'require';

/** How often transactions with a subscription are looked up. */
export interface PollSettings {
  schedule: Readonly<Record<'payer' | 'provider' | 'mispaid', PollIntervals>>;
  /** How long lookups may fail before subscriptions end with an error, in milliseconds; 0: never. */
  outageMs: number;
}

/** Samplers by their names in OTEL_TRACES_SAMPLER. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

export type SamplerName = (typeof SAMPLERS)[number];

/** Where spans are exported to, and which. */
export interface TracingSettings {
  /** The whole URL of the collector. */
  url: string;
  /** Headers of export requests. */
  headers: Readonly<Record<string, Secret>>;
  serviceName: string;
  /** Resource attributes. */
  resource: Readonly<Record<string, string>>;
  sampler: SamplerName;
  /** The share of traces that is kept, from 0 to 1, where the sampler uses one. */
  ratio: number;
}

/** How to reach the service. */
export interface ServiceConfig {
  baseUrl: string;
  apiKey: Secret;
  secretKey: Secret;
  /** Credentials per channel; null: apiKey and secretKey serve all of them. */
  credentialsFile: string | null;
  timeoutMs: number;
  notFoundStatus: number;
  /** Names that the JSON body of an answer with that status has in any case. */
  notFoundFields: readonly string[];
}

/** Who may call. Both null: everybody, from this machine only. */
export interface AccessConfig {
  clientKeysFile: string | null;
  tokens: TokenConfig | null;
}

/** Whose tokens are accepted. */
export interface TokenConfig {
  jwksUrl: string;
  issuer: string;
  audience: string;
  /** The longest lifetime of a token that is accepted. */
  maxLifetimeSeconds: number;
  /** How long the last public keys are used while no newer ones can be loaded. */
  maxStaleKeysSeconds: number;
}

/** What the web server lets in. */
export interface LimitsConfig {
  corsOrigins: readonly string[];
  trustedProxies: readonly string[];
  /** 0: no limit. */
  ratePerMinute: number;
  /** 0: never refuse. */
  maxEventLoopLagMs: number;
  /** How long a client may take to send a request, and to read what is written to it. */
  clientTimeoutMs: number;
  /** Null: as many as the process has file descriptors for. */
  maxConnections: number | null;
  /** 0: no limit; null: three quarters of all. */
  maxConnectionsPerAddress: number | null;
  /** Bytes buffered for clients that do not read them: in all, and for one caller. */
  maxUnreadBytes: number;
  maxUnreadBytesPerCaller: number;
  persisted: { manifest: string | null; frontends: PersistedMode; services: PersistedMode };
}

/** How live updates are served. */
export interface LiveConfig {
  /** Subscriptions at once: in all, and of one caller. */
  maxWatchers: number;
  maxWatchersPerClient: number;
  /** How often a silent connection is asked whether it is there. */
  heartbeatMs: number;
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
  /** Whether other processes of this machine may listen on the same port. */
  reusePort: boolean;
  /** The port of /metrics, /healthz and /readyz of this instance alone; null: `port` serves them. */
  metricsPort: number | null;
  /** baseUrl is empty while the sandbox has not been started. */
  service: ServiceConfig;
  journal: JournalConfig;
  /** Null with a real service. */
  sandbox: SandboxConfig | null;
  access: AccessConfig;
  urls: UrlPolicy;
  limits: LimitsConfig;
  live: LiveConfig;
  watching: PollSettings;
  /** Null where nothing is traced. */
  tracing: TracingSettings | null;
  /** Where others find this gateway, without a slash at its end; null: it is not said. */
  publicUrl: string | null;
  auditFile: string;
  /** Key of the hashes in the audit log; null: they have no key. */
  auditKey: Secret | null;
  /** When the gateway rotates the audit log; null: never. */
  auditRotation: { maxBytes: number; keepFiles: number | null } | null;
  /** What a reader of /metrics has to show; null: to be on this machine. */
  metricsToken: Secret | null;
  introspection: boolean;
  /** Whether a router may use the gateway as a subgraph. */
  subgraph: boolean;
  /** Whether there is a GraphQL IDE at /explorer. */
  explorer: boolean;
  /** What is odd about the settings, in words for the log; never a value. */
  warnings: string[];
  /** How long requests are still served after SIGTERM, while clients move to other instances, in milliseconds. */
  shutdownDelayMs: number;
  /** How long work in flight may take to end after that, in milliseconds. */
  shutdownGraceMs: number;
  logLevel: string;
}

/** What the operator's tools need: where the journal is, and of which service. */
export interface ToolConfig {
  journalUrl: Secret;
  /** Null without a real service. */
  serviceBaseUrl: string | null;
  auditFile: string;
  /** Key of the hashes in the audit log; null: they have no key. */
  auditKey: Secret | null;
  /** Where the embedded sandbox listens; 0: anywhere. */
  sandboxPort: number;
  /** Whether what one operator wants to settle needs the approval of another one. */
  settleApproval: boolean;
  /** What /metrics asks for; null where METRICS_TOKEN is not set. */
  metricsToken: Secret | null;
  /** SUDO_USER: who the environment says has run the tool by sudo; null where nobody has. */
  sudoUser: string | null;
}
