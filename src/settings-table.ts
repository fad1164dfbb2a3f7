import { credential, listOf, oneOf, onOff, wholeNumber, type Setting } from './settings';
import { databaseUrl, filePath, readBaseUrl, readJwksUrl, readPublicUrl, words } from './setting-values';
import { TRACING_SETTINGS } from './tracing-settings';
import { METRICS_SETTINGS } from './metrics-settings';
import { EXPLORER_SETTINGS } from './explorer-settings';
import { LIMITS_SETTINGS } from './limits-settings';
import { WATCHING_SETTINGS } from './watching-settings';

/** Every setting of the gateway, in the order of docs/configuration.md. */
export const SETTINGS = {
  HOST: {
    about:
      'The address to listen on. Without authentication of callers (CLIENT_KEYS_FILE or AUTH_JWKS_URL) only a loopback address is accepted.',
    expected: 'an IP address or a host name',
    unset: '127.0.0.1',
    read: (text: string) => (/^[\w.:-]{1,253}$/.test(text) ? text : undefined),
  },
  PORT: { about: 'The port of the gateway; 0 takes any free one.', unset: '4000', ...wholeNumber(0, 65535) },
  WORKERS: {
    about:
      'How many processes answer on the port, to use as many cores. They share journal, audit log and rate limit (docs/workers.md).',
    unset: '1',
    ...wholeNumber(1, 64),
  },
  SERVICE_BASE_URL: {
    about: 'Where the payment service is (spec: {base_url}). Plain http is allowed for loopback only.',
    expected:
      'an https address that ends with /, without api/v1/, credentials, query or fragment (plain http for loopback only)',
    unset: 'the embedded sandbox is started and used',
    read: readBaseUrl,
  },
  SERVICE_API_KEY: {
    about: 'The API key for the service (spec section 5).',
    unset: 'required with SERVICE_BASE_URL',
    ...credential,
  },
  SERVICE_SECRET_KEY: {
    about: 'The secret key that signs requests to the service (spec section 5).',
    unset: 'required with SERVICE_BASE_URL',
    ...credential,
  },
  SERVICE_CREDENTIALS_FILE: {
    about:
      'A JSON file with credentials per merchant channel, and several secrets where one is being changed; read again when it changes (docs/security.md).',
    unset: 'SERVICE_API_KEY and SERVICE_SECRET_KEY serve every channel',
    ...filePath,
  },
  SERVICE_TIMEOUT_MS: {
    about: 'The total deadline of one call to the service: connecting, headers and body, in milliseconds.',
    unset: '10000',
    ...wholeNumber(50, 120_000),
  },
  SERVICE_NOT_FOUND_STATUS: {
    about: 'The HTTP status that means "no such transaction" in a lookup. The service does not document it.',
    unset: '404',
    ...wholeNumber(400, 499),
  },
  SERVICE_NOT_FOUND_FIELDS: {
    about:
      'Names, separated by commas, that the JSON body of that answer has in any case. A 404 with another body comes from something in front of the service: it never frees an idempotency key.',
    unset: "any JSON object is the service's own",
    ...listOf('names of JSON fields', (text) => (/^[\w.-]{1,64}$/.test(text) ? text : undefined)),
  },
  DATABASE_URL: {
    about:
      'Where the journal of creates is kept: a SQLite file that the processes of one machine may share, or PostgreSQL for several machines.',
    unset: 'file:data/paygraph.db',
    secret: true,
    ...databaseUrl,
  },
  UNKNOWN_SETTLE_SECONDS: {
    about:
      'How long after the last possible moment of sending a lookup that finds nothing proves nothing. After that a payment may be created anew under the same key; a payout stays unknown.',
    unset: '900',
    ...wholeNumber(1, 604_800),
  },
  PAYOUT_PREFLIGHT: {
    about:
      'Whether the external id of a payout is looked up before its first sending: one already taken is refused, and a payout found later under it is certainly ours. Off saves the call.',
    unset: 'on',
    ...onOff,
  },
  FINGERPRINT_KEY: {
    about:
      'The secret from which the key of the fingerprints in the journal is derived: the same for all instances, and worth keeping when SERVICE_SECRET_KEY changes.',
    unset: 'SERVICE_SECRET_KEY',
    ...credential,
  },
  JOURNAL_RETENTION_DAYS: {
    about:
      'How long settled attempts are kept, and with them the memory of their keys. Unknown ones are kept until they are settled.',
    unset: '30',
    ...wholeNumber(30, 3650),
  },
  CLIENT_KEYS_FILE: {
    about:
      'A JSON file with the keys of internal services, as SHA-256 only; read again when it changes. `npm run client-key` makes keys (docs/security.md).',
    unset: 'no caller has a key',
    ...filePath,
  },
  AUTH_JWKS_URL: {
    about:
      'Where the public keys are that sign the tokens (JWT) of frontends. Plain http is allowed for loopback only.',
    expected: 'an https address without credentials or fragment (plain http for loopback only)',
    unset: 'tokens are not accepted',
    read: readJwksUrl,
  },
  AUTH_ISSUER: {
    about: 'The issuer (claim iss) whose tokens are accepted.',
    unset: 'required with AUTH_JWKS_URL',
    ...words,
  },
  AUTH_AUDIENCE: {
    about: 'The audience (claim aud) for which tokens must have been made.',
    unset: 'required with AUTH_JWKS_URL',
    ...words,
  },
  AUTH_MAX_TOKEN_LIFETIME_SECONDS: {
    about:
      'The longest lifetime (exp minus iat; without iat, what is left of it) of a token that is accepted, in seconds.',
    unset: '86400',
    ...wholeNumber(60, 31_536_000),
  },
  AUTH_MAX_STALE_KEYS_SECONDS: {
    about:
      'How long tokens are checked with the last public keys while AUTH_JWKS_URL fails, in seconds; after that they are answered with 503. A key withdrawn meanwhile is believed as long.',
    unset: '3600',
    ...wholeNumber(60, 604_800),
  },
  ALLOWED_URL_HOSTS: {
    about:
      'The hosts that returnUrl and callbackUrl may name, separated by commas; *.shop.example stands for every name below it.',
    unset: 'any public host',
    ...listOf('host names', (host) =>
      /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(host) ? host.toLowerCase() : undefined,
    ),
  },
  ...LIMITS_SETTINGS,
  PUBLIC_URL: {
    about:
      'Where the payment service reaches this gateway: creates that name no callbackUrl then name one below it, and a callback makes the gateway look at once (docs/live-updates.md). Plain http is allowed for loopback only.',
    expected: 'an https address without credentials, query or fragment (plain http for loopback only)',
    unset: 'no callback is asked for: changes are found by looking',
    read: readPublicUrl,
  },
  ...WATCHING_SETTINGS,
  ...METRICS_SETTINGS,
  AUDIT_LOG_FILE: {
    about:
      'The file that gets one line for each call that moves money, chained so that a missing line shows: `npm run audit -- verify`.',
    unset: 'data/audit.log',
    ...filePath,
  },
  AUDIT_LOG_ROTATE_MB: {
    about:
      'The size in MB from which on the gateway rotates the audit log: it moves the file to AUDIT_LOG_FILE.<time>-<chain> and begins a new one (docs/audit-log.md).',
    unset: 'never rotated by the gateway',
    ...wholeNumber(1, 100_000),
  },
  AUDIT_LOG_KEEP_FILES: {
    about:
      'How many rotated files of the audit log are kept; the gateway deletes older ones. For files that are shipped elsewhere.',
    unset: 'all are kept',
    ...wholeNumber(1, 1000),
  },
  SETTLE_APPROVAL: {
    about:
      'Whether `npm run attempts -- settle` only proposes, and another user of the operating system has to approve (docs/exactly-once.md). Read by the command line alone.',
    unset: 'off',
    ...onOff,
  },
  SANDBOX_PORT: {
    about: 'The port of the embedded sandbox; 0 takes any free one.',
    unset: '4001, or any free port where that is taken',
    ...wholeNumber(0, 65535),
  },
  SANDBOX_CONTROL: {
    about: 'Whether the sandbox has its control plane and console under /_sandbox/.',
    unset: 'off',
    ...onOff,
  },
  INTROSPECTION: {
    about:
      'Whether callers may introspect the schema, and are told what they may have meant by a wrong name.',
    unset: 'on with the embedded sandbox, off with a real service',
    ...onOff,
  },
  SUBGRAPH: {
    about:
      'Whether a router may use the gateway as a subgraph of Apollo Federation 2: _service and _entities (docs/federation.md).',
    unset: 'off',
    ...onOff,
  },
  ...EXPLORER_SETTINGS,
  SHUTDOWN_DELAY_MS: {
    about:
      'How long requests are still served after SIGTERM, in milliseconds, while /readyz answers 503 and every response closes its connection: the time that load balancers need to send new requests elsewhere. SHUTDOWN_GRACE_MS begins after it.',
    unset: '0',
    ...wholeNumber(0, 300_000),
  },
  SHUTDOWN_GRACE_MS: {
    about: 'How long work in flight may take to end after SIGTERM and SHUTDOWN_DELAY_MS, in milliseconds.',
    unset: '10000',
    ...wholeNumber(0, 600_000),
  },
  LOG_LEVEL: {
    about: 'How much is logged: JSON lines on standard output.',
    unset: 'info',
    ...oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
  ...TRACING_SETTINGS,
} satisfies Record<string, Setting<unknown>>;
