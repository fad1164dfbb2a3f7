import type { AmountFieldsFragment, PaymentChangeFieldsFragment, PayoutMethod, PayoutStatus } from '../index';
import type { ChangesQuery, WatchChangesSubscription } from '../index';
import { gatewayError } from './errors';
import { EventStreamParser } from './event-stream';
import {
  GatewayRequest,
  Interruption,
  resultOf,
  throwErrors,
  type GatewayConnection,
} from './gateway-request';
import { CHANGES_QUERY, CHANGES_SUBSCRIPTION } from './tables';

/** A status or state of a payment that the gateway observed for the first time. */
export type PaymentChange = PaymentChangeFieldsFragment;

/** A status of a payout that the gateway observed for the first time. */
export interface PayoutChange {
  __typename: 'PayoutChange';
  /** Position of the change. With `after: cursor`, changes() continues after this change. */
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
  /** Cursor of the last processed change; by default, starts with the oldest change that the gateway still has. */
  after?: string | null;
  /** Maximum number of changes per page, 1 to 500; by default 100. */
  pageSize?: number;
  /**
   * Returns the delay before a retry in milliseconds. `failures` is the number of earlier failures in a row, 0 before
   * the first retry. Default: exponential backoff with jitter, at most 0.5 s before the first retry and 30 s later.
   */
  retryWaitMs?: (failures: number) => number;
  /** Called before the delay of a retry, with the reason of the retry and the delay in milliseconds. */
  onRetry?: (cause: unknown, waitMs: number) => void;
}

/** If a connection fails later than this after its start, the backoff starts again with its shortest delay. */
const STABLE_MS = 30_000;

const backoffMs = (failures: number): number =>
  Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2);

/**
 * Yields every change after a cursor, oldest first, then new changes when they are recorded, without end. Reads pages
 * of changes, then subscribes by server-sent events. Retries after interruptions, and continues after the last change
 * that it has yielded. Reads more only when the consumer of the iterator requests the next change.
 * @throws CursorExpired if the gateway has deleted changes after the cursor
 * @throws RequestRefused for an error that is not retryable, such as UNAUTHENTICATED
 * @throws the reason of `signal` if that is aborted
 */
export async function* changes(options: ChangesOptions): AsyncGenerator<Change, never, undefined> {
  const { signal, retryWaitMs = backoffMs, onRetry } = options;
  let after = options.after ?? null;
  for (let failures = 0; ; failures += 1) {
    const startedAt = performance.now();
    try {
      for await (const { change, cursor } of readUntilInterrupted(options, after)) {
        signal?.throwIfAborted();
        after = cursor;
        if (!change) continue;
        failures = 0;
        yield change;
      }
    } catch (error) {
      if (!(error instanceof Interruption)) throw error;
      if (performance.now() - startedAt > STABLE_MS) failures = 0;
      const waitMs = Math.max(retryWaitMs(failures), error.retryAfterMs);
      onRetry?.(error.cause, waitMs);
      await pause(waitMs, signal);
    }
  }
}

interface Step {
  /** The next change; null at the end of a page: `cursor` is then the end cursor of the page. */
  change: Change | null;
  cursor: string;
}

/** Reads pages, then subscribes, until an Interruption is thrown. */
async function* readUntilInterrupted(
  options: ChangesOptions,
  start: string | null,
): AsyncGenerator<Step, never, undefined> {
  let after = start;
  for (let hasMore = true; hasMore;) {
    const page = await readPage(options, after);
    for (const received of page.changes) yield* stepsOf(received);
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
    const result = resultOf(await request.text(response));
    if (result.errors || !result.data) return throwErrors(result);
    return (result.data as ChangesQuery).changes;
  } finally {
    request.close();
  }
}

async function* readLive(
  options: ChangesOptions,
  after: string | null,
): AsyncGenerator<Step, never, undefined> {
  const request = new GatewayRequest(options);
  try {
    const operation = { query: CHANGES_SUBSCRIPTION, variables: { channel: options.channel, after } };
    const response = await request.send(operation, '/stream', 'text/event-stream');
    const decoder = new TextDecoder();
    const parser = new EventStreamParser();
    for await (const part of request.parts(response))
      for (const { event, data } of parser.push(decoder.decode(part, { stream: true })))
        if (event === 'next') yield* stepsOf(liveChangeIn(data));
    throw new Interruption(new Error('The event stream ended.'));
  } finally {
    request.close();
  }
}

type ReceivedChange = ChangesQuery['changes']['changes'][number];

function liveChangeIn(data: string): ReceivedChange {
  const result = resultOf(data);
  // The credentials have expired. Retry: `headers` may return new ones.
  if (gatewayError(result)?.code === 'UNAUTHENTICATED') throw new Interruption(result);
  if (result.errors || !result.data) return throwErrors(result);
  return (result.data as WatchChangesSubscription).changes;
}

function* stepsOf(received: ReceivedChange): Generator<Step, void, undefined> {
  // Ignore a type of change that only a newer gateway has: the operation selects no cursor of it.
  if (!('cursor' in received)) return;
  yield { change: changeOf(received), cursor: received.cursor };
}

function changeOf(received: ReceivedChange): Change {
  if (received.__typename === 'PaymentChange') return received;
  const {
    payoutMethod: method,
    previousPayoutStatus: previousStatus,
    payoutStatus: status,
    ...rest
  } = received;
  return { ...rest, method, previousStatus, status };
}

/** Resolves after `ms`. Rejects with the reason of the signal if it is aborted before. */
function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason as Error);
      else resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
  });
}
