import type { Clock, Timer } from './clock';
import type { SandboxLogger } from './logger';
import type { Transaction } from './transaction';

/** The wait before each attempt after the first. */
const RETRY_AFTER_MS = [1000, 5000];
const TIMEOUT_MS = 5000;
const MAX_AT_ONCE = 8;
const MAX_WAITING = 1000;

interface Delivery {
  url: string;
  body: string;
  transactionId: string;
  attempt: number;
}

export interface CallbackParts {
  clock: Clock;
  /** A receiver takes as long as it takes: pushing the sandbox's own clock does not make it late. */
  realTime: Clock;
  logger?: SandboxLogger;
}

/**
 * Notifies the `callback_url` of a create request. The specification shows neither the payload nor the delivery:
 * both are the sandbox's own invention.
 */
export class Callbacks {
  private queue: Delivery[] = [];
  private readonly waiting = new Set<Timer>();
  private readonly running = new Set<AbortController>();

  constructor(private readonly parts: CallbackParts) {}

  notify(transaction: Transaction, date: string): void {
    if (transaction.callbackUrl === undefined) return;
    const body = JSON.stringify(payload(transaction, date));
    this.enqueue({ url: transaction.callbackUrl, body, transactionId: transaction.id, attempt: 0 });
  }

  /** Drops what is waiting and breaks off what is on its way. */
  stop(): void {
    this.queue = [];
    for (const timer of this.waiting) timer.cancel();
    this.waiting.clear();
    for (const attempt of this.running) attempt.abort();
    this.running.clear();
  }

  private enqueue(delivery: Delivery): void {
    if (this.queue.length + this.waiting.size >= MAX_WAITING) {
      this.parts.logger?.warn(
        { transactionId: delivery.transactionId },
        'sandbox callback dropped: too many wait',
      );
      return;
    }
    this.queue.push(delivery);
    this.next();
  }

  private next(): void {
    if (this.running.size >= MAX_AT_ONCE) return;
    const delivery = this.queue.shift();
    if (delivery) void this.deliver(delivery);
  }

  private async deliver(delivery: Delivery): Promise<void> {
    const abort = new AbortController();
    this.running.add(abort);
    const timeout = this.parts.realTime.after(TIMEOUT_MS, () => abort.abort());
    const received = await post(delivery, abort.signal);
    timeout.cancel();
    // stop() has forgotten the attempt already: a retry would outlive it.
    if (!this.running.delete(abort)) return;
    if (!received) this.retry(delivery);
    this.next();
  }

  private retry(delivery: Delivery): void {
    const { transactionId, attempt } = delivery;
    const wait = RETRY_AFTER_MS[attempt];
    this.parts.logger?.warn(
      { transactionId, attempt: attempt + 1, last: wait === undefined },
      'sandbox callback failed',
    );
    if (wait === undefined) return;
    const timer = this.parts.clock.after(wait, () => {
      this.waiting.delete(timer);
      this.enqueue({ ...delivery, attempt: attempt + 1 });
    });
    this.waiting.add(timer);
  }
}

/** Whether the receiver took it. Redirects are not followed, and what it answers is not read. */
async function post(delivery: Delivery, signal: AbortSignal): Promise<boolean> {
  try {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(delivery.url, {
      method: 'POST',
      body: delivery.body,
      headers,
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function payload(transaction: Transaction, date: string): Record<string, unknown> {
  return {
    type: transaction.kind,
    transaction_id: transaction.id,
    external_id: transaction.externalId ?? null,
    channel: transaction.channel,
    status: transaction.outcome.statusWord ?? transaction.status,
    state: transaction.kind === 'payment' ? (transaction.state ?? null) : null,
    amount: transaction.amount,
    error: transaction.error ?? null,
    date,
  };
}
