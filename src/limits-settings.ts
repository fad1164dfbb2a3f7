import type { LimitsConfig } from './config-types';
import { listOf, oneOf, wholeNumber, type Setting, type SettingsReader } from './settings';
import { filePath, isNetwork } from './setting-values';

/** Settings of what the web server lets in (docs/security.md). */
export const LIMITS_SETTINGS = {
  CORS_ORIGINS: {
    about: 'The origins whose pages may call the gateway from a browser, separated by commas.',
    unset: "none; with the embedded sandbox Apollo's explorers",
    ...listOf('origins such as https://shop.example', (text) =>
      URL.canParse(text) && new URL(text).origin === text ? text : undefined,
    ),
  },
  TRUSTED_PROXIES: {
    about:
      'The addresses or networks of proxies whose X-Forwarded-For is believed, separated by commas: it names the caller in logs. They have no limit of connections.',
    unset: 'none is',
    ...listOf('IP addresses or networks such as 10.0.0.0/8', (text) => (isNetwork(text) ? text : undefined)),
  },
  RATE_LIMIT_PER_MINUTE: {
    about:
      'How much one caller may ask of one gateway in a minute, of all its WORKERS together; 0 is no limit. A lookup costs 1 for each transaction, a call that moves money 5, anything else 1.',
    unset: '60000 with a real service, no limit with the embedded sandbox',
    ...wholeNumber(0, 100_000_000),
  },
  MAX_EVENT_LOOP_LAG_MS: {
    about:
      'How late the process may be on average before it refuses new operations with 503, in milliseconds; 0 never refuses.',
    unset: '1000',
    ...wholeNumber(0, 60_000),
  },
  CLIENT_TIMEOUT_MS: {
    about:
      'How long a client may take to send its request, headers and body, and to read what is written to it, in milliseconds. Connections of slower ones are closed.',
    unset: '15000',
    ...wholeNumber(100, 600_000),
  },
  MAX_CONNECTIONS: {
    about:
      'How many connections of clients one process accepts: beyond it idle ones are closed, and new ones answered with 503. Never more than its limit of file descriptors allows (docs/deployment.md).',
    unset: 'the descriptor limit less 1024, or half of it where that is more; at most 18000',
    ...wholeNumber(1, 1_000_000),
  },
  MAX_CONNECTIONS_PER_ADDRESS: {
    about:
      'How many of them one address may have, or one IPv6 network of 64 bits; 0 is no limit. Addresses in TRUSTED_PROXIES have none.',
    unset: 'three quarters of MAX_CONNECTIONS',
    ...wholeNumber(0, 1_000_000),
  },
  MAX_UNREAD_BYTES: {
    about:
      'How much one process buffers of what clients have not read: beyond it the connections with the most are closed.',
    unset: '134217728',
    ...wholeNumber(1_048_576, 999_999_999),
  },
  MAX_UNREAD_BYTES_PER_CALLER: {
    about: 'The same for one caller, on all of its connections.',
    unset: '33554432',
    ...wholeNumber(1_048_576, 999_999_999),
  },
  PERSISTED_OPERATIONS: {
    about:
      "A manifest of operations that may be called by their id: Apollo's, or graphql-codegen's. `npm run persist` makes one.",
    unset: 'there is none',
    ...filePath,
  },
  PERSISTED_OPERATIONS_FRONTENDS: {
    about:
      'What frontends (callers with a token) may ask where there is a manifest: anything (allow), anything but with a warning in the log for what is not in it (prefer), or only what is in it (require).',
    unset: 'require',
    ...oneOf('allow', 'prefer', 'require'),
  },
  PERSISTED_OPERATIONS_SERVICES: {
    about:
      'The same for internal services (callers with a key), and for everybody where callers are not told apart.',
    unset: 'allow',
    ...oneOf('allow', 'prefer', 'require'),
  },
} satisfies Record<string, Setting<unknown>>;

/** Pages that Apollo serves its explorers from. */
const APOLLO_ORIGINS = ['https://studio.apollographql.com', 'https://sandbox.embed.apollographql.com'];

/** @param isSandbox whether the embedded sandbox is used */
export function readLimits(reader: SettingsReader, isSandbox: boolean): LimitsConfig {
  return {
    corsOrigins:
      reader.get('CORS_ORIGINS', LIMITS_SETTINGS.CORS_ORIGINS) ?? (isSandbox ? APOLLO_ORIGINS : []),
    trustedProxies: reader.get('TRUSTED_PROXIES', LIMITS_SETTINGS.TRUSTED_PROXIES) ?? [],
    ratePerMinute:
      reader.get('RATE_LIMIT_PER_MINUTE', LIMITS_SETTINGS.RATE_LIMIT_PER_MINUTE) ?? (isSandbox ? 0 : 60_000),
    maxEventLoopLagMs: reader.get('MAX_EVENT_LOOP_LAG_MS', LIMITS_SETTINGS.MAX_EVENT_LOOP_LAG_MS) ?? 1000,
    clientTimeoutMs: reader.get('CLIENT_TIMEOUT_MS', LIMITS_SETTINGS.CLIENT_TIMEOUT_MS) ?? 15_000,
    maxConnections: reader.get('MAX_CONNECTIONS', LIMITS_SETTINGS.MAX_CONNECTIONS) ?? null,
    maxConnectionsPerAddress:
      reader.get('MAX_CONNECTIONS_PER_ADDRESS', LIMITS_SETTINGS.MAX_CONNECTIONS_PER_ADDRESS) ?? null,
    maxUnreadBytes: reader.get('MAX_UNREAD_BYTES', LIMITS_SETTINGS.MAX_UNREAD_BYTES) ?? 134_217_728,
    maxUnreadBytesPerCaller:
      reader.get('MAX_UNREAD_BYTES_PER_CALLER', LIMITS_SETTINGS.MAX_UNREAD_BYTES_PER_CALLER) ?? 33_554_432,
    persisted: {
      manifest: reader.get('PERSISTED_OPERATIONS', LIMITS_SETTINGS.PERSISTED_OPERATIONS) ?? null,
      frontends:
        reader.get('PERSISTED_OPERATIONS_FRONTENDS', LIMITS_SETTINGS.PERSISTED_OPERATIONS_FRONTENDS) ??
        'require',
      services:
        reader.get('PERSISTED_OPERATIONS_SERVICES', LIMITS_SETTINGS.PERSISTED_OPERATIONS_SERVICES) ?? 'allow',
    },
  };
}
