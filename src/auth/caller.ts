/** What a caller may do; every root field of the schema names its scope. */
export const SCOPES = {
  'payments:read': 'Look payments up and watch them.',
  'payments:read:own': 'The same for payments that this caller created through the gateway.',
  'payments:create': 'Create payments.',
  'payments:confirm': 'Hand in what a payer gave for a payment that waits for it.',
  'payments:confirm:own': 'The same for payments that this caller created through the gateway.',
  'payouts:read': 'Look payouts up and watch them.',
  'payouts:read:own': 'The same for payouts that this caller created through the gateway.',
  'payouts:create': 'Create payouts.',
  'cards:direct':
    'Hand in full card numbers (card payments server-to-server, payouts to cards). The caller has to comply with PCI-DSS.',
} as const;

export type Scope = keyof typeof SCOPES;

export const isScope = (text: string): text is Scope => Object.hasOwn(SCOPES, text);

/** Whom a caller is told apart by: an internal service by its key, a frontend by its token, or nobody at all. */
export type CallerKind = 'service' | 'frontend' | 'anyone';

/** Who is calling, and what it may do. */
export interface Caller {
  kind: CallerKind;
  /** Names the caller in the journal and the audit log; no two callers share one. */
  id: string;
  scopes: ReadonlySet<Scope>;
  /** The merchant channels it may act on, in lower case; all of them where this is "*". */
  channels: '*' | ReadonlySet<string>;
  /**
   * Names what can be revoked before it expires: the SHA-256 of a client key, the thumbprint of the key that signed a token;
   * never the credential itself.
   */
  credential?: string;
  /** When the caller's right to call ends, in milliseconds since 1970; null when it does not end by itself. */
  expiresAt: number | null;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The channels of a client key or a token: `["*"]`, or a list of UUIDs. Undefined for anything else. */
export function channelsOf(value: unknown): Caller['channels'] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (value.length === 1 && value[0] === '*') return '*';
  const isUuid = (item: unknown): item is string => typeof item === 'string' && UUID.test(item);
  return value.every(isUuid) ? new Set(value.map((text) => text.toLowerCase())) : undefined;
}

/** The caller where callers are not told apart: on this machine only. */
export const ANYONE: Caller = {
  kind: 'anyone',
  id: 'local',
  scopes: new Set(Object.keys(SCOPES).filter(isScope)),
  channels: '*',
  expiresAt: null,
};

/**
 * Why a caller is not served. NO_CREDENTIALS, BAD_CREDENTIALS: who it is could not be established. NO_SCOPE, NO_CHANNEL:
 * it may not do that. KEYS_UNAVAILABLE: tokens cannot be checked now, as their public keys cannot be loaded.
 */
export type AccessFault =
  'NO_CREDENTIALS' | 'BAD_CREDENTIALS' | 'NO_SCOPE' | 'NO_CHANNEL' | 'KEYS_UNAVAILABLE';

/** A caller is not served; the message is for the caller and holds nothing of what it sent. */
export class AccessError extends Error {
  constructor(
    readonly kind: AccessFault,
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
 * The creator whose transactions are the only ones that exist for this caller; null where it has the full scope, and all
 * of them exist. A caller with neither scope is restricted too, so that a missing scope check shows it nothing more.
 */
export const restrictedTo = (
  { id, scopes }: Caller,
  fullScope: 'payments:read' | 'payments:confirm' | 'payouts:read',
): string | null => (scopes.has(fullScope) ? null : id);

export const mayUseChannel = ({ channels }: Caller, channel: string): boolean =>
  channels === '*' || channels.has(channel.toLowerCase());

/** Throws unless the caller may act on the channel; says the same whatever there is on it. */
export function requireChannel(caller: Caller, channel: string): void {
  if (mayUseChannel(caller, channel)) return;
  throw new AccessError('NO_CHANNEL', 'This caller may not act on this channel.');
}
