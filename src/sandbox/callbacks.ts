import { bulkhead } from 'cockatiel';
import type { Clock } from '../shared/clock';
import type { SandboxLogger } from './logger';
import { microsecondDate, type Transaction } from './transaction';

/** Delays in ms before the second and the third delivery attempt of a callback. */
const RETRY_DELAYS_MS = [1000, 5000];
const DELIVERY_TIMEOUT_MS = 5000;
const MAX_CONCURRENT_DELIVERIES = 8;
const MAX_QUEUED_DELIVERIES = 1000;

interface CallbackRequest {
  callbackUrl: string;
  body: string;
  transactionId: string;
}

interface CallbackSenderDependencies {
  clock: Clock;
  /** Clock for the timeout of a delivery. Unlike `clock`, it is not advanced by the control plane. */
  realClock: Clock;
  logger?: SandboxLogger;
}

/**
 * Sends callbacks to the `callback_url` of create requests. The specification describes neither the content nor the
 * delivery of callbacks: both are inventions of the sandbox.
 */
export class CallbackSender {
  private readonly deliveryBulkhead = bulkhead(MAX_CONCURRENT_DELIVERIES, MAX_QUEUED_DELIVERIES);
  private stopController = new AbortController();

  constructor(private readonly dependencies: CallbackSenderDependencies) {}

  /** If the transaction has a `callbackUrl`, sends its new status and state there. Does not wait for the delivery. */
  notify(transaction: Transaction): void {
    const { callbackUrl, id: transactionId } = transaction;
    if (callbackUrl === undefined) return;
    const body = JSON.stringify(callbackPayloadOf(transaction, this.dependencies.clock.now()));
    void this.deliver({ callbackUrl, body, transactionId });
  }

  /** Discards queued deliveries and pending retries, and aborts running deliveries. notify() still works afterwards. */
  cancelDeliveries(): void {
    this.stopController.abort();
    this.stopController = new AbortController();
  }

  private async deliver(callbackRequest: CallbackRequest, earlierAttemptCount = 0): Promise<void> {
    const { clock, logger } = this.dependencies;
    const { transactionId } = callbackRequest;
    if (this.deliveryBulkhead.queueSlots === 0) {
      logger?.warn({ transactionId }, 'sandbox callback dropped: the queue is full');
      return;
    }
    const { signal: stopSignal } = this.stopController;
    const status = await this.deliveryBulkhead
      .execute(() => this.post(callbackRequest, stopSignal))
      .catch(() => null);
    if ((status !== null && status < 300) || stopSignal.aborted) return;
    const retryDelayMs = RETRY_DELAYS_MS[earlierAttemptCount];
    const isLast = retryDelayMs === undefined;
    const logFields = { transactionId, status, attempt: earlierAttemptCount + 1, last: isLast };
    logger?.warn(logFields, `sandbox callback not delivered; it will ${isLast ? 'not ' : ''}be sent again`);
    if (retryDelayMs === undefined) return;
    clock.after(retryDelayMs, () => {
      if (!stopSignal.aborted) void this.deliver(callbackRequest, earlierAttemptCount + 1);
    });
  }

  /** Posts a callback. Does not follow redirects. Returns the HTTP status. Rejects if no response arrives. */
  private async post({ callbackUrl, body }: CallbackRequest, stopSignal: AbortSignal): Promise<number> {
    const timeoutController = new AbortController();
    const timer = this.dependencies.realClock.after(DELIVERY_TIMEOUT_MS, () => timeoutController.abort());
    const signal = AbortSignal.any([stopSignal, timeoutController.signal]);
    const headers = { 'content-type': 'application/json' };
    try {
      const response = await fetch(callbackUrl, {
        method: 'POST',
        body,
        headers,
        redirect: 'manual',
        signal,
      });
      await response.body?.cancel();
      return response.status;
    } finally {
      timer.cancel();
    }
  }
}

const callbackPayloadOf = (transaction: Transaction, nowMs: number) => ({
  type: transaction.kind,
  transaction_id: transaction.id,
  external_id: transaction.externalId ?? null,
  channel: transaction.channel,
  status: transaction.simulatedOutcome.reportedStatus ?? transaction.status,
  state: transaction.kind === 'payment' ? (transaction.state ?? null) : null,
  amount: transaction.amount,
  error: transaction.error ?? null,
  date: microsecondDate(nowMs, 0),
});
