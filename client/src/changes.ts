import type { AmountFieldsFragment, PaymentChangeFieldsFragment, PayoutMethod, PayoutStatus } from '../index';
import type { ChangesQuery, WatchChangesSubscription } from '../index';
import { gatewayError } from './errors';
import { EventStreamParser } from './event-stream';
import {
  GatewayRequest,
  RetryableError,
  parseResult,
  throwResponseError,
  type GatewayConnection,
} from './gateway-request';
import { CHANGES_QUERY, CHANGES_SUBSCRIPTION } from './tables';

/** A new status or state of a payment, recorded when the gateway first observed it. */
export type PaymentChange = PaymentChangeFieldsFragment;

/** A new status of a payout, recorded when the gateway first observed it. */
export interface PayoutChange {
  __typename: 'PayoutChange';
  /** Position of the change. To continue after this change, pass it to changes() as `after`. */
  cursor: string;
  /** Time when the gateway recorded the change (RFC 3339). */
  recordedAt: string;
  channel: string;
  transactionId: string;
  externalId: string | null;
  method: PayoutMethod;
  /** Status before the change; null in the first change of a payout. */
  previousStatus: PayoutStatus | null;
  status: PayoutStatus;
  amount: AmountFieldsFragment | null;
}

/** A change of a payment or payout. */
export type Change = PaymentChange | PayoutChange;

export interface ChangesOptions extends GatewayConnection {
  /** Id (UUID) of the merchant channel. */
  channel: string;
  /** Cursor of the last processed change. Default: start with the oldest change that the gateway still has. */
  after?: string | null;
  /** Maximum number of changes per page, 1 to 500; by default 100. */
  pageSize?: number;
  /**
   * Returns the delay before a retry in milliseconds. `failures`: number of earlier failures in a row, 0 for the first
   * retry. If the gateway's error has a longer `retryAfterMs`, that is the delay instead. Default: exponential backoff
   * with jitter, 0.25 to 0.5 s for the first retry, at most 15 to 30 s.
   */
  retryWaitMs?: (failures: number) => number;
  /** Called before the delay of each retry, with the cause of the failure and the delay in milliseconds. */
  onRetry?: (cause: unknown, waitMs: number) => void;
}

/** If a connection fails after more than this time in ms, the retries begin with the shortest delay again. */
const STABLE_CONNECTION_MS = 30_000;

const backoffMs = (failures: number): number =>
  Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);

/**
 * Yields every change after `options.after`, oldest first, then each new change. Skips types of changes that this
 * version of the client package does not know. Reads pages, then subscribes by server-sent events. Reads more only when
 * the consumer requests the next change. After a retryable failure, continues after the change that it yielded last.
 * Ends only by an error.
 * @throws CursorExpired if the gateway has deleted changes after the cursor
 * @throws RequestRefused for an error that is not retryable, such as UNAUTHENTICATED
 * @throws `signal.reason` when `signal` is aborted
 */
export async function* changes(options: ChangesOptions): AsyncGenerator<Change, never, undefined> {
  const { signal, retryWaitMs = backoffMs, onRetry } = options;
  let after = options.after ?? null;
  for (let failures = 0; ; failures += 1) {
    const startedAt = performance.now();
    try {
      for await (const { change, cursor } of readPagesThenLive(options, after)) {
        signal?.throwIfAborted();
        after = cursor;
        if (!change) continue;
        failures = 0;
        yield change;
      }
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error;
      if (performance.now() - startedAt > STABLE_CONNECTION_MS) failures = 0;
      const waitMs = Math.max(retryWaitMs(failures), error.retryAfterMs);
      onRetry?.(error.cause, waitMs);
      await pause(waitMs, signal);
    }
  }
}

interface FeedItem {
  /** A received change; null at the end of a page, where `cursor` is the end cursor of the page. */
  change: Change | null;
  cursor: string;
}

/** Reads pages, then subscribes. Ends only by an error, which is a RetryableError if a retry may succeed. */
async function* readPagesThenLive(
  options: ChangesOptions,
  startCursor: string | null,
): AsyncGenerator<FeedItem, never, undefined> {
  let after = startCursor;
  for (let hasMore = true; hasMore;) {
    const page = await readPage(options, after);
    for (const receivedChange of page.changes) yield* feedItemsOf(receivedChange);
    yield { change: null, cursor: page.endCursor };
    after = page.endCursor;
    hasMore = page.hasMore;
  }
  return yield* readLive(options, after);
}

async function readPage(options: ChangesOptions, after: string | null): Promise<ChangesQuery['changes']> {
  const request = new GatewayRequest(options);
  try {
    const variables = { channel: options.channel, after, first: options.pageSize ?? 100 };
    const response = await request.send({ query: CHANGES_QUERY, variables }, '', 'application/json');
    const result = parseResult(await request.readText(response));
    if (result.errors || !result.data) return throwResponseError(result);
    return (result.data as ChangesQuery).changes;
  } finally {
    request.close();
  }
}

async function* readLive(
  options: ChangesOptions,
  after: string | null,
): AsyncGenerator<FeedItem, never, undefined> {
  const request = new GatewayRequest(options);
  try {
    const operation = { query: CHANGES_SUBSCRIPTION, variables: { channel: options.channel, after } };
    const response = await request.send(operation, '/stream', 'text/event-stream');
    const decoder = new TextDecoder();
    const parser = new EventStreamParser();
    for await (const part of request.readParts(response))
      for (const { event, data } of parser.push(decoder.decode(part, { stream: true })))
        if (event === 'next') yield* feedItemsOf(parseLiveChange(data));
    throw new RetryableError(new Error('The event stream ended.'));
  } finally {
    request.close();
  }
}

type ReceivedChange = ChangesQuery['changes']['changes'][number];

function parseLiveChange(data: string): ReceivedChange {
  const result = parseResult(data);
  // The credentials expired or were withdrawn during the subscription. Retry, because `headers` may return new ones.
  if (gatewayError(result)?.code === 'UNAUTHENTICATED') throw new RetryableError(result);
  if (result.errors || !result.data) return throwResponseError(result);
  return (result.data as WatchChangesSubscription).changes;
}

function* feedItemsOf(receivedChange: ReceivedChange): Generator<FeedItem, void, undefined> {
  // Skip a change of an unknown type, from a newer gateway. The operation selects `cursor` only on known types.
  if (!('cursor' in receivedChange)) return;
  yield { change: changeOf(receivedChange), cursor: receivedChange.cursor };
}

function changeOf(receivedChange: ReceivedChange): Change {
  if (receivedChange.__typename === 'PaymentChange') return receivedChange;
  const {
    payoutMethod: method,
    previousPayoutStatus: previousStatus,
    payoutStatus: status,
    ...rest
  } = receivedChange;
  return { ...rest, method, previousStatus, status };
}

/** Waits `ms`. Rejects with `signal.reason` as soon as `signal` is aborted. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish);
    if (signal?.aborted) finish();
  });
}
