import { createHash } from 'node:crypto';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import type { PayoutResource } from '../../schema/payout';
import { peek } from '../../schema/lazy-field';
import type { Phase } from './poll-schedule';

/** A transaction as one response shows it. */
export type Snapshot = PaymentResource | PayoutResource;

/** Whether a payment is incomplete: reading its missing fields would trigger a lookup. */
const isIncomplete = (snapshot: Snapshot): boolean =>
  'complete' in snapshot && snapshot.complete !== undefined;

/** Poll phase of a transaction. */
export function pollPhase(snapshot: Snapshot): Phase {
  const { status } = snapshot;
  if (status === PaymentStatus.COMPLETED || status === PaymentStatus.FAILED) return 'done';
  if (status === PaymentStatus.MISPAID) return 'mispaid';
  if (snapshot.kind === 'payout') return 'provider';
  const state = peek(snapshot, 'state');
  // The redirect flow has no state: a payment in processing there no longer waits for the payer.
  const isProcessing = status === PaymentStatus.PROCESSING && !state && !isIncomplete(snapshot);
  return isProcessing || state === PaymentState.WAITING_FOR_PROVIDER ? 'provider' : 'payer';
}

/** The fields that every response has, as text: equal texts mean the same state. */
export function stateOf(snapshot: Snapshot): string {
  const state = peek(snapshot, 'state') ?? null;
  const { received = null } = (peek(snapshot, 'amount') ?? {}) as { received?: string | null };
  return JSON.stringify([snapshot.status, snapshot.rawStatus, state, received]);
}

/** Fields that do not come from the response. */
const NOT_COMPARED: ReadonlySet<string> = new Set(['definition', 'serviceTime', 'externalId', 'isPartial']);

/** All fields of a complete response, as text. */
const valueOf = (snapshot: Snapshot): string =>
  JSON.stringify(snapshot, (name, value: unknown) => (NOT_COMPARED.has(name) ? undefined : value));

/** Whether the second snapshot has news for a subscriber that knows the first. */
export function hasChanged(before: Snapshot, after: Snapshot): boolean {
  if (stateOf(before) !== stateOf(after)) return true;
  return !isIncomplete(after) && (isIncomplete(before) || valueOf(before) !== valueOf(after));
}

/** Creation time by the service's clock, in milliseconds since 1970; undefined when not known. */
export function createdAt(snapshot: Snapshot): number | undefined {
  const date = peek(snapshot, 'createDate');
  const time = typeof date === 'string' ? Date.parse(date) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Hash of the state: 8 characters of base64url. */
export const stateHash = (snapshot: Snapshot): string =>
  createHash('sha256').update(stateOf(snapshot)).digest().subarray(0, 6).toString('base64url');

/** Hash of the transaction's identity, which it does not reveal. */
export const transactionHash = (kind: string, channel: string, transactionId: string): string =>
  createHash('sha256')
    .update(`${kind} ${channel} ${transactionId}`)
    .digest()
    .subarray(0, 16)
    .toString('base64url');

/**
 * A snapshot, completed from the one before it: the external id, which the service does not return, and the details of a
 * payout, if the journal could not be read this time.
 */
export function mergeSnapshot<T extends Snapshot>(before: T, after: T): T {
  const { status, rawStatus, error } = after;
  const bare = Object.create(Object.getPrototypeOf(before) as object) as T;
  const whole = isPartial(after) ? Object.assign(bare, before, { status, rawStatus, error }) : after;
  whole.externalId ??= peek(before, 'externalId') as string | null | undefined;
  return whole;
}

const isPartial = (snapshot: Snapshot): boolean => snapshot.kind === 'payout' && snapshot.isPartial === true;
