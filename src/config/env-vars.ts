import {
  apiCredential,
  attributes,
  baseUrl,
  collectorUrl,
  databaseUrl,
  decimalFraction,
  exporterHeaders,
  filePath,
  hostName,
  hostNamePattern,
  ipNetwork,
  issuerUrl,
  jsonFieldName,
  listOf,
  oneOf,
  onOff,
  pollIntervals,
  printableText,
  publicUrl,
  webOrigin,
  wholeNumber,
} from './parsers';
import type { AnySetting } from './env-reader';
import { SAMPLERS } from './types';

/**
 * Every setting, in the order of docs/configuration.md, which is generated from this table. `default` is the text that
 * holds when the variable is not set; where there is none, `whenUnset` says what happens then.
 */
export const SETTINGS = {
  HOST: {
    description:
      'Address to listen on. Without authentication of callers (CLIENT_KEYS_FILE or AUTH_JWKS_URL) only a loopback address is accepted.',
    default: '127.0.0.1',
    parser: hostName,
  },
  PORT: {
    description: 'Port of the gateway; 0 takes any free one.',
    default: '4000',
    parser: wholeNumber(0, 65535),
  },
  REUSE_PORT: {
    description:
      'Whether several instances on this machine may listen on the same PORT; the kernel (Linux) distributes connections among them ([deployment](deployment.md)). They need one PostgreSQL journal, and a METRICS_PORT and AUDIT_LOG_FILE each.',
    default: 'off',
    parser: onOff,
  },
  SERVICE_BASE_URL: {
    description:
      'URL of the payment service (specification: {base_url}). Plain http is allowed for loopback only.',
    whenUnset: 'the embedded sandbox is started and used',
    parser: baseUrl,
  },
  SERVICE_API_KEY: {
    description: 'API key for the service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: apiCredential,
    secret: true,
  },
  SERVICE_SECRET_KEY: {
    description: 'Secret key that signs requests to the service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
    parser: apiCredential,
    secret: true,
  },
  SERVICE_CREDENTIALS_FILE: {
    description:
      'JSON file with credentials per merchant channel, and with several secret keys during a rotation; reloaded when it changes ([service credentials](service-credentials.md)).',
    whenUnset: 'SERVICE_API_KEY and SERVICE_SECRET_KEY serve every channel',
    parser: filePath,
  },
  SERVICE_TIMEOUT_MS: {
    description: 'Timeout of one request to the service in milliseconds: connecting, headers and body.',
    default: '10000',
    parser: wholeNumber(50, 120_000),
  },
  SERVICE_NOT_FOUND_STATUS: {
    description:
      'HTTP status of a lookup that means "no such transaction". The specification does not state it.',
    default: '404',
    parser: wholeNumber(400, 499),
  },
  SERVICE_NOT_FOUND_FIELDS: {
    description:
      'JSON fields that the body of a not-found response always has. A response without them comes from something in front of the service and never releases an idempotency key.',
    whenUnset: 'any JSON object counts as a response of the service',
    parser: listOf('names of JSON fields', jsonFieldName),
  },
  DATABASE_URL: {
    description:
      'Journal of creates: a SQLite file, or PostgreSQL for more than one instance. Several hosts are separated by commas ([deployment](deployment.md)).',
    default: 'file:data/paygraph.db',
    parser: databaseUrl,
    secret: true,
  },
  UNKNOWN_SETTLE_SECONDS: {
    description:
      'How long after the last possible moment of sending a lookup without a result proves nothing, in seconds. After it a payment may be created again under the same key; a payout stays UNKNOWN.',
    default: '900',
    parser: wholeNumber(1, 604_800),
  },
  PAYOUT_PREFLIGHT: {
    description:
      'Whether the external id of a payout is looked up before the payout is sent: one that is taken is rejected, and a payout found later under it is certainly the one that was sent.',
    default: 'on',
    parser: onOff,
  },
  FINGERPRINT_KEY: {
    description:
      'Secret from which the key of the input fingerprints in the journal is derived. The same for all instances; keep it when SERVICE_SECRET_KEY changes.',
    whenUnset: 'SERVICE_SECRET_KEY',
    parser: apiCredential,
    secret: true,
  },
  JOURNAL_RETENTION_DAYS: {
    description:
      'How many days ended attempts, and with them their idempotency keys, are kept. Unknown ones are kept until their outcome is known.',
    default: '30',
    parser: wholeNumber(30, 3650),
  },
  CLIENT_KEYS_FILE: {
    description:
      'JSON file with the SHA-256 hashes of the keys of internal services; reloaded when it changes. `npm run client-key` creates keys ([security](security.md)).',
    whenUnset: 'no caller has a key',
    parser: filePath,
  },
  AUTH_JWKS_URL: {
    description: 'URL of the public keys (JWKS) that verify the tokens (JWT) of frontends.',
    whenUnset: 'tokens are not accepted',
    parser: issuerUrl,
  },
  AUTH_ISSUER: {
    description: 'Issuer (claim iss) whose tokens are accepted.',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: printableText,
  },
  AUTH_AUDIENCE: {
    description: 'Audience (claim aud) of the tokens that are accepted.',
    whenUnset: 'required with AUTH_JWKS_URL',
    parser: printableText,
  },
  AUTH_MAX_TOKEN_LIFETIME_SECONDS: {
    description:
      'Longest lifetime of an accepted token in seconds: exp minus iat, or without iat the time until exp.',
    default: '86400',
    parser: wholeNumber(60, 31_536_000),
  },
  AUTH_MAX_STALE_KEYS_SECONDS: {
    description:
      'How long tokens are verified with the last known public keys while AUTH_JWKS_URL cannot be read, in seconds; after that they get 503. A withdrawn key is accepted for as long.',
    default: '3600',
    parser: wholeNumber(60, 604_800),
  },
  ALLOWED_URL_HOSTS: {
    description:
      'Hosts that returnUrl and callbackUrl may name; *.shop.example stands for every name below shop.example.',
    whenUnset: 'any public host',
    parser: listOf('host names', hostNamePattern),
  },
  CORS_ORIGINS: {
    description: 'Web origins whose pages may call the gateway.',
    whenUnset: "none; with the embedded sandbox the origins of Apollo's explorers",
    parser: listOf('origins such as https://shop.example', webOrigin),
  },
  TRUSTED_PROXIES: {
    description:
      'Addresses or networks of proxies whose X-Forwarded-For is trusted. Their number of connections is not limited.',
    whenUnset: 'none',
    parser: listOf('IP addresses or networks such as 10.0.0.0/8', ipNetwork),
  },
  RATE_LIMIT_PER_MINUTE: {
    description:
      'Points that one caller may use at one instance in a minute; 0: no limit. A lookup costs 1 per transaction, a mutation 5, anything else 1.',
    whenUnset: '60000 with a real service, no limit with the embedded sandbox',
    parser: wholeNumber(0, 100_000_000),
  },
  MAX_EVENT_LOOP_LAG_MS: {
    description:
      'Mean event loop lag in milliseconds above which new operations are rejected with 503; 0: never.',
    default: '1000',
    parser: wholeNumber(0, 60_000),
  },
  CLIENT_TIMEOUT_MS: {
    description:
      'How long a client may take to send its request, and to read what is written to it, in milliseconds. Connections of slower clients are closed.',
    default: '15000',
    parser: wholeNumber(100, 600_000),
  },
  MAX_CONNECTIONS: {
    description:
      'Client connections of one instance. When it is reached an idle one is closed, or else the new one gets 503. Never more than the limit of file descriptors allows ([deployment](deployment.md)).',
    whenUnset: 'the descriptor limit less 1024, or half of it where that is more; at most 18000',
    parser: wholeNumber(1, 1_000_000),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    description:
      'Client connections of one IPv4 address or IPv6 network of 64 bits; 0: no limit. Addresses in TRUSTED_PROXIES have none.',
    whenUnset: 'three quarters of MAX_CONNECTIONS',
    parser: wholeNumber(0, 1_000_000),
  },
  MAX_UNREAD_BYTES: {
    description:
      'Bytes that one instance buffers for clients that do not read. Beyond it the connections with the most are closed.',
    default: '134217728',
    parser: wholeNumber(1_048_576, 999_999_999),
  },
  MAX_UNREAD_BYTES_PER_CALLER: {
    description: 'The same for one caller, on all of its connections.',
    default: '33554432',
    parser: wholeNumber(1_048_576, 999_999_999),
  },
  PERSISTED_OPERATIONS: {
    description:
      'Manifest of operations that may be called by id, as Apollo or graphql-codegen write it; `npm run persist` creates one ([persisted operations](persisted-operations.md)).',
    whenUnset: 'there is none',
    parser: filePath,
  },
  PERSISTED_OPERATIONS_FRONTENDS: {
    description:
      'What frontends (callers with a token) may send where there is a manifest: any operation (allow), any, with a warning in the log for one that is not in it (warn), or only what is in it (require).',
    default: 'require',
    parser: oneOf('allow', 'warn', 'require'),
  },
  PERSISTED_OPERATIONS_SERVICES: {
    description:
      'The same for internal services (callers with a key), and for everybody where callers are not authenticated.',
    default: 'allow',
    parser: oneOf('allow', 'warn', 'require'),
  },
  PUBLIC_URL: {
    description:
      'URL under which the payment service reaches this gateway. A create without callbackUrl then sends one below it, and each callback triggers a lookup ([live updates](live-updates.md)). Plain http is allowed for loopback only.',
    whenUnset: 'no callbacks are requested: changes are found by polling',
    parser: publicUrl,
  },
  POLL_INTERVALS_PAYER: {
    description: 'How often a payment with a subscription is looked up while it waits for the payer.',
    default: '2s/2m 5s/10m 15s/1h 60s',
    parser: pollIntervals,
  },
  POLL_INTERVALS_PROVIDER: {
    description:
      'How often a payment or payout with a subscription is looked up while it waits for the provider, as after a confirm.',
    default: '1s/30s 2s/2m 5s/10m 15s/1h 60s',
    parser: pollIntervals,
  },
  POLL_INTERVALS_MISPAID: {
    description: 'How often a MISPAID payment with a subscription is looked up.',
    default: '15s/10m 60s',
    parser: pollIntervals,
  },
  SUBSCRIPTION_OUTAGE_SECONDS: {
    description:
      'How long lookups may fail before subscriptions end with an error, in seconds; 0: they wait until the service is back.',
    default: '300',
    parser: wholeNumber(0, 86_400),
  },
  SUBSCRIPTION_PING_SECONDS: {
    description:
      'How often subscribed clients are pinged, in seconds. A connection that has not answered one ping before the next is closed; idle timeouts of proxies have to be longer.',
    default: '15',
    parser: wholeNumber(1, 3600),
  },
  MAX_SUBSCRIPTIONS: {
    description: 'Subscriptions, and connections for them, that one instance serves at once.',
    default: '10000',
    parser: wholeNumber(1, 1_000_000),
  },
  MAX_SUBSCRIPTIONS_PER_CLIENT: {
    description: 'How many of these one caller may have at one instance.',
    default: '1000',
    parser: wholeNumber(1, 1_000_000),
  },
  METRICS_PORT: {
    description:
      'Port, at HOST, of /metrics of this instance; 0 takes any free one. /healthz and /readyz are served there too. Instances that share a PORT (REUSE_PORT) need one each.',
    whenUnset: '/metrics is served at PORT',
    parser: wholeNumber(0, 65535),
  },
  METRICS_TOKEN: {
    description:
      'Token that a reader of /metrics sends: Authorization: Bearer <token>. Set it to read metrics from another machine.',
    whenUnset: 'metrics are readable from this machine only, and not through a proxy',
    parser: apiCredential,
    secret: true,
  },
  AUDIT_LOG_FILE: {
    description:
      'File with one line per call that moves money, chained by hashes: `npm run audit -- verify` finds missing and changed lines.',
    default: 'data/audit.log',
    parser: filePath,
  },
  AUDIT_LOG_KEY: {
    description:
      'Secret key of the hashes in the audit log: without it nobody can rewrite lines unnoticed. The same for all that write to one file and for `npm run audit -- verify` ([audit log](audit-log.md)).',
    whenUnset: 'the hashes have no key',
    parser: apiCredential,
    secret: true,
  },
  AUDIT_LOG_ROTATE_MB: {
    description:
      'Size in MB at which the gateway rotates the audit log to AUDIT_LOG_FILE.<time>-<writer> ([audit log](audit-log.md)).',
    whenUnset: 'the gateway does not rotate it',
    parser: wholeNumber(1, 100_000),
  },
  AUDIT_LOG_KEEP_FILES: {
    description: 'How many rotated files of the audit log are kept; the gateway deletes older ones.',
    whenUnset: 'all are kept',
    parser: wholeNumber(1, 1000),
  },
  SETTLE_APPROVAL: {
    description:
      'Whether `npm run attempts -- settle` only proposes an outcome that another user of the operating system has to approve ([exactly once](exactly-once.md)). Used by the command line only.',
    default: 'off',
    parser: onOff,
  },
  SANDBOX_PORT: {
    description: 'Port of the embedded sandbox; 0 takes any free one.',
    whenUnset: '4001, or any free port where that is taken',
    parser: wholeNumber(0, 65535),
  },
  SANDBOX_CONTROL: {
    description: 'Whether the sandbox serves its control API and console under /_sandbox/.',
    default: 'off',
    parser: onOff,
  },
  INTROSPECTION: {
    description:
      'Whether callers may introspect the schema and get suggestions in errors about unknown names.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: onOff,
  },
  SUBGRAPH: {
    description:
      'Whether the gateway is a subgraph of Apollo Federation 2 with _service and _entities ([federation](federation.md)).',
    default: 'off',
    parser: onOff,
  },
  EXPLORER: {
    description: 'Whether a GraphQL IDE that loads nothing from other hosts is served at /explorer.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
    parser: onOff,
  },
  SHUTDOWN_DELAY_MS: {
    description:
      'How long requests are still served after SIGTERM, in milliseconds, while /readyz responds 503 and every response closes its connection: the time that load balancers need. SHUTDOWN_GRACE_MS begins after it.',
    default: '0',
    parser: wholeNumber(0, 300_000),
  },
  SHUTDOWN_GRACE_MS: {
    description:
      'How long work in flight may take after SIGTERM and SHUTDOWN_DELAY_MS, in milliseconds, before the process exits.',
    default: '10000',
    parser: wholeNumber(0, 600_000),
  },
  LOG_LEVEL: {
    description: 'Least severe level that is logged, as JSON lines on standard output.',
    default: 'info',
    parser: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    description: 'OpenTelemetry collector; traces are sent to v1/traces below it ([tracing](tracing.md)).',
    whenUnset: 'nothing is traced, unless OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set',
    parser: collectorUrl,
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    description: 'The whole URL to which traces are sent.',
    whenUnset: 'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
    parser: collectorUrl,
  },
  OTEL_EXPORTER_OTLP_PROTOCOL: {
    description: 'Protocol of the exporter. Collectors listen for it at port 4318.',
    default: 'http/protobuf',
    parser: oneOf('http/protobuf'),
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    description: 'Headers of export requests, such as the key of the collector.',
    whenUnset: 'none',
    parser: exporterHeaders,
    secret: true,
  },
  OTEL_SERVICE_NAME: {
    description: 'Name of the gateway in traces.',
    whenUnset: 'service.name in OTEL_RESOURCE_ATTRIBUTES, or else paygraph',
    parser: printableText,
  },
  OTEL_RESOURCE_ATTRIBUTES: {
    description: 'Resource attributes of traces, such as deployment.environment.name=production.',
    whenUnset: 'none',
    parser: attributes,
  },
  OTEL_TRACES_SAMPLER: {
    description:
      'Which traces are kept: all, none, or a share; with parentbased_ the sampling flag of the traceparent decides where a caller sends one.',
    default: 'parentbased_always_on',
    parser: oneOf(...SAMPLERS),
  },
  OTEL_TRACES_SAMPLER_ARG: {
    description: 'Share of traces that traceidratio and parentbased_traceidratio keep.',
    default: '1',
    parser: decimalFraction,
  },
} satisfies Record<string, AnySetting>;
