import type { Clock, Timer } from '../../shared/clock';
import {
  describeJournalError,
  isPermanent,
  type JournalErrorInfo,
  type JournalReason,
} from './journal-error';

const CHECK_INTERVAL_MS = 5_000;
/** Interval while the journal fails, and the minimum between two checks. */
const RETRY_INTERVAL_MS = 1_000;
/** Interval of repeated log lines. */
const LOG_INTERVAL_MS = 60_000;
/** A small row may fit an old page where attempts need new ones: once a minute the check writes as much as several attempts. */
const LARGE_BYTES = 16 * 1024;
const LARGE_INTERVAL_MS = 60_000;

/** Reasons that may be transient: the journal counts as unavailable after two failed checks in a row. */
const TRANSIENT: ReadonlySet<JournalReason> = new Set([
  'timeout',
  'locked',
  'connection_lost',
  'too_many_connections',
]);

type Log = (facts: object, message: string) => void;

interface JournalMonitorOptions {
  /** Rejects when the journal cannot be written. */
  checkWrite(bytes: number): Promise<void>;
  clock: Pick<Clock, 'monotonic' | 'after'>;
  log: Record<'info' | 'warn' | 'error', Log>;
}

/**
 * Tracks whether the journal can be written. Logs the reason when it fails, every minute while it fails, and when it
 * recovers. A written attempt replaces a check. All times are of the monotonic clock.
 */
export class JournalMonitor {
  readonly #options: JournalMonitorOptions;
  #fault: JournalErrorInfo | null = null;
  /** Failed checks in a row. The first check of all counts as the second: nothing is known yet. */
  #failures = 1;
  #failsSince = 0;
  #loggedAt = 0;
  #wroteAt = -Infinity;
  #checkedAt = -Infinity;
  #largeAt = -Infinity;
  /** When a single failed call was last logged, by reason. */
  readonly #callLoggedAt = new Map<JournalReason, number>();
  #timer: Timer | undefined;
  #check: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: JournalMonitorOptions) {
    this.#options = options;
  }

  /** Why the journal cannot be written; null when it can. */
  get currentError(): JournalErrorInfo | null {
    return this.#fault;
  }

  /** Runs the first check and schedules the others. Never rejects. */
  start(): Promise<void> {
    return this.#run();
  }

  /** Schedules no more checks; resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#check;
  }

  /** Must be called after each call of the journal; `fault` is null when it succeeded. */
  onCallEnd(call: string, fault: JournalErrorInfo | null): void {
    if (call === 'checkWrite') return;
    if (call === 'insertAttempt' && !fault) this.#wroteAt = this.#now();
    if (!fault) return;
    const now = this.#now();
    if (!this.#fault && now - (this.#callLoggedAt.get(fault.reason) ?? -Infinity) >= LOG_INTERVAL_MS) {
      this.#callLoggedAt.set(fault.reason, now);
      const { reason, code, message } = fault;
      const facts = { event: 'journal_operation_failed', operation: call, reason, code };
      this.#options.log.warn(facts, `journal operation failed: ${message}`);
    }
    if (fault.reason === 'disk_full') this.#largeAt = -Infinity;
    // The next check determines whether all writes fail.
    this.#wroteAt = -Infinity;
    if (!this.#check) this.#schedule(Math.max(0, this.#checkedAt + RETRY_INTERVAL_MS - now));
  }

  #schedule(ms: number): void {
    this.#timer?.cancel();
    if (!this.#isStopped) this.#timer = this.#options.clock.after(ms, () => void this.#run());
  }

  #run(): Promise<void> {
    this.#check ??= this.#checkNow().finally(() => {
      this.#check = undefined;
      this.#schedule(this.#failures > 0 ? RETRY_INTERVAL_MS : CHECK_INTERVAL_MS);
    });
    return this.#check;
  }

  async #checkNow(): Promise<void> {
    const startedAt = this.#now();
    this.#checkedAt = startedAt;
    if (!this.#fault && startedAt - this.#wroteAt < CHECK_INTERVAL_MS) return;
    const isLarge = this.#fault?.reason === 'disk_full' || startedAt - this.#largeAt >= LARGE_INTERVAL_MS;
    try {
      await this.#options.checkWrite(isLarge ? LARGE_BYTES : 0);
      if (isLarge) this.#largeAt = startedAt;
      this.#onWritable();
    } catch (error) {
      const fault = describeJournalError(error);
      const isTransient = TRANSIENT.has(fault.reason);
      // The check has a low priority: a journal busy with attempts can be written.
      if (isTransient && this.#wroteAt > startedAt) return this.#onWritable();
      this.#failures += 1;
      if (this.#fault || this.#failures > 1 || !isTransient) this.#onUnavailable(fault);
    }
  }

  #onWritable(): void {
    this.#failures = 0;
    if (!this.#fault) return;
    const { reason } = this.#fault;
    const facts = { event: 'journal_available', reason, failedForSeconds: this.#failedForSeconds() };
    this.#fault = null;
    this.#options.log.info(facts, 'journal writable again');
  }

  #onUnavailable(fault: JournalErrorInfo): void {
    const now = this.#now();
    const { reason, code, message } = fault;
    if (!this.#fault) this.#failsSince = now;
    const isDue = this.#fault?.reason !== reason || now - this.#loggedAt >= LOG_INTERVAL_MS;
    this.#fault = fault;
    if (!isDue) return;
    this.#loggedAt = now;
    const facts = { event: 'journal_unavailable', reason, code, failedForSeconds: this.#failedForSeconds() };
    const text = `journal unavailable: ${message}; payments and payouts are rejected; ${remedyOf(fault)}`;
    this.#options.log.error(facts, text);
  }

  #failedForSeconds(): number {
    return Math.round((this.#now() - this.#failsSince) / 1000);
  }

  #now(): number {
    return this.#options.clock.monotonic();
  }
}

function remedyOf(fault: JournalErrorInfo): string {
  if (fault.reason === 'file_replaced')
    return 'restore the original file, or stop the gateway and restore the journal';
  return isPermanent(fault) ? 'correct DATABASE_URL or the privileges of its user' : 'retrying every second';
}
