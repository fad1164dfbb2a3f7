import { createHash } from 'node:crypto';
import { PaymentState, PaymentStatus } from '../../schema/payment';
import { valueWithoutLookup } from '../../schema/lazy-field';
import type { TransactionResource } from '../../schema/transaction';
import type { PollPhase } from './poll-schedule';

/** Whether a payment comes from a partial response, so that reading a missing field would trigger a lookup. */
export const isPartialSnapshot = (snapshot: TransactionResource): boolean =>
  'loadCompletePayment' in snapshot && snapshot.loadCompletePayment !== undefined;

/** Returns the phase of a transaction, which selects its poll intervals. Never triggers a lookup. */
export function pollPhase(snapshot: TransactionResource): PollPhase {
  const { status } = snapshot;
  if (status === PaymentStatus.COMPLETED || status === PaymentStatus.FAILED) return 'done';
  if (status === PaymentStatus.MISPAID) return 'mispaid';
  if (snapshot.kind === 'payout') return 'provider';
  const state = stateOf(snapshot);
  // Payments of the redirect flow have no state. In status PROCESSING they no longer wait for the payer.
  const isProcessingRedirect = status === PaymentStatus.PROCESSING && !state && !isPartialSnapshot(snapshot);
  return isProcessingRedirect || state === PaymentState.WAITING_FOR_PROVIDER ? 'provider' : 'payer';
}

/** Returns the state of a payment without triggering a lookup; null for payouts, and if the response has no state. */
export const stateOf = (snapshot: TransactionResource): string | null =>
  (valueWithoutLookup(snapshot, 'state') as string | null | undefined) ?? null;

/** Returns the received amount without triggering a lookup; null if the response has none. */
export const receivedAmountOf = (snapshot: TransactionResource): string | null =>
  (valueWithoutLookup(snapshot, 'amount') as { received?: string | null } | null | undefined)?.received ??
  null;

/** Returns status, raw status, state and received amount as text, for comparison. Never triggers a lookup. */
export const stateJson = (snapshot: TransactionResource): string =>
  JSON.stringify([snapshot.status, snapshot.rawStatus, stateOf(snapshot), receivedAmountOf(snapshot)]);

/** Fields of a snapshot that are not compared: they may come from the gateway, or differ in every response. */
const UNCOMPARED_FIELDS: ReadonlySet<string> = new Set([
  'definition',
  'dateHeaderMs',
  'externalId',
  'mayLackCreateDetails',
]);

const comparableJson = (snapshot: TransactionResource): string =>
  JSON.stringify(snapshot, (name, value: unknown) => (UNCOMPARED_FIELDS.has(name) ? undefined : value));

/** Whether a subscriber that has received `before` must also receive `after`. */
export function hasChanged(before: TransactionResource, after: TransactionResource): boolean {
  if (stateJson(before) !== stateJson(after)) return true;
  return (
    !isPartialSnapshot(after) &&
    (isPartialSnapshot(before) || comparableJson(before) !== comparableJson(after))
  );
}

/** Returns the creation time by the service's clock, in ms since 1970; NaN if it is not known (always for payouts). */
export const creationTimeMs = (snapshot: TransactionResource): number =>
  Date.parse(String(valueWithoutLookup(snapshot, 'createDate')));

const shortHash = (text: string, byteCount: number): string =>
  createHash('sha256').update(text).digest().subarray(0, byteCount).toString('base64url');

/** Returns a hash of stateJson(), for messages to other instances: 8 characters of base64url. */
export const stateHash = (snapshot: TransactionResource): string => shortHash(stateJson(snapshot), 6);

/**
 * Returns a hash that identifies a transaction in messages to other instances, without revealing its id: 22 characters
 * of base64url.
 * @param serviceAndKind payment service and kind of the transaction
 */
export const transactionIdHash = (serviceAndKind: string, channel: string, transactionId: string): string =>
  shortHash(`${serviceAndKind} ${channel} ${transactionId}`, 16);

/** Returns a hash identifying a channel in messages to other instances about new changes: 22 base64url characters. */
export const channelHash = (serviceName: string, channel: string): string =>
  shortHash(`changes ${serviceName} ${channel}`, 16);

/**
 * Completes `later` from the snapshot `earlier`. If `later` is a payout with `mayLackCreateDetails`, returns a copy of
 * `earlier` with the status and error of `later`. Otherwise, adds a missing external id to `later`, and returns
 * `later`.
 */
export function mergeSnapshot<T extends TransactionResource>(earlier: T, later: T): T {
  const { status, rawStatus, error } = later;
  const emptySnapshot = Object.create(Object.getPrototypeOf(earlier) as object) as T;
  const mayLackDetails = later.kind === 'payout' && later.mayLackCreateDetails === true;
  const merged = mayLackDetails ? Object.assign(emptySnapshot, earlier, { status, rawStatus, error }) : later;
  merged.externalId ??= valueWithoutLookup(earlier, 'externalId') as string | null | undefined;
  return merged;
}
