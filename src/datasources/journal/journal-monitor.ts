import type { Clock, Timer } from '../../shared/clock';
import { faultOf, isPermanent, type JournalFault, type JournalReason } from './journal-error';

/** Interval of the write checks. */
const CHECK_EVERY_MS = 5_000;
/** Interval while the journal fails, and the minimum between two checks. */
const RETRY_EVERY_MS = 1_000;
/** Interval of the log line while the journal keeps failing. */
const LOG_EVERY_MS = 60_000;
/** Attempts need new pages where a small row fits an old one: now and then the check writes as much as some of them. */
const LARGE_BYTES = 16 * 1024;
const LARGE_EVERY_MS = 60_000;

/** Reasons that may be transient: the check has to fail twice in a row. */
const PASSING: ReadonlySet<JournalReason> = new Set([
  'timeout',
  'locked',
  'connection_lost',
  'too_many_connections',
]);

/** Facts and a sentence for the log. */
type Say = (facts: object, message: string) => void;

interface JournalMonitorOptions {
  /** Writes to the journal; rejects where it cannot be written. */
  checkWrite(bytes: number): Promise<void>;
  clock: Pick<Clock, 'monotonic' | 'after'>;
  log: Record<'info' | 'warn' | 'error', Say>;
}

/**
 * Tracks whether the journal can be written. Logs the reason when it fails, every minute while it fails, and when it
 * recovers. Attempts that are written replace the check.
 */
export class JournalMonitor {
  readonly #options: JournalMonitorOptions;
  #fault: JournalFault | null = null;
  /** How often in a row the check has failed. */
  #failures = 0;
  /** Start of the failure. All times are of the monotonic clock. */
  #failsSince = 0;
  #loggedAt = 0;
  #wroteAt = -Infinity;
  #checkedAt = -Infinity;
  #largeAt = -Infinity;
  /** When a single failure of each reason was last logged. */
  readonly #mentionedAt = new Map<JournalReason, number>();
  #timer: Timer | undefined;
  #check: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: JournalMonitorOptions) {
    this.#options = options;
  }

  /** Why the journal cannot be written; null where it can. */
  get fault(): JournalFault | null {
    return this.#fault;
  }

  /** Checks once, and from then on again and again. Never rejects. */
  async start(): Promise<void> {
    // Nothing is known yet: the first failure counts.
    this.#failures = 1;
    await this.#run();
  }

  /** Starts no more checks, and resolves when the one under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#check;
  }

  /** To be called after each call of the journal; `fault` is null when it succeeded. */
  ended(call: string, fault: JournalFault | null): void {
    if (call === 'checkWrite') return;
    if (call === 'insertAttempt' && !fault) this.#wroteAt = this.#now();
    if (fault) this.#failed(call, fault);
  }

  #failed(call: string, fault: JournalFault): void {
    const now = this.#now();
    if (!this.#fault && now - (this.#mentionedAt.get(fault.reason) ?? -Infinity) >= LOG_EVERY_MS) {
      this.#mentionedAt.set(fault.reason, now);
      const { reason, code, message } = fault;
      const facts = { event: 'journal_operation_failed', operation: call, reason, code };
      this.#options.log.warn(facts, `journal operation failed: ${message}`);
    }
    if (fault.reason === 'disk_full') this.#largeAt = -Infinity;
    // A write check finds out whether all writes fail.
    this.#wroteAt = -Infinity;
    if (!this.#check) this.#later(Math.max(0, this.#checkedAt + RETRY_EVERY_MS - now));
  }

  #later(ms: number): void {
    this.#timer?.cancel();
    if (!this.#isStopped) this.#timer = this.#options.clock.after(ms, () => void this.#run());
  }

  #run(): Promise<void> {
    this.#check ??= this.#checkNow().finally(() => {
      this.#check = undefined;
      this.#later(this.#failures > 0 ? RETRY_EVERY_MS : CHECK_EVERY_MS);
    });
    return this.#check;
  }

  async #checkNow(): Promise<void> {
    const startedAt = this.#now();
    this.#checkedAt = startedAt;
    if (!this.#fault && startedAt - this.#wroteAt < CHECK_EVERY_MS) return;
    const isLarge = this.#fault?.reason === 'disk_full' || startedAt - this.#largeAt >= LARGE_EVERY_MS;
    try {
      await this.#options.checkWrite(isLarge ? LARGE_BYTES : 0);
      if (isLarge) this.#largeAt = startedAt;
      this.#works();
    } catch (error) {
      const fault = faultOf(error);
      // The check has a low priority: what is busy with attempts can be written.
      if (PASSING.has(fault.reason) && this.#wroteAt > startedAt) return this.#works();
      this.#failures += 1;
      if (this.#fault || this.#failures > 1 || !PASSING.has(fault.reason)) this.#fails(fault);
    }
  }

  #works(): void {
    this.#failures = 0;
    if (!this.#fault) return;
    const { reason } = this.#fault;
    const facts = { event: 'journal_available', reason, failedForSeconds: this.#seconds() };
    this.#fault = null;
    this.#options.log.info(facts, 'the journal can be written again');
  }

  #fails(fault: JournalFault): void {
    const now = this.#now();
    if (!this.#fault) this.#failsSince = now;
    const isNews = this.#fault?.reason !== fault.reason || now - this.#loggedAt >= LOG_EVERY_MS;
    this.#fault = fault;
    if (!isNews) return;
    this.#loggedAt = now;
    const { reason, code, message } = fault;
    const facts = { event: 'journal_unavailable', reason, code, failedForSeconds: this.#seconds() };
    this.#options.log.error(
      facts,
      `journal unavailable: ${message}; payments and payouts are refused; ${mendOf(fault)}`,
    );
  }

  #seconds(): number {
    return Math.round((this.#now() - this.#failsSince) / 1000);
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function mendOf(fault: JournalFault): string {
  if (fault.reason === 'file_replaced')
    return 'put the original file back, or stop the gateway and restore it';
  return isPermanent(fault) ? 'correct DATABASE_URL or the rights of its user' : 'retrying every second';
}
