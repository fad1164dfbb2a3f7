import * as parsers from './parsers';
import { TRACE_SAMPLERS } from './types';

type SettingFields = Omit<parsers.Setting<unknown>, 'parser'>;

const setting = <T, F extends SettingFields>(parser: parsers.Parser<T>, fields: F) => ({ ...fields, parser });

const secretSetting = <T, F extends SettingFields>(parser: parsers.Parser<T>, fields: F) =>
  setting(parser, { ...fields, isSecret: true as const });

/** Every setting, in the order of docs/configuration.md, which is generated from this table. */
export const SETTINGS = {
  HOST: setting(parsers.hostParser, {
    description:
      'Address to listen on. It must be a loopback address unless callers are authenticated (CLIENT_KEYS_FILE or AUTH_JWKS_URL).',
    default: '127.0.0.1',
  }),
  PORT: setting(parsers.wholeNumberParser(0, 65535), {
    description: 'Port of the gateway; 0 selects any free port.',
    default: '4000',
  }),
  REUSE_PORT: setting(parsers.onOffParser, {
    description:
      'Whether several instances on this machine may listen on the same PORT; Linux distributes connections among them ([deployment](deployment.md)). The instances must share one PostgreSQL journal, and each needs its own METRICS_PORT and AUDIT_LOG_FILE.',
    default: 'off',
  }),
  SERVICE_BASE_URL: setting(parsers.baseUrlParser, {
    description: 'URL of the payment service (specification: {base_url}). Plain http for loopback only.',
    whenUnset: 'the embedded sandbox is started and used',
  }),
  SERVICE_API_KEY: secretSetting(parsers.apiCredentialParser, {
    description: 'API key for the payment service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
  }),
  SERVICE_SECRET_KEY: secretSetting(parsers.apiCredentialParser, {
    description: 'Secret key that signs requests to the payment service (specification section 5).',
    whenUnset: 'required with SERVICE_BASE_URL',
  }),
  SERVICE_CREDENTIALS_FILE: setting(parsers.filePathParser, {
    description:
      'JSON file with credentials per merchant channel, and several secret keys during a rotation; reloaded when it changes ([service credentials](service-credentials.md)).',
    whenUnset: 'SERVICE_API_KEY and SERVICE_SECRET_KEY are used for every channel',
  }),
  SERVICE_TIMEOUT_MS: setting(parsers.wholeNumberParser(50, 120_000), {
    description:
      'Timeout of one request to the payment service in milliseconds, including connecting and reading the response body.',
    default: '10000',
  }),
  SERVICE_NOT_FOUND_STATUS: setting(parsers.wholeNumberParser(400, 499), {
    description:
      'HTTP status with which the payment service responds to a lookup of an unknown transaction. The specification does not define it; ask the provider.',
    default: '404',
  }),
  SERVICE_NOT_FOUND_FIELDS: setting(parsers.listParser('names of JSON fields', parsers.isJsonFieldName), {
    description:
      'JSON fields that every response of the payment service with SERVICE_NOT_FOUND_STATUS has. A response without them is attributed to a proxy in front of the service, so it does not prove that the transaction is missing.',
    whenUnset: 'any JSON object counts as a response of the service',
  }),
  DATABASE_URL: secretSetting(parsers.databaseUrlParser, {
    description:
      'Database of the journal, which records each call that creates a payment or payout: a SQLite file, or PostgreSQL for more than one instance. Several PostgreSQL hosts are separated by commas ([deployment](deployment.md)).',
    default: 'file:data/paygraph.db',
  }),
  FENCE_SECONDS: setting(parsers.wholeNumberParser(60, 2_592_000), {
    description:
      'Time in seconds for which the fence of the journal stays up. The fence goes up if the database of the journal was replaced (failover, restored backup) or lacks an attempt, or if `paygraph fence on` is run, because recent attempts may be missing. While it is up, every create is looked up by its external id before it is sent. If the lookup finds a payout that is not in the journal, or a payment that is not in the journal and was created at most FENCE_SECONDS before the fence went up, the gateway treats it as the result of the create. If the lookups are inconclusive, the create is rejected with SERVICE_UNAVAILABLE.',
    default: '86400',
  }),
  UNKNOWN_SETTLE_SECONDS: setting(parsers.wholeNumberParser(1, 604_800), {
    description:
      'A payment of unknown outcome counts as not sent if lookups do not find it for this time, in seconds. The time begins when the create can no longer be sent. A payment that counts as not sent can be created again with the same key. A payout stays UNKNOWN.',
    default: '900',
  }),
  PAYOUT_PREFLIGHT: setting(parsers.onOffParser, {
    description:
      'Whether the external id of a payout is looked up before the payout is sent. If the id is in use, the payout is rejected. So a payout that a later lookup finds by this id is the one that was sent.',
    default: 'on',
  }),
  FINGERPRINT_KEY: secretSetting(parsers.apiCredentialParser, {
    description:
      'Secret from which the gateway derives the keys for input fingerprints in the journal, generated external ids and callback URLs. It must be the same for all instances; keep it when SERVICE_SECRET_KEY changes.',
    whenUnset: 'SERVICE_SECRET_KEY',
  }),
  JOURNAL_RETENTION_DAYS: setting(parsers.wholeNumberParser(30, 3650), {
    description:
      'Days for which ended attempts and their idempotency keys are kept. Afterwards, a create with the same key can move money again. Attempts of unknown outcome are kept until their outcome is known.',
    default: '30',
  }),
  CLIENT_KEYS_FILE: setting(parsers.filePathParser, {
    description:
      'JSON file with the SHA-256 hashes of the keys of internal services; reloaded when it changes. `npm run client-key` creates keys ([security](security.md)).',
    whenUnset: 'no caller has a key',
  }),
  AUTH_JWKS_URL: setting(parsers.jwksUrlParser, {
    description: 'URL of the public keys (JWKS) that verify the tokens (JWT) of frontends.',
    whenUnset: 'tokens are not accepted',
  }),
  AUTH_ISSUER: setting(parsers.printableTextParser, {
    description: 'Accepted issuer of tokens (claim iss).',
    whenUnset: 'required with AUTH_JWKS_URL',
  }),
  AUTH_AUDIENCE: setting(parsers.printableTextParser, {
    description: 'Accepted audience of tokens (claim aud).',
    whenUnset: 'required with AUTH_JWKS_URL',
  }),
  AUTH_MAX_TOKEN_LIFETIME_SECONDS: setting(parsers.wholeNumberParser(60, 31_536_000), {
    description:
      'Maximum lifetime of an accepted token in seconds: exp minus iat, or the time until exp if the token has no iat.',
    default: '86400',
  }),
  AUTH_MAX_STALE_KEYS_SECONDS: setting(parsers.wholeNumberParser(60, 604_800), {
    description:
      'Maximum time in seconds for which tokens are verified with cached public keys while AUTH_JWKS_URL cannot be read. After that, requests with a token get 503. Until then, a signing key that the issuer has removed is still accepted.',
    default: '3600',
  }),
  ALLOWED_URL_HOSTS: setting(parsers.listParser('host names', parsers.isHostNamePattern), {
    description:
      'Allowed hosts of returnUrl and callbackUrl; *.shop.example matches every name below shop.example.',
    whenUnset: 'any public host; with the embedded sandbox also loopback hosts',
  }),
  CORS_ORIGINS: setting(parsers.listParser('origins such as https://shop.example', parsers.isWebOrigin), {
    description: 'Web origins whose pages may call the gateway from a browser (CORS).',
    whenUnset:
      'https://studio.apollographql.com and https://sandbox.embed.apollographql.com with the embedded sandbox, none with a real service',
  }),
  TRUSTED_PROXIES: setting(
    parsers.listParser('IP addresses or networks such as 10.0.0.0/8', parsers.isIpNetwork),
    {
      description:
        'Addresses or networks of proxies. Their X-Forwarded-For header is trusted, and MAX_CONNECTIONS_PER_ADDRESS does not apply to them.',
    },
  ),
  RATE_LIMIT_PER_MINUTE: setting(parsers.wholeNumberParser(0, 100_000_000), {
    description:
      'Rate limit: points that one caller may use per minute at one instance; 0: no limit. An operation costs 1 point per transaction that it looks up and 5 per mutation that moves money, but at least 1. With the embedded sandbox the default is 0.',
    default: '60000',
  }),
  MAX_EVENT_LOOP_LAG_MS: setting(parsers.wholeNumberParser(0, 60_000), {
    description:
      'Mean event loop lag in milliseconds above which new operations are rejected with 503; 0: no limit.',
    default: '1000',
  }),
  CLIENT_TIMEOUT_MS: setting(parsers.wholeNumberParser(100, 600_000), {
    description:
      'Maximum time in milliseconds that a client may take to send a request, and to read what the gateway writes to it. Connections of slower clients are closed.',
    default: '15000',
  }),
  MAX_CONNECTIONS: setting(parsers.wholeNumberParser(1, 1_000_000), {
    description:
      'Maximum number of client connections of one instance. At the limit an idle connection is closed; if there is none, the new connection gets 503. The limit of file descriptors may lower the maximum ([deployment](deployment.md)).',
    whenUnset: 'the file descriptor limit minus 1024, or half the limit if that is more; at most 18000',
  }),
  MAX_CONNECTIONS_PER_ADDRESS: setting(parsers.wholeNumberParser(0, 1_000_000), {
    description:
      'Maximum number of client connections from one IPv4 address or IPv6 /64 network; 0: no limit. Does not apply to addresses in TRUSTED_PROXIES.',
    whenUnset: 'three quarters of MAX_CONNECTIONS',
  }),
  MAX_UNREAD_BYTES: setting(parsers.wholeNumberParser(1_048_576, 999_999_999), {
    description:
      'Maximum number of bytes that one instance buffers for clients that do not read their responses. Beyond it, the connections with the most buffered bytes are closed.',
    default: '134217728',
  }),
  MAX_UNREAD_BYTES_PER_CALLER: setting(parsers.wholeNumberParser(1_048_576, 999_999_999), {
    description:
      'Maximum number of bytes that one instance buffers for the connections of one caller that do not read their responses. Beyond it, those of its connections with the most buffered bytes are closed.',
    default: '33554432',
  }),
  PERSISTED_OPERATIONS: setting(parsers.filePathParser, {
    description:
      'Path of a manifest of operations that callers may send by id, in the format of Apollo or graphql-codegen; `npm run persist` creates one ([persisted operations](persisted-operations.md)).',
    whenUnset: 'there is no manifest',
  }),
  PERSISTED_OPERATIONS_FRONTENDS: setting(parsers.oneOfParser('allow', 'warn', 'require'), {
    description:
      'Operations that frontends (callers with a token) may send if there is a manifest. allow: all. warn: all, with a log warning for each operation that is not in the manifest. require: only operations of the manifest.',
    default: 'require',
  }),
  PERSISTED_OPERATIONS_SERVICES: setting(parsers.oneOfParser('allow', 'warn', 'require'), {
    description:
      'As PERSISTED_OPERATIONS_FRONTENDS, for internal services (callers with a key), and for all callers if they are not authenticated.',
    default: 'allow',
  }),
  PUBLIC_URL: setting(parsers.publicUrlParser, {
    description:
      'URL at which the payment service reaches this gateway. The gateway then adds a callbackUrl below this URL to each create without one, and each callback triggers a lookup ([live updates](live-updates.md)). Plain http for loopback only.',
    whenUnset: 'no callbacks are requested: changes are found by polling',
  }),
  POLL_INTERVALS_PAYER: setting(parsers.pollIntervalsParser, {
    description:
      'How often a payment that has a subscriber, or that the gateway follows (FOLLOW_DAYS), is looked up while it waits for the payer. The first interval, but at least 2 s, is also the pollAfterMs of next actions that wait for the payer.',
    default: '2s/2m 5s/10m 15s/1h 60s',
  }),
  POLL_INTERVALS_PROVIDER: setting(parsers.pollIntervalsParser, {
    description:
      'How often a payment or payout that has a subscriber, or that the gateway follows (FOLLOW_DAYS), is looked up while it waits for the provider, for example after a confirm. The first interval, but at least 2 s, is also the pollAfterMs of next actions that wait for the provider.',
    default: '1s/30s 2s/2m 5s/10m 15s/1h 60s',
  }),
  POLL_INTERVALS_MISPAID: setting(parsers.pollIntervalsParser, {
    description:
      'How often a MISPAID payment that has a subscriber, or that the gateway follows (FOLLOW_DAYS), is looked up.',
    default: '15s/10m 60s',
  }),
  FOLLOW_DAYS: setting(parsers.wholeNumberParser(0, 30), {
    description:
      'Maximum number of days for which the gateway follows a payment or payout created through it: looks it up repeatedly until it is COMPLETED or FAILED, even if nobody subscribes to it ([changes](changes.md)). 0: the gateway follows nothing; states that other lookups show are still recorded.',
    default: '7',
  }),
  FOLLOW_LOOKUPS_PER_SECOND: setting(parsers.wholeNumberParser(1, 1000), {
    description:
      'Maximum number of lookups per second that one instance sends to follow transactions (FOLLOW_DAYS).',
    default: '5',
  }),
  CHANGES_RETENTION_DAYS: setting(parsers.wholeNumberParser(1, 3650), {
    description:
      'Days for which recorded changes are kept. A cursor older than the oldest change gets CURSOR_EXPIRED.',
    default: '30',
  }),
  SUBSCRIPTION_OUTAGE_SECONDS: setting(parsers.wholeNumberParser(0, 86_400), {
    description:
      'Time in seconds for which the lookups of a subscription may fail before it ends with an error; 0: no limit. If its first lookup fails, it ends immediately.',
    default: '300',
  }),
  SUBSCRIPTION_PING_SECONDS: setting(parsers.wholeNumberParser(1, 3600), {
    description:
      'Interval in seconds of pings on WebSockets and event streams. At each ping, a WebSocket that has not responded to the previous ping is closed, and so is a stream whose previous ping is still unsent. Idle timeouts of proxies have to be longer.',
    default: '15',
  }),
  MAX_SUBSCRIPTIONS: setting(parsers.wholeNumberParser(1, 1_000_000), {
    description: 'Maximum number of concurrent subscriptions, and of WebSocket connections, of one instance.',
    default: '10000',
  }),
  MAX_SUBSCRIPTIONS_PER_CLIENT: setting(parsers.wholeNumberParser(1, 1_000_000), {
    description:
      'Maximum number of concurrent subscriptions, and of WebSocket connections, of one caller at one instance.',
    default: '1000',
  }),
  METRICS_PORT: setting(parsers.wholeNumberParser(0, 65535), {
    description:
      'Port at HOST that serves /metrics, /healthz and /readyz of this instance; 0 selects any free port. Instances that share a PORT (REUSE_PORT) each need their own.',
    whenUnset: '/metrics is served at PORT',
  }),
  METRICS_TOKEN: secretSetting(parsers.apiCredentialParser, {
    description:
      'Token that other machines must send to read /metrics, in the header Authorization: Bearer <token>.',
    whenUnset: '/metrics is readable from this machine only, and not through a proxy',
  }),
  AUDIT_LOG_FILE: setting(parsers.filePathParser, {
    description:
      'File with one line per call that moves money, chained by hashes: `npm run audit -- verify` finds missing and changed lines.',
    default: 'data/audit.log',
  }),
  AUDIT_LOG_KEY: secretSetting(parsers.apiCredentialParser, {
    description:
      'Secret key of the hashes in the audit log. Verification detects lines that somebody without the key has changed. The key must be the same for all processes that write to the file and for `npm run audit -- verify` ([audit log](audit-log.md)).',
    whenUnset:
      'the hashes have no key, so anybody who can write the file can change lines and recalculate the hashes',
  }),
  AUDIT_LOG_ROTATE_MB: setting(parsers.wholeNumberParser(1, 100_000), {
    description:
      'Size in MB at which the audit log is rotated to AUDIT_LOG_FILE.<time>-<writer> ([audit log](audit-log.md)).',
    whenUnset: 'the gateway does not rotate the audit log',
  }),
  AUDIT_LOG_KEEP_FILES: setting(parsers.wholeNumberParser(1, 1000), {
    description: 'How many rotated files of the audit log are kept; older ones are deleted.',
    whenUnset: 'all rotated files are kept',
  }),
  SETTLE_APPROVAL: setting(parsers.onOffParser, {
    description:
      'Whether another user of the operating system has to approve each outcome that an operator settles with `npm run attempts -- settle` ([exactly once](exactly-once.md)). Used by the command line only.',
    default: 'off',
  }),
  SANDBOX_PORT: setting(parsers.wholeNumberParser(0, 65535), {
    description:
      'Port of the embedded sandbox; 0 selects any free port. If the setting is not set and the default port is in use, any free port is selected, except with the issuer of `npm run dev-token`.',
    default: '4001',
  }),
  SANDBOX_CONTROL: setting(parsers.onOffParser, {
    description: 'Whether the sandbox serves its control API and its console under /_sandbox/.',
    default: 'off',
  }),
  INTROSPECTION: setting(parsers.onOffParser, {
    description: 'Whether callers may introspect the schema and get suggestions for unknown names.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
  }),
  SUBGRAPH: setting(parsers.onOffParser, {
    description:
      'Whether the gateway is a subgraph of Apollo Federation 2 with _service and _entities ([federation](federation.md)).',
    default: 'off',
  }),
  EXPLORER: setting(parsers.onOffParser, {
    description: 'Whether a GraphQL IDE is served at /explorer. It loads nothing from other hosts.',
    whenUnset: 'on with the embedded sandbox, off with a real service',
  }),
  SHUTDOWN_DELAY_MS: setting(parsers.wholeNumberParser(0, 300_000), {
    description:
      'Time in milliseconds after SIGTERM for which the gateway still serves requests, so that load balancers can stop sending them: /readyz responds 503, and every response closes its connection. SHUTDOWN_GRACE_MS follows.',
    default: '0',
  }),
  SHUTDOWN_GRACE_MS: setting(parsers.wholeNumberParser(0, 600_000), {
    description:
      'Maximum time in milliseconds after SIGTERM and SHUTDOWN_DELAY_MS that requests in flight may take before the process exits.',
    default: '10000',
  }),
  LOG_LEVEL: setting(parsers.oneOfParser('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), {
    description: 'Minimum level of log lines (JSON on standard output).',
    default: 'info',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(parsers.collectorUrlParser, {
    description:
      'URL of the OpenTelemetry collector; traces are sent to v1/traces below it ([tracing](tracing.md)).',
    whenUnset: 'nothing is traced, unless OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(parsers.collectorUrlParser, {
    description: 'Full URL to which traces are sent.',
    whenUnset: 'v1/traces below OTEL_EXPORTER_OTLP_ENDPOINT',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(parsers.oneOfParser('http/protobuf'), {
    description: 'Protocol of the trace exporter. Collectors usually use port 4318 for it.',
    default: 'http/protobuf',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: secretSetting(parsers.exporterHeadersParser, {
    description: 'Headers of requests to the collector, for example its API key.',
  }),
  OTEL_SERVICE_NAME: setting(parsers.printableTextParser, {
    description: 'Name of the gateway in traces.',
    whenUnset: 'service.name in OTEL_RESOURCE_ATTRIBUTES, or else paygraph',
  }),
  OTEL_RESOURCE_ATTRIBUTES: setting(parsers.resourceAttributesParser, {
    description: 'Resource attributes of traces, such as deployment.environment.name=production.',
  }),
  OTEL_TRACES_SAMPLER: setting(parsers.oneOfParser(...TRACE_SAMPLERS), {
    description:
      "Which traces are kept: all (always_on), none (always_off), or a fraction (traceidratio). With parentbased_ the sampling flag of a caller's traceparent takes precedence.",
    default: 'parentbased_always_on',
  }),
  OTEL_TRACES_SAMPLER_ARG: setting(parsers.fractionParser, {
    description: 'Fraction of traces that traceidratio and parentbased_traceidratio keep, from 0 to 1.',
    default: '1',
  }),
} satisfies Record<string, parsers.Setting<unknown>>;
