import { isUuid } from '../shared/uuid';

/**
 * Scopes (permissions) and their descriptions. Each root field declares scopes, of which a caller needs at least one. A
 * create with a full card number needs the scope `cards:direct` in addition.
 */
export const DESCRIPTION_BY_SCOPE = {
  'payments:read': 'Look payments up and watch them.',
  'payments:read:own': 'Look up and watch payments that this caller created through the gateway.',
  'payments:create': 'Create payments.',
  'payments:confirm': 'Confirm payments with data that the payer provided.',
  'payments:confirm:own': 'Confirm payments that this caller created through the gateway.',
  'payouts:read': 'Look payouts up and watch them.',
  'payouts:read:own': 'Look up and watch payouts that this caller created through the gateway.',
  'payouts:create': 'Create payouts.',
  'cards:direct':
    'Send full card numbers (card payments server-to-server, payouts to cards). The caller has to comply with PCI-DSS.',
} as const;

export type Scope = keyof typeof DESCRIPTION_BY_SCOPE;

export const isScope = (text: string): text is Scope => Object.hasOwn(DESCRIPTION_BY_SCOPE, text);

/** `service`: authenticated by a client key. `frontend`: by a token. `anyone`: authentication is off. */
export type CallerKind = 'service' | 'frontend' | 'anyone';

export interface Caller {
  kind: CallerKind;
  /** Unique id, for example `service:<id>`. Identifies the caller in the journal and the audit log. */
  id: string;
  scopes: ReadonlySet<Scope>;
  /** Merchant channels (UUIDs in lower case) that the caller may use; "*" for all. */
  channels: '*' | ReadonlySet<string>;
  /**
   * SHA-256 of the client key in hexadecimal, or RFC 7638 thumbprint of the public key that verified the token. Absent
   * if authentication is off.
   */
  authKeyHash?: string;
  /** Expiry of the credentials in milliseconds since 1970; null if they do not expire. */
  expiresAt: number | null;
}

/** Parses the channels of a client key or token: `["*"]` or a list of UUIDs. Returns undefined for anything else. */
export function parseChannels(value: unknown): Caller['channels'] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 1 && value[0] === '*') return '*';
  const isChannel = (channel: unknown): channel is string => typeof channel === 'string' && isUuid(channel);
  return value.every(isChannel) ? new Set(value.map((channel) => channel.toLowerCase())) : undefined;
}

/** The caller of every request if authentication is off. In this case, the setting HOST must be a loopback address. */
export const UNAUTHENTICATED_CALLER: Caller = {
  kind: 'anyone',
  id: 'local',
  scopes: new Set(Object.keys(DESCRIPTION_BY_SCOPE).filter(isScope)),
  channels: '*',
  expiresAt: null,
};

/**
 * Reasons for which access is denied.
 * - NO_CREDENTIALS: the request has no credentials.
 * - BAD_CREDENTIALS: the credentials are malformed, unknown, expired or invalid for another reason.
 * - NO_SCOPE: the caller has none of the required scopes.
 * - NO_CHANNEL: the caller may not use the channel.
 * - KEYS_UNAVAILABLE: tokens cannot be verified now, because no public keys are available.
 */
export type AccessErrorKind =
  'NO_CREDENTIALS' | 'BAD_CREDENTIALS' | 'NO_SCOPE' | 'NO_CHANNEL' | 'KEYS_UNAVAILABLE';

/** Error for a request that is denied access. Callers see the message, so it must contain no part of the request. */
export class AccessError extends Error {
  constructor(
    readonly kind: AccessErrorKind,
    message: string,
  ) {
    super(message);
    this.name = 'AccessError';
  }
}

/** Throws an AccessError unless the caller has at least one of the scopes. */
export function requireAnyScope({ scopes }: Caller, ...acceptedScopes: readonly Scope[]): void {
  if (acceptedScopes.some((scope) => scopes.has(scope))) return;
  throw new AccessError('NO_SCOPE', `The caller needs the scope ${acceptedScopes.join(' or ')}.`);
}

/**
 * Returns the caller's id if the caller may use only transactions that it created itself. If the caller has
 * `fullScope`, returns null: the caller may use the transactions of all callers. Does not check that the caller has
 * `fullScope` or its `:own` variant, because requireAnyScope() does.
 */
export const creatorRestriction = (
  { id, scopes }: Caller,
  fullScope: 'payments:read' | 'payments:confirm' | 'payouts:read',
): string | null => (scopes.has(fullScope) ? null : id);

export const mayUseChannel = ({ channels }: Caller, channel: string): boolean =>
  channels === '*' || channels.has(channel.toLowerCase());

/** Throws an AccessError unless the caller may use the channel. The message hides whether the channel exists. */
export function requireChannel(caller: Caller, channel: string): void {
  if (mayUseChannel(caller, channel)) return;
  throw new AccessError('NO_CHANNEL', 'This caller may not act on this channel.');
}
