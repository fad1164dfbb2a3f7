import { createHash } from 'node:crypto';
import { PaymentState, PaymentStatus, type PaymentResource } from '../../schema/payment';
import type { PayoutResource } from '../../schema/payout';
import { peek } from '../../schema/lazy-field';
import type { PollPhase } from './poll-schedule';

/** A transaction as it is in one response. */
export type Snapshot = PaymentResource | PayoutResource;

/** Whether a payment lacks fields that its response did not contain. Reading one of them would trigger a lookup. */
const isIncomplete = (snapshot: Snapshot): boolean =>
  'loadComplete' in snapshot && snapshot.loadComplete !== undefined;

/** Returns the poll phase of a transaction in this state. */
export function pollPhase(snapshot: Snapshot): PollPhase {
  const { status } = snapshot;
  if (status === PaymentStatus.COMPLETED || status === PaymentStatus.FAILED) return 'done';
  if (status === PaymentStatus.MISPAID) return 'mispaid';
  if (snapshot.kind === 'payout') return 'provider';
  const state = peek(snapshot, 'state');
  // Payments of the redirect flow have no state. In status PROCESSING they no longer wait for the payer.
  const isProcessing = status === PaymentStatus.PROCESSING && !state && !isIncomplete(snapshot);
  return isProcessing || state === PaymentState.WAITING_FOR_PROVIDER ? 'provider' : 'payer';
}

/** Returns status, state and received amount as text. Equal texts mean the same state. Never triggers a lookup. */
export function stateText(snapshot: Snapshot): string {
  const state = peek(snapshot, 'state') ?? null;
  const { received = null } = (peek(snapshot, 'amount') ?? {}) as { received?: string | null };
  return JSON.stringify([snapshot.status, snapshot.rawStatus, state, received]);
}

/** Fields of a snapshot that do not come from the response. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(['definition', 'serviceTime', 'externalId', 'isPartial']);

/** Returns the fields of a snapshot that come from the response, as text for comparison. */
const comparableText = (snapshot: Snapshot): string =>
  JSON.stringify(snapshot, (name, value: unknown) => (IGNORED_FIELDS.has(name) ? undefined : value));

/** Whether a subscriber that has received `before` must also receive `after`. */
export function hasChanged(before: Snapshot, after: Snapshot): boolean {
  if (stateText(before) !== stateText(after)) return true;
  return !isIncomplete(after) && (isIncomplete(before) || comparableText(before) !== comparableText(after));
}

/** Returns the creation time by the service's clock, in milliseconds since 1970; NaN if it is not known. */
export const creationTime = (snapshot: Snapshot): number => Date.parse(String(peek(snapshot, 'createDate')));

const hash = (text: string, bytes: number): string =>
  createHash('sha256').update(text).digest().subarray(0, bytes).toString('base64url');

/** Returns a hash of the state: 8 characters of base64url. */
export const stateHash = (snapshot: Snapshot): string => hash(stateText(snapshot), 6);

/** Returns a hash that identifies a transaction of `scope` without revealing its id: 22 characters of base64url. */
export const transactionHash = (scope: string, channel: string, transactionId: string): string =>
  hash(`${scope} ${channel} ${transactionId}`, 16);

/** Returns a hash that identifies the record of changes of a channel: 22 characters of base64url. */
export const channelHash = (service: string, channel: string): string =>
  hash(`changes ${service} ${channel}`, 16);

/** Returns `after` with what it lacks taken from `before`: the external id and, for a partial payout, all details. */
export function mergeSnapshot<T extends Snapshot>(before: T, after: T): T {
  const { status, rawStatus, error } = after;
  const empty = Object.create(Object.getPrototypeOf(before) as object) as T;
  const isPartial = after.kind === 'payout' && after.isPartial === true;
  const merged = isPartial ? Object.assign(empty, before, { status, rawStatus, error }) : after;
  merged.externalId ??= peek(before, 'externalId') as string | null | undefined;
  return merged;
}
