import type { Clock, Timer } from '../shared/clock';
import type { SandboxLogger } from './logger';
import type { Transaction } from './transaction';

/** Delays before the second and the third attempt to deliver a callback. */
const RETRY_DELAYS_MS = [1000, 5000];
const DELIVERY_TIMEOUT_MS = 5000;
const MAX_CONCURRENT_DELIVERIES = 8;
const MAX_QUEUED_DELIVERIES = 1000;

interface Delivery {
  url: string;
  body: string;
  transactionId: string;
  /** Number of attempts before this one. */
  attempt: number;
}

interface CallbackParts {
  clock: Clock;
  /** Clock for the timeout of a delivery. Unlike `clock`, it is not advanced by the control plane. */
  realTime: Clock;
  logger?: SandboxLogger;
}

/**
 * Sends callbacks to the `callback_url` of a create. Their content and delivery are inventions of the sandbox, because
 * the specification describes neither.
 */
export class CallbackSender {
  private queue: Delivery[] = [];
  private readonly retryTimers = new Set<Timer>();
  private readonly running = new Set<AbortController>();

  constructor(private readonly parts: CallbackParts) {}

  notify(transaction: Transaction, date: string): void {
    if (transaction.callbackUrl === undefined) return;
    const body = JSON.stringify(payload(transaction, date));
    this.enqueue({ url: transaction.callbackUrl, body, transactionId: transaction.id, attempt: 0 });
  }

  /** Discards queued deliveries and retries, and aborts running deliveries. */
  stop(): void {
    this.queue = [];
    for (const timer of this.retryTimers) timer.cancel();
    this.retryTimers.clear();
    for (const attempt of this.running) attempt.abort();
    this.running.clear();
  }

  private enqueue(delivery: Delivery): void {
    if (this.queue.length + this.retryTimers.size >= MAX_QUEUED_DELIVERIES) {
      const { transactionId } = delivery;
      this.parts.logger?.warn({ transactionId }, 'sandbox callback dropped: the queue is full');
      return;
    }
    this.queue.push(delivery);
    this.startNext();
  }

  private startNext(): void {
    if (this.running.size >= MAX_CONCURRENT_DELIVERIES) return;
    const delivery = this.queue.shift();
    if (delivery) void this.deliver(delivery);
  }

  private async deliver(delivery: Delivery): Promise<void> {
    const abort = new AbortController();
    this.running.add(abort);
    const timeout = this.parts.realTime.after(DELIVERY_TIMEOUT_MS, () => abort.abort());
    const isDelivered = await postCallback(delivery, abort.signal);
    timeout.cancel();
    // After stop() there must be no retry.
    if (!this.running.delete(abort)) return;
    if (!isDelivered) this.retry(delivery);
    this.startNext();
  }

  private retry(delivery: Delivery): void {
    const { transactionId, attempt } = delivery;
    const delay = RETRY_DELAYS_MS[attempt];
    const facts = { transactionId, attempt: attempt + 1, last: delay === undefined };
    this.parts.logger?.warn(facts, 'delivery of a sandbox callback failed');
    if (delay === undefined) return;
    const timer = this.parts.clock.after(delay, () => {
      this.retryTimers.delete(timer);
      this.enqueue({ ...delivery, attempt: attempt + 1 });
    });
    this.retryTimers.add(timer);
  }
}

/** Sends a callback. Returns whether the receiver responded with 2xx; redirects are not followed. */
async function postCallback({ url, body }: Delivery, signal: AbortSignal): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

const payload = (transaction: Transaction, date: string): Record<string, unknown> => ({
  type: transaction.kind,
  transaction_id: transaction.id,
  external_id: transaction.externalId ?? null,
  channel: transaction.channel,
  status: transaction.outcome.statusOverride ?? transaction.status,
  state: transaction.kind === 'payment' ? (transaction.state ?? null) : null,
  amount: transaction.amount,
  error: transaction.error ?? null,
  date,
});
