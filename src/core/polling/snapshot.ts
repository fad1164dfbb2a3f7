import { createHash } from 'node:crypto';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import type { PayoutResource } from '../../schema/payout';
import { peek } from '../../schema/lazy-field';
import type { Phase } from './poll-schedule';

/** What can be watched. */
export type Snapshot = PaymentResource | PayoutResource;

/** Whether an answer was a short one: reading what it lacks would look it up. */
const isShort = (seen: Snapshot): boolean => 'complete' in seen && seen.complete !== undefined;

/** Whom it waits for. */
export function pollPhase(seen: Snapshot): Phase {
  const { status } = seen;
  if (status === PaymentStatus.COMPLETED || status === PaymentStatus.FAILED) return 'done';
  if (status === PaymentStatus.MISPAID) return 'mispaid';
  if (seen.kind === 'payout') return 'provider';
  const state = peek(seen, 'state');
  // In the redirect flow there is no state: what is under way there has left the payer's hands.
  const isUnderWay = status === PaymentStatus.PROCESSING && !state && !isShort(seen);
  return isUnderWay || state === PaymentState.WAITING_FOR_PROVIDER ? 'provider' : 'payer';
}

/** What every answer says of where a transaction stands, short ones too: two that stand alike have the same text. */
export function stateOf(seen: Snapshot): string {
  const state = peek(seen, 'state') ?? null;
  const { received = null } = (peek(seen, 'amount') ?? {}) as { received?: string | null };
  return JSON.stringify([seen.status, seen.rawStatus, state, received]);
}

/** What belongs to the question rather than to the answer. */
const NO_PART_OF_IT: ReadonlySet<string> = new Set(['definition', 'serviceTime', 'externalId', 'isPartial']);

/** Everything that a whole answer says. */
const valueOf = (seen: Snapshot): string =>
  JSON.stringify(seen, (name, value: unknown) => (NO_PART_OF_IT.has(name) ? undefined : value));

/** Whether somebody who knows the first learns something from the second. */
export function hasChanged(before: Snapshot, after: Snapshot): boolean {
  if (stateOf(before) !== stateOf(after)) return true;
  return !isShort(after) && (isShort(before) || valueOf(before) !== valueOf(after));
}

/** When it was created, by the service's clock, in milliseconds since 1970; undefined where that is not known. */
export function createdAt(seen: Snapshot): number | undefined {
  const date = peek(seen, 'createDate');
  const time = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Names a state in eight characters. */
export const stateHash = (seen: Snapshot): string =>
  createHash('sha256').update(stateOf(seen)).digest().subarray(0, 6).toString('base64url');

/** Names a transaction, without saying which it is. */
export const transactionHash = (kind: string, channel: string, transactionId: string): string =>
  createHash('sha256')
    .update(`${kind} ${channel} ${transactionId}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');

/**
 * An answer, with what is known from the one before it and is not in it: the external id, which the service does not
 * repeat, and what the journal knows of a payout, where the journal could not be asked this time.
 */
export function mergeSnapshot<T extends Snapshot>(before: T, after: T): T {
  const { status, rawStatus, error } = after;
  const bare = Object.create(Object.getPrototypeOf(before) as object) as T;
  const whole = isPartial(after) ? Object.assign(bare, before, { status, rawStatus, error }) : after;
  whole.externalId ??= peek(before, 'externalId') as string | null | undefined;
  return whole;
}

const isPartial = (seen: Snapshot): boolean => seen.kind === 'payout' && seen.isPartial === true;
