import { isUuid } from '../shared/uuid';

/** Permissions of a caller. Every root field of the schema requires one. */
export const SCOPES = {
  'payments:read': 'Look payments up and watch them.',
  'payments:read:own': 'The same for payments that this caller created through the gateway.',
  'payments:create': 'Create payments.',
  'payments:confirm': 'Confirm payments with data that the payer provided.',
  'payments:confirm:own': 'The same for payments that this caller created through the gateway.',
  'payouts:read': 'Look payouts up and watch them.',
  'payouts:read:own': 'The same for payouts that this caller created through the gateway.',
  'payouts:create': 'Create payouts.',
  'cards:direct':
    'Send full card numbers (card payments server-to-server, payouts to cards). The caller has to comply with PCI-DSS.',
} as const;

export type Scope = keyof typeof SCOPES;

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);

/** An internal service (API key), a frontend (token), or any caller when authentication is off. */
export type CallerKind = 'service' | 'frontend' | 'anyone';

export interface Caller {
  kind: CallerKind;
  /** Unique; identifies the caller in the journal and the audit log. */
  id: string;
  scopes: ReadonlySet<Scope>;
  /** The merchant channels it may act on, in lower case; "*" for all. */
  channels: '*' | ReadonlySet<string>;
  /** Identifies the credential for revocation: SHA-256 of an API key, or thumbprint of the key that signed a token. */
  credential?: string;
  /** In milliseconds since 1970; null when the credentials do not expire. */
  expiresAt: number | null;
}

/** Parses the channels of an API key or token: `["*"]` or a list of UUIDs. Undefined for anything else. */
export function channelsOf(value: unknown): Caller['channels'] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 1 && value[0] === '*') return '*';
  const isChannel = (item: unknown): item is string => typeof item === 'string' && isUuid(item);
  return value.every(isChannel) ? new Set(value.map((text) => text.toLowerCase())) : undefined;
}

/** Every caller when authentication is off, which is possible on this machine only. */
export const ANYONE: Caller = {
  kind: 'anyone',
  id: 'local',
  scopes: new Set(Object.keys(SCOPES).filter(isScope)),
  channels: '*',
  expiresAt: null,
};

/**
 * Why access is denied. NO_CREDENTIALS, BAD_CREDENTIALS: not authenticated. NO_SCOPE, NO_CHANNEL: not authorised.
 * KEYS_UNAVAILABLE: tokens cannot be verified now, because the public keys cannot be loaded.
 */
export type AccessErrorKind =
  'NO_CREDENTIALS' | 'BAD_CREDENTIALS' | 'NO_SCOPE' | 'NO_CHANNEL' | 'KEYS_UNAVAILABLE';

/** Access is denied. The message is for the caller and holds nothing of the request. */
export class AccessError extends Error {
  constructor(
    readonly kind: AccessErrorKind,
    message: string,
  ) {
    super(message);
    this.name = 'AccessError';
  }
}

/** Throws unless the caller has one of the scopes. */
export function requireScope({ scopes }: Caller, ...anyOf: readonly Scope[]): void {
  if (anyOf.some((scope) => scopes.has(scope))) return;
  throw new AccessError('NO_SCOPE', `This needs the scope ${anyOf.join(' or ')}.`);
}

/**
 * The caller to whose transactions this caller is restricted: itself; null when it has the full scope. A caller with
 * neither scope is restricted too, in case a scope check is missing.
 */
export const restrictedTo = (
  { id, scopes }: Caller,
  fullScope: 'payments:read' | 'payments:confirm' | 'payouts:read',
): string | null => (scopes.has(fullScope) ? null : id);

export const mayUseChannel = ({ channels }: Caller, channel: string): boolean =>
  channels === '*' || channels.has(channel.toLowerCase());

/** Throws unless the caller may act on the channel. The message does not depend on what exists there. */
export function requireChannel(caller: Caller, channel: string): void {
  if (mayUseChannel(caller, channel)) return;
  throw new AccessError('NO_CHANNEL', 'This caller may not act on this channel.');
}
