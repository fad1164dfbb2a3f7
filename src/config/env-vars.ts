import * as parsers from './parsers';
import { SAMPLERS } from './types';

/** Every setting, in the order of docs/configuration.md, which is generated from this table. */
export const SETTINGS = {
  HOST: {
    description:
      'Address to listen on. It must be a loopback address unless callers are authenticated (CLIENT_KEYS_FILE or AUTH_JWKS_URL).',
    default: '127.0.0.1',
    parser: parsers.hostName,
  },
  PORT: {
    description: 'Port of the gateway; 0 selects any free one.',
    default: '4000',
    parser: parsers.wholeNumber(0, 65535),
  },
  REUSE_PORT: {
    description:
      'Whether several instances on this machine may listen on the same PORT; Linux distributes connections among them ([deployment](deployment.md)). They need one PostgreSQL journal, and each needs its own METRICS_PORT and AUDIT_LOG_FILE.',
    default: 'off',
    parser: parsers.onOff,
  },
  SERVICE_BASE_URL: {
    description: 'URL of the payment service (specification: {base_url}). Plain http for loopback only.',
    whenUnset: 'the embedded sandbox is started and used',
    parser: parsers.baseUrl,
  },
  SERVICE_API_KEY: {
    description: 'API key for the payment service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: parsers.apiCredential,
    secret: true,
  },
  SERVICE_SECRET_KEY: {
    description: 'Secret key that signs requests to the payment service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: parsers.apiCredential,
    secret: true,
  },
  SERVICE_CREDENTIALS_FILE: {
    description:
      'JSON file with credentials per merchant channel, and several secret keys during a rotation; reloaded when it changes ([service credentials](service-credentials.md)).',
    whenUnset: 'SERVICE_API_KEY and SERVICE_SECRET_KEY are used for every channel',
    parser: parsers.filePath,
  },
  SERVICE_TIMEOUT_MS: {
    description:
      'Timeout of one request to the payment service in milliseconds, including connecting and reading the response body.',
    default: '10000',
    parser: parsers.wholeNumber(50, 120_000),
  },
  SERVICE_NOT_FOUND_STATUS: {
    description:
      'HTTP status with which the payment service answers a lookup of an unknown transaction. The specification does not define it; ask the provider.',
    default: '404',
    parser: parsers.wholeNumber(400, 499),
  },
  SERVICE_NOT_FOUND_FIELDS: {
    description:
      'JSON fields that every response of the payment service with SERVICE_NOT_FOUND_STATUS has. A response without them is attributed to a proxy in front of the service and never releases an idempotency key.',
    whenUnset: 'any JSON object counts as a response of the service',
    parser: parsers.listOf('names of JSON fields', parsers.isJsonFieldName),
  },
  DATABASE_URL: {
    description:
      'Database of the journal of creates: a SQLite file, or PostgreSQL for more than one instance. Several PostgreSQL hosts are separated by commas ([deployment](deployment.md)).',
    default: 'file:data/paygraph.db',
    parser: parsers.databaseUrl,
    secret: true,
  },
  FENCE_SECONDS: {
    description:
      'Time in seconds for which every create is looked up before it is sent, after the database of the journal has changed (failover, restored backup) or `paygraph fence on`. A payment found by its external id counts as created by a lost attempt if it is at most that much older than the change.',
    default: '86400',
    parser: parsers.wholeNumber(60, 2_592_000),
  },
  UNKNOWN_SETTLE_SECONDS: {
    description:
      'Time in seconds over which lookups must find nothing before a payment of unknown outcome counts as not sent; it begins when the create can no longer be sent. Then the payment may be created again with the same key. A payout stays UNKNOWN.',
    default: '900',
    parser: parsers.wholeNumber(1, 604_800),
  },
  PAYOUT_PREFLIGHT: {
    description:
      'Whether the external id of a payout is looked up before the payout is sent. An id that is in use is rejected, so that a payout found later under the id is the one that was sent.',
    default: 'on',
    parser: parsers.onOff,
  },
  FINGERPRINT_KEY: {
    description:
      'Secret from which the key of the input fingerprints in the journal is derived. It must be the same for all instances; keep it when SERVICE_SECRET_KEY changes.',
    whenUnset: 'SERVICE_SECRET_KEY',
    parser: parsers.apiCredential,
    secret: true,
  },
  JOURNAL_RETENTION_DAYS: {
    description:
      'Days for which ended attempts and their idempotency keys are kept. Attempts of unknown outcome are kept until their outcome is known.',
    default: '30',
    parser: parsers.wholeNumber(30, 3650),
  },
  CLIENT_KEYS_FILE: {
    description:
      'JSON file with the SHA-256 hashes of the keys of internal services; reloaded when it changes. `npm run client-key` creates keys ([security](security.md)).',
    whenUnset: 'no caller has a key',
    parser: parsers.filePath,
  },
  AUTH_JWKS_URL: {
    description: 'URL of the public keys (JWKS) that verify the tokens (JWT) of frontends.',
    whenUnset: 'tokens are not accepted',
    parser: parsers.issuerUrl,
  },
  AUTH_ISSUER: {
    description: 'Accepted issuer of tokens (claim iss).',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: parsers.printableText,
  },
  AUTH_AUDIENCE: {
    description: 'Accepted audience of tokens (claim aud).',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: parsers.printableText,
  },
  AUTH_MAX_TOKEN_LIFETIME_SECONDS: {
    description:
      'Maximum lifetime of an accepted token in seconds: exp minus iat, or the time until exp if the token has no iat.',
    default: '86400',
    parser: parsers.wholeNumber(60, 31_536_000),
  },
  AUTH_MAX_STALE_KEYS_SECONDS: {
    description:
      'Maximum time in seconds for which tokens are verified with cached public keys while AUTH_JWKS_URL cannot be read. After that, requests with a token get 503. A signing key that the issuer has removed stays accepted for the same time.',
    default: '3600',
    parser: parsers.wholeNumber(60, 604_800),
  },
  ALLOWED_URL_HOSTS: {
    description:
      'Allowed hosts of returnUrl and callbackUrl; *.shop.example matches every name below shop.example.',
    whenUnset: 'any public host',
    parser: parsers.listOf('host names', parsers.isHostNamePattern),
  },
  CORS_ORIGINS: {
    description: 'Web origins whose pages may call the gateway from a browser (CORS).',
    whenUnset: "none; Apollo's explorers with the embedded sandbox",
    parser: parsers.listOf('origins such as https://shop.example', parsers.isWebOrigin),
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses or networks of proxies. Their X-Forwarded-For header is trusted, and MAX_CONNECTIONS_PER_ADDRESS does not apply to them.',
    parser: parsers.listOf('IP addresses or networks such as 10.0.0.0/8', parsers.isIpNetwork),
  },
  RATE_LIMIT_PER_MINUTE: {
    description:
      'Rate limit: points that one caller may use per minute at one instance; 0: no limit. An operation costs 1 point per transaction that it looks up and 5 per mutation that moves money, but at least 1. With the embedded sandbox the default is 0.',
    default: '60000',
    parser: parsers.wholeNumber(0, 100_000_000),
  },
  MAX_EVENT_LOOP_LAG_MS: {
    description:
      'Mean event loop lag in milliseconds above which new operations are rejected with 503; 0: never.',
    default: '1000',
    parser: parsers.wholeNumber(0, 60_000),
  },
  CLIENT_TIMEOUT_MS: {
    description:
      'Maximum time in milliseconds that a client may take to send a request, and to read what the gateway writes to it. Connections of slower clients are closed.',
    default: '15000',
    parser: parsers.wholeNumber(100, 600_000),
  },
  MAX_CONNECTIONS: {
    description:
      'Maximum number of client connections of one instance. At the limit an idle connection is closed; if there is none, the new connection gets 503. The limit of file descriptors may lower the maximum ([deployment](deployment.md)).',
    whenUnset: 'the descriptor limit minus 1024, or half of it if that is more; at most 18000',
    parser: parsers.wholeNumber(1, 1_000_000),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    description:
      'Maximum number of client connections from one IPv4 address or IPv6 /64 network; 0: no limit. Does not apply to addresses in TRUSTED_PROXIES.',
    whenUnset: 'three quarters of MAX_CONNECTIONS',
    parser: parsers.wholeNumber(0, 1_000_000),
  },
  MAX_UNREAD_BYTES: {
    description:
      'Maximum number of bytes that one instance buffers for clients that do not read their responses. Beyond it, the connections with the most buffered bytes are closed.',
    default: '134217728',
    parser: parsers.wholeNumber(1_048_576, 999_999_999),
  },
  MAX_UNREAD_BYTES_PER_CALLER: {
    description:
      'Maximum number of bytes that one instance buffers for all connections of one caller that do not read their responses.',
    default: '33554432',
    parser: parsers.wholeNumber(1_048_576, 999_999_999),
  },
  PERSISTED_OPERATIONS: {
    description:
      'Path of a manifest of operations that callers may send by id, in the format of Apollo or graphql-codegen; `npm run persist` creates one ([persisted operations](persisted-operations.md)).',
    whenUnset: 'there is no manifest',
    parser: parsers.filePath,
  },
  PERSISTED_OPERATIONS_FRONTENDS: {
    description:
      'Operations that frontends (callers with a token) may send if there is a manifest: any (allow), any with a log warning if not in the manifest (warn), or only those in the manifest (require).',
    default: 'require',
    parser: parsers.oneOf('allow', 'warn', 'require'),
  },
  PERSISTED_OPERATIONS_SERVICES: {
    description:
      'As PERSISTED_OPERATIONS_FRONTENDS, for internal services (callers with a key), and for all callers if they are not authenticated.',
    default: 'allow',
    parser: parsers.oneOf('allow', 'warn', 'require'),
  },
  PUBLIC_URL: {
    description:
      'URL of this gateway for the payment service. A create without callbackUrl then sends a callbackUrl below it, and each callback triggers a lookup ([live updates](live-updates.md)). Plain http for loopback only.',
    whenUnset: 'no callbacks are requested: changes are found by polling',
    parser: parsers.publicUrl,
  },
  POLL_INTERVALS_PAYER: {
    description:
      'How often a payment with a subscription is looked up while it waits for the payer. The first interval, at least 2 s, is also pollAfterMs of such next actions.',
    default: '2s/2m 5s/10m 15s/1h 60s',
    parser: parsers.pollIntervals,
  },
  POLL_INTERVALS_PROVIDER: {
    description:
      'How often a payment or payout with a subscription is looked up while it waits for the provider, for example after a confirm. The first interval, at least 2 s, is also pollAfterMs of such next actions.',
    default: '1s/30s 2s/2m 5s/10m 15s/1h 60s',
    parser: parsers.pollIntervals,
  },
  POLL_INTERVALS_MISPAID: {
    description: 'How often a MISPAID payment with a subscription is looked up.',
    default: '15s/10m 60s',
    parser: parsers.pollIntervals,
  },
  SUBSCRIPTION_OUTAGE_SECONDS: {
    description:
      'Time in seconds for which lookups may fail before subscriptions end with an error; 0: subscriptions do not end because of failed lookups.',
    default: '300',
    parser: parsers.wholeNumber(0, 86_400),
  },
  SUBSCRIPTION_PING_SECONDS: {
    description:
      'Interval of pings to clients with subscriptions, in seconds. A connection that has not responded before the next ping is closed. Idle timeouts of proxies have to be longer.',
    default: '15',
    parser: parsers.wholeNumber(1, 3600),
  },
  MAX_SUBSCRIPTIONS: {
    description: 'Maximum number of concurrent subscriptions, and of WebSocket connections, of one instance.',
    default: '10000',
    parser: parsers.wholeNumber(1, 1_000_000),
  },
  MAX_SUBSCRIPTIONS_PER_CLIENT: {
    description:
      'Maximum number of concurrent subscriptions, and of WebSocket connections, of one caller at one instance.',
    default: '1000',
    parser: parsers.wholeNumber(1, 1_000_000),
  },
  METRICS_PORT: {
    description:
      'Port at HOST that serves /metrics, /healthz and /readyz of this instance; 0 selects any free one. Instances that share a PORT (REUSE_PORT) each need their own.',
    whenUnset: '/metrics is served at PORT',
    parser: parsers.wholeNumber(0, 65535),
  },
  METRICS_TOKEN: {
    description: 'Token for reading /metrics from other machines: Authorization: Bearer <token>.',
    whenUnset: '/metrics is readable from this machine only, and not through a proxy',
    parser: parsers.apiCredential,
    secret: true,
  },
  AUDIT_LOG_FILE: {
    description:
      'File with one line per call that moves money, chained by hashes: `npm run audit -- verify` finds missing and changed lines.',
    default: 'data/audit.log',
    parser: parsers.filePath,
  },
  AUDIT_LOG_KEY: {
    description:
      'Secret key of the hashes in the audit log. Somebody without the key cannot change lines unnoticed. It must be the same for all processes that write to the file and for `npm run audit -- verify` ([audit log](audit-log.md)).',
    whenUnset: 'the hashes have no key',
    parser: parsers.apiCredential,
    secret: true,
  },
  AUDIT_LOG_ROTATE_MB: {
    description:
      'Size in MB at which the audit log is rotated to AUDIT_LOG_FILE.<time>-<writer> ([audit log](audit-log.md)).',
    whenUnset: 'the gateway does not rotate the audit log',
    parser: parsers.wholeNumber(1, 100_000),
  },
  AUDIT_LOG_KEEP_FILES: {
    description: 'How many rotated files of the audit log are kept; older ones are deleted.',
    whenUnset: 'all rotated files are kept',
    parser: parsers.wholeNumber(1, 1000),
  },
  SETTLE_APPROVAL: {
    description:
      'Whether another user of the operating system has to approve each outcome that an operator settles with `npm run attempts -- settle` ([exactly once](exactly-once.md)). Used by the command line only.',
    default: 'off',
    parser: parsers.onOff,
  },
  SANDBOX_PORT: {
    description:
      'Port of the embedded sandbox; 0 selects any free one. If the setting is not set and the default port is in use, any free one is selected.',
    default: '4001',
    parser: parsers.wholeNumber(0, 65535),
  },
  SANDBOX_CONTROL: {
    description: 'Whether the sandbox serves its control API and its console under /_sandbox/.',
    default: 'off',
    parser: parsers.onOff,
  },
  INTROSPECTION: {
    description: 'Whether callers may introspect the schema and get suggestions for unknown names.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: parsers.onOff,
  },
  SUBGRAPH: {
    description:
      'Whether the gateway is a subgraph of Apollo Federation 2 with _service and _entities ([federation](federation.md)).',
    default: 'off',
    parser: parsers.onOff,
  },
  EXPLORER: {
    description: 'Whether a GraphQL IDE is served at /explorer. It loads nothing from other hosts.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: parsers.onOff,
  },
  SHUTDOWN_DELAY_MS: {
    description:
      'Time in milliseconds after SIGTERM for which the gateway still serves requests, so that load balancers can stop sending them: /readyz responds 503, and every response closes its connection. SHUTDOWN_GRACE_MS follows.',
    default: '0',
    parser: parsers.wholeNumber(0, 300_000),
  },
  SHUTDOWN_GRACE_MS: {
    description:
      'Maximum time in milliseconds after SIGTERM and SHUTDOWN_DELAY_MS that requests in flight may take before the process exits.',
    default: '10000',
    parser: parsers.wholeNumber(0, 600_000),
  },
  LOG_LEVEL: {
    description: 'Minimum level of log lines (JSON on standard output).',
    default: 'info',
    parser: parsers.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description:
      'URL of the OpenTelemetry collector; traces are sent to v1/traces below it ([tracing](tracing.md)).',
    whenUnset: 'nothing is traced, unless OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set',
    parser: parsers.collectorUrl,
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    description: 'Full URL to which traces are sent.',
    whenUnset: 'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
    parser: parsers.collectorUrl,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    description: 'Protocol of the trace exporter. Collectors usually use port 4318 for it.',
    default: 'http/protobuf',
    parser: parsers.oneOf('http/protobuf'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers of requests to the collector, for example its API key.',
    parser: parsers.exporterHeaders,
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    description: 'Name of the gateway in traces.',
    whenUnset: 'service.name in OTEL_RESOURCE_ATTRIBUTES, or else paygraph',
    parser: parsers.printableText,
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    description: 'Resource attributes of traces, such as deployment.environment.name=production.',
    parser: parsers.resourceAttributes,
  },
  OTEL_TRACES_SAMPLER: {
    description:
      "Which traces are kept: all (always_on), none (always_off), or a share (traceidratio). With parentbased_ the sampling flag of a caller's traceparent takes precedence.",
    default: 'parentbased_always_on',
    parser: parsers.oneOf(...SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'Share of traces that traceidratio and parentbased_traceidratio keep, from 0 to 1.',
    default: '1',
    parser: parsers.decimalFraction,
  },
} satisfies Record<string, parsers.Setting<unknown>>;
