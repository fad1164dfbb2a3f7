import * as parse from './parsers';
import type { AnySetting } from './env-reader';
import { SAMPLERS } from './types';

/** Every setting, in the order of docs/configuration.md, which is generated from this table. */
export const SETTINGS = {
  HOST: {
    description:
      'Address to listen on: loopback unless callers are authenticated (CLIENT_KEYS_FILE or AUTH_JWKS_URL).',
    default: '127.0.0.1',
    parser: parse.hostName,
  },
  PORT: {
    description: 'Port of the gateway; 0 selects any free one.',
    default: '4000',
    parser: parse.wholeNumber(0, 65535),
  },
  REUSE_PORT: {
    description:
      'Whether several instances on this machine may listen on the same PORT; Linux distributes connections ([deployment](deployment.md)). They need one PostgreSQL journal, and a METRICS_PORT and AUDIT_LOG_FILE each.',
    default: 'off',
    parser: parse.onOff,
  },
  SERVICE_BASE_URL: {
    description: 'URL of the payment service (specification: {base_url}). Plain http for loopback only.',
    whenUnset: 'the embedded sandbox is started and used',
    parser: parse.baseUrl,
  },
  SERVICE_API_KEY: {
    description: 'API key for the service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: parse.apiCredential,
    secret: true,
  },
  SERVICE_SECRET_KEY: {
    description: 'Secret key that signs requests (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: parse.apiCredential,
    secret: true,
  },
  SERVICE_CREDENTIALS_FILE: {
    description:
      'JSON file with credentials per merchant channel, and several secret keys during a rotation; reloaded when it changes ([service credentials](service-credentials.md)).',
    whenUnset: 'SERVICE_API_KEY and SERVICE_SECRET_KEY serve every channel',
    parser: parse.filePath,
  },
  SERVICE_TIMEOUT_MS: {
    description: 'Timeout of one request to the service in milliseconds: connecting, headers and body.',
    default: '10000',
    parser: parse.wholeNumber(50, 120_000),
  },
  SERVICE_NOT_FOUND_STATUS: {
    description: 'HTTP status of a lookup without a result. The specification does not state it.',
    default: '404',
    parser: parse.wholeNumber(400, 499),
  },
  SERVICE_NOT_FOUND_FIELDS: {
    description:
      'JSON fields that the body of a not-found response always has. A response without them comes from something in front of the service and never releases an idempotency key.',
    whenUnset: 'any JSON object counts as a response of the service',
    parser: parse.listOf('names of JSON fields', parse.jsonFieldName),
  },
  DATABASE_URL: {
    description:
      'Journal of creates: a SQLite file, or PostgreSQL for more than one instance. Several hosts are separated by commas ([deployment](deployment.md)).',
    default: 'file:data/paygraph.db',
    parser: parse.databaseUrl,
    secret: true,
  },
  UNKNOWN_SETTLE_SECONDS: {
    description:
      'How long after the last possible time of sending a lookup without a result proves nothing, in seconds. Then a payment may be created again with the same key; a payout stays UNKNOWN.',
    default: '900',
    parser: parse.wholeNumber(1, 604_800),
  },
  PAYOUT_PREFLIGHT: {
    description:
      'Whether the external id of a payout is looked up before sending. A used one is rejected, so a payout found later with the id is the one that was sent.',
    default: 'on',
    parser: parse.onOff,
  },
  FINGERPRINT_KEY: {
    description:
      'Secret from which the key of the input fingerprints in the journal is derived. The same for all instances; keep it when SERVICE_SECRET_KEY changes.',
    whenUnset: 'SERVICE_SECRET_KEY',
    parser: parse.apiCredential,
    secret: true,
  },
  JOURNAL_RETENTION_DAYS: {
    description:
      'How many days ended attempts, and with them their idempotency keys, are kept. Unknown ones are kept until their outcome is known.',
    default: '30',
    parser: parse.wholeNumber(30, 3650),
  },
  CLIENT_KEYS_FILE: {
    description:
      'JSON file with the SHA-256 hashes of the keys of internal services; reloaded when it changes. `npm run client-key` creates keys ([security](security.md)).',
    whenUnset: 'no caller has a key',
    parser: parse.filePath,
  },
  AUTH_JWKS_URL: {
    description: 'URL of the public keys (JWKS) that verify the tokens (JWT) of frontends.',
    whenUnset: 'tokens are not accepted',
    parser: parse.issuerUrl,
  },
  AUTH_ISSUER: {
    description: 'Accepted issuer of tokens (claim iss).',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: parse.printableText,
  },
  AUTH_AUDIENCE: {
    description: 'Accepted audience of tokens (claim aud).',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: parse.printableText,
  },
  AUTH_MAX_TOKEN_LIFETIME_SECONDS: {
    description:
      'Longest lifetime of an accepted token in seconds: exp minus iat, or without iat the time until exp.',
    default: '86400',
    parser: parse.wholeNumber(60, 31_536_000),
  },
  AUTH_MAX_STALE_KEYS_SECONDS: {
    description:
      'How long tokens are verified with cached public keys while AUTH_JWKS_URL cannot be read, in seconds; then requests get 503. A revoked key is accepted for as long.',
    default: '3600',
    parser: parse.wholeNumber(60, 604_800),
  },
  ALLOWED_URL_HOSTS: {
    description:
      'Allowed hosts of returnUrl and callbackUrl; *.shop.example matches every name below shop.example.',
    whenUnset: 'any public host',
    parser: parse.listOf('host names', parse.hostNamePattern),
  },
  CORS_ORIGINS: {
    description: 'Web origins whose pages may call the gateway.',
    whenUnset: "none; Apollo's explorers with the embedded sandbox",
    parser: parse.listOf('origins such as https://shop.example', parse.webOrigin),
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses or networks of proxies whose X-Forwarded-For is trusted, without a limit of connections.',
    parser: parse.listOf('IP addresses or networks such as 10.0.0.0/8', parse.ipNetwork),
  },
  RATE_LIMIT_PER_MINUTE: {
    description:
      'Points per minute of one caller at one instance; 0: no limit. A lookup costs 1 per transaction, a mutation 5, anything else 1. With the embedded sandbox the default is no limit.',
    default: '60000',
    parser: parse.wholeNumber(0, 100_000_000),
  },
  MAX_EVENT_LOOP_LAG_MS: {
    description:
      'Mean event loop lag in milliseconds above which new operations are rejected with 503; 0: never.',
    default: '1000',
    parser: parse.wholeNumber(0, 60_000),
  },
  CLIENT_TIMEOUT_MS: {
    description:
      'How long a client may take to send its request, and to read what is written to it, in milliseconds. Connections of slower clients are closed.',
    default: '15000',
    parser: parse.wholeNumber(100, 600_000),
  },
  MAX_CONNECTIONS: {
    description:
      'Client connections of one instance. When it is reached an idle one is closed, or else the new one gets 503. Never more than the limit of file descriptors allows ([deployment](deployment.md)).',
    whenUnset: 'the descriptor limit minus 1024, or half of it if that is more; at most 18000',
    parser: parse.wholeNumber(1, 1_000_000),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    description:
      'Client connections of one IPv4 address or IPv6 /64 network; 0: no limit. TRUSTED_PROXIES have none.',
    whenUnset: 'three quarters of MAX_CONNECTIONS',
    parser: parse.wholeNumber(0, 1_000_000),
  },
  MAX_UNREAD_BYTES: {
    description:
      'Bytes that one instance buffers for slow clients. Beyond it the connections with the most are closed.',
    default: '134217728',
    parser: parse.wholeNumber(1_048_576, 999_999_999),
  },
  MAX_UNREAD_BYTES_PER_CALLER: {
    description: 'The same for one caller, on all of its connections.',
    default: '33554432',
    parser: parse.wholeNumber(1_048_576, 999_999_999),
  },
  PERSISTED_OPERATIONS: {
    description:
      'Manifest of operations that may be called by id, as Apollo or graphql-codegen write it; `npm run persist` creates one ([persisted operations](persisted-operations.md)).',
    whenUnset: 'there is none',
    parser: parse.filePath,
  },
  PERSISTED_OPERATIONS_FRONTENDS: {
    description:
      'Operations that frontends (callers with a token) may send if there is a manifest: any (allow), any with a log warning if not in the manifest (warn), or only those in the manifest (require).',
    default: 'require',
    parser: parse.oneOf('allow', 'warn', 'require'),
  },
  PERSISTED_OPERATIONS_SERVICES: {
    description:
      'The same for internal services (callers with a key), and for all callers if they are not authenticated.',
    default: 'allow',
    parser: parse.oneOf('allow', 'warn', 'require'),
  },
  PUBLIC_URL: {
    description:
      'URL of this gateway for the payment service. A create without callbackUrl then sends one below it, and each callback triggers a lookup ([live updates](live-updates.md)). Plain http for loopback only.',
    whenUnset: 'no callbacks are requested: changes are found by polling',
    parser: parse.publicUrl,
  },
  POLL_INTERVALS_PAYER: {
    description: 'How often a payment with a subscription is looked up while it waits for the payer.',
    default: '2s/2m 5s/10m 15s/1h 60s',
    parser: parse.pollIntervals,
  },
  POLL_INTERVALS_PROVIDER: {
    description:
      'How often a payment or payout with a subscription is looked up while it waits for the provider, as after a confirm.',
    default: '1s/30s 2s/2m 5s/10m 15s/1h 60s',
    parser: parse.pollIntervals,
  },
  POLL_INTERVALS_MISPAID: {
    description: 'How often a MISPAID payment with a subscription is looked up.',
    default: '15s/10m 60s',
    parser: parse.pollIntervals,
  },
  SUBSCRIPTION_OUTAGE_SECONDS: {
    description:
      'How long lookups may fail before subscriptions end with an error, in seconds; 0: they never end.',
    default: '300',
    parser: parse.wholeNumber(0, 86_400),
  },
  SUBSCRIPTION_PING_SECONDS: {
    description:
      'Interval of pings to subscribed clients, in seconds. A connection without a response before the next ping is closed; idle timeouts of proxies have to be longer.',
    default: '15',
    parser: parse.wholeNumber(1, 3600),
  },
  MAX_SUBSCRIPTIONS: {
    description: 'Subscriptions, and connections for them, that one instance serves at once.',
    default: '10000',
    parser: parse.wholeNumber(1, 1_000_000),
  },
  MAX_SUBSCRIPTIONS_PER_CLIENT: {
    description: 'How many of these one caller may have at one instance.',
    default: '1000',
    parser: parse.wholeNumber(1, 1_000_000),
  },
  METRICS_PORT: {
    description:
      'Port, at HOST, of /metrics, /healthz and /readyz of this instance; 0 selects any free one. Instances that share a PORT (REUSE_PORT) need one each.',
    whenUnset: '/metrics is served at PORT',
    parser: parse.wholeNumber(0, 65535),
  },
  METRICS_TOKEN: {
    description: 'Token for reading /metrics from other machines: Authorization: Bearer <token>.',
    whenUnset: 'metrics are readable from this machine only, not through a proxy',
    parser: parse.apiCredential,
    secret: true,
  },
  AUDIT_LOG_FILE: {
    description:
      'File with one line per call that moves money, chained by hashes: `npm run audit -- verify` finds missing and changed lines.',
    default: 'data/audit.log',
    parser: parse.filePath,
  },
  AUDIT_LOG_KEY: {
    description:
      'Secret key of the hashes in the audit log: without it nobody can rewrite lines unnoticed. The same for all that write to one file and for `npm run audit -- verify` ([audit log](audit-log.md)).',
    whenUnset: 'the hashes have no key',
    parser: parse.apiCredential,
    secret: true,
  },
  AUDIT_LOG_ROTATE_MB: {
    description:
      'Size in MB at which the audit log is rotated to AUDIT_LOG_FILE.<time>-<writer> ([audit log](audit-log.md)).',
    whenUnset: 'the gateway does not rotate it',
    parser: parse.wholeNumber(1, 100_000),
  },
  AUDIT_LOG_KEEP_FILES: {
    description: 'How many rotated files of the audit log are kept; older ones are deleted.',
    whenUnset: 'all are kept',
    parser: parse.wholeNumber(1, 1000),
  },
  SETTLE_APPROVAL: {
    description:
      'Whether another user of the operating system has to approve an outcome of `npm run attempts -- settle` ([exactly once](exactly-once.md)). Used by the command line only.',
    default: 'off',
    parser: parse.onOff,
  },
  SANDBOX_PORT: {
    description:
      'Port of the embedded sandbox; 0 selects any free one. If unset and in use, any free one is selected.',
    default: '4001',
    parser: parse.wholeNumber(0, 65535),
  },
  SANDBOX_CONTROL: {
    description: 'Whether the sandbox serves its control API and console under /_sandbox/.',
    default: 'off',
    parser: parse.onOff,
  },
  INTROSPECTION: {
    description: 'Whether callers may introspect the schema and get suggestions for unknown names.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: parse.onOff,
  },
  SUBGRAPH: {
    description:
      'Whether the gateway is a subgraph of Apollo Federation 2 with _service and _entities ([federation](federation.md)).',
    default: 'off',
    parser: parse.onOff,
  },
  EXPLORER: {
    description: 'Whether a GraphQL IDE is served at /explorer. It loads nothing from other hosts.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: parse.onOff,
  },
  SHUTDOWN_DELAY_MS: {
    description:
      'How long requests are served after SIGTERM, in milliseconds, while /readyz responds 503 and every response closes its connection: the time that load balancers need. SHUTDOWN_GRACE_MS follows.',
    default: '0',
    parser: parse.wholeNumber(0, 300_000),
  },
  SHUTDOWN_GRACE_MS: {
    description:
      'How long work in flight may take after SIGTERM and SHUTDOWN_DELAY_MS before exit, in milliseconds.',
    default: '10000',
    parser: parse.wholeNumber(0, 600_000),
  },
  LOG_LEVEL: {
    description: 'Minimum level of log lines (JSON on standard output).',
    default: 'info',
    parser: parse.oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description: 'OpenTelemetry collector; traces are sent to v1/traces below it ([tracing](tracing.md)).',
    whenUnset: 'nothing is traced, unless OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set',
    parser: parse.collectorUrl,
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    description: 'Full URL for traces.',
    whenUnset: 'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
    parser: parse.collectorUrl,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    description: 'Protocol of the exporter; collectors use port 4318 for it.',
    default: 'http/protobuf',
    parser: parse.oneOf('http/protobuf'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers of export requests, such as the key of the collector.',
    parser: parse.exporterHeaders,
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    description: 'Name of the gateway in traces.',
    whenUnset: 'service.name in OTEL_RESOURCE_ATTRIBUTES, or else paygraph',
    parser: parse.printableText,
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    description: 'Resource attributes of traces, such as deployment.environment.name=production.',
    parser: parse.attributes,
  },
  OTEL_TRACES_SAMPLER: {
    description:
      "Which traces are kept: all, none, or a share; with parentbased_ the sampling flag of a caller's traceparent takes precedence.",
    default: 'parentbased_always_on',
    parser: parse.oneOf(...SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'Share of traces that traceidratio and parentbased_traceidratio keep.',
    default: '1',
    parser: parse.decimalFraction,
  },
} satisfies Record<string, AnySetting>;
