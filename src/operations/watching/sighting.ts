import { createHash } from 'node:crypto';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import { PayoutStatus, type PayoutResource } from '../../schema/payout';
import { arrived } from '../../schema/service-field';
import type { Phase } from './schedule';

/** What can be watched. */
export type Watchable = PaymentResource | PayoutResource;

/** Whether an answer was a short one: reading what it lacks would look it up. */
const isShort = (seen: Watchable): boolean => 'complete' in seen && seen.complete !== undefined;

/** Whom it waits for. */
export function phaseOf(seen: Watchable): Phase {
  const { status } = seen;
  if (
    status === PaymentStatus.COMPLETED ||
    status === PaymentStatus.FAILED ||
    status === PayoutStatus.COMPLETED ||
    status === PayoutStatus.FAILED
  )
    return 'done';
  if (status === PaymentStatus.MISPAID) return 'mispaid';
  if (seen.kind === 'payout') return 'provider';
  const state = arrived(seen, 'state');
  // In the redirect flow there is no state: what is under way there has left the payer's hands.
  const isUnderWay = status === PaymentStatus.PROCESSING && !state && !isShort(seen);
  return isUnderWay || state === PaymentState.WAITING_FOR_PROVIDER ? 'provider' : 'payer';
}

/** What every answer says of where a transaction stands, short ones too: two that stand alike have the same text. */
export function stateOf(seen: Watchable): string {
  const state = arrived(seen, 'state') ?? null;
  const { received = null } = (arrived(seen, 'amount') ?? {}) as { received?: string | null };
  return JSON.stringify([seen.status, seen.rawStatus, state, received]);
}

/** What belongs to the question rather than to the answer. */
const NO_PART_OF_IT: ReadonlySet<string> = new Set(['room', 'serviceTime', 'externalId', 'isPartial']);

/** Everything that a whole answer says. */
const valueOf = (seen: Watchable): string =>
  JSON.stringify(seen, (name, value: unknown) => (NO_PART_OF_IT.has(name) ? undefined : value));

/** Whether somebody who knows the first learns something from the second. */
export function differs(before: Watchable, after: Watchable): boolean {
  if (stateOf(before) !== stateOf(after)) return true;
  return !isShort(after) && (isShort(before) || valueOf(before) !== valueOf(after));
}

/** When it was created, by the service's clock, in milliseconds since 1970; undefined where that is not known. */
export function createdAt(seen: Watchable): number | undefined {
  const date = arrived(seen, 'createDate');
  const time = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Names a state in eight characters. */
export const nameOfState = (seen: Watchable): string =>
  createHash('sha256').update(stateOf(seen)).digest().subarray(0, 6).toString('base64url');

/** Names a transaction, without saying which it is. */
export const nameOf = (kind: string, channel: string, transactionId: string): string =>
  createHash('sha256')
    .update(`${kind} ${channel} ${transactionId}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');

/**
 * An answer, with what is known from the one before it and is not in it: the external id, which the service does not
 * repeat, and what the journal knows of a payout, where the journal could not be asked this time.
 */
export function following<T extends Watchable>(before: T, after: T): T {
  const { status, rawStatus, error } = after;
  const bare = Object.create(Object.getPrototypeOf(before) as object) as T;
  const whole = isPartial(after) ? Object.assign(bare, before, { status, rawStatus, error }) : after;
  whole.externalId ??= arrived(before, 'externalId') as string | null | undefined;
  return whole;
}

const isPartial = (seen: Watchable): boolean => seen.kind === 'payout' && seen.isPartial === true;
