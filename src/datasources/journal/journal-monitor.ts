import type { Clock, Timer } from '../../shared/clock';
import {
  classifyJournalError,
  isPermanent,
  type JournalErrorInfo,
  type JournalErrorReason,
} from './journal-error';

const CHECK_INTERVAL_MS = 5_000;
/** Time in ms from a failed check to the next check; also the minimum interval between two checks. */
const RETRY_INTERVAL_MS = 1_000;
/** Minimum time in ms before a log line about the same failure is repeated. */
const LOG_INTERVAL_MS = 60_000;
/** Size in bytes of the row that a large check writes. A full disk may still have space for a small row. */
const LARGE_CHECK_FILLER_BYTES = 16 * 1024;
const LARGE_CHECK_INTERVAL_MS = 60_000;

/**
 * If a check fails for one of these reasons, the journal becomes unavailable only if the previous check has failed too.
 * When the gateway starts, the first failed check already makes the journal unavailable.
 */
const TRANSIENT_REASONS: ReadonlySet<JournalErrorReason> = new Set([
  'timeout',
  'locked',
  'connection_lost',
  'too_many_connections',
]);

interface JournalMonitorOptions {
  /** As Journal.checkWrite(): rejects if the journal cannot be written. */
  checkWrite(fillerSizeBytes: number): Promise<void>;
  clock: Pick<Clock, 'monotonic' | 'after'>;
  log: Record<'info' | 'warn' | 'error', (facts: object, message: string) => void>;
}

/**
 * Checks regularly whether the journal can be written. Skips a check of an available journal if insertAttempt()
 * succeeded within CHECK_INTERVAL_MS and no call has failed since. Logs outages: when they begin, every minute, when
 * the reason changes, and when they end. While the journal is available, also logs failed calls, at most one a minute
 * per reason. Times are in ms by the monotonic clock.
 */
export class JournalMonitor {
  #fault: JournalErrorInfo | null = null;
  /** Number of failed checks in a row. Starts at 1, so that the journal is unavailable if the first check fails. */
  #failedCheckCount = 1;
  #failingSince = 0;
  #unavailableLoggedAt = 0;
  #lastInsertAt = -Infinity;
  #lastCheckAt = -Infinity;
  #lastLargeCheckAt = -Infinity;
  /** Time of the last log line about a failed call, by reason. */
  readonly #loggedAtByReason = new Map<JournalErrorReason, number>();
  #checkTimer: Timer | undefined;
  #currentCheck: Promise<void> | undefined;
  #isStopped = false;

  constructor(private readonly options: JournalMonitorOptions) {}

  /** The error because of which the journal is treated as unavailable; null if it is treated as available. */
  get currentFault(): JournalErrorInfo | null {
    return this.#fault;
  }

  /** Starts the regular checks. Resolves after the first check, whatever its result. */
  start(): Promise<void> {
    return this.#runCheck();
  }

  /** Stops the checks. Resolves when the check in progress, if any, has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#checkTimer?.cancel();
    await this.#currentCheck;
  }

  /**
   * Must be called when a journal call has ended. `methodName`: the called method. `fault`: the error; null if the call
   * succeeded, or if a working journal refused the call.
   */
  onCallEnd(methodName: string, fault: JournalErrorInfo | null): void {
    if (methodName === 'checkWrite') return;
    if (methodName === 'insertAttempt' && !fault) this.#lastInsertAt = this.#monotonicMs();
    if (!fault) return;
    const now = this.#monotonicMs();
    if (!this.#fault && now - (this.#loggedAtByReason.get(fault.reason) ?? -Infinity) >= LOG_INTERVAL_MS) {
      this.#loggedAtByReason.set(fault.reason, now);
      const { reason, code, message } = fault;
      const facts = { event: 'journal_operation_failed', operation: methodName, reason, code };
      this.options.log.warn(facts, `journal call ${methodName} failed: ${message}`);
    }
    if (fault.reason === 'disk_full') this.#lastLargeCheckAt = -Infinity;
    // The next check must not be skipped, because it finds out whether all writes fail.
    this.#lastInsertAt = -Infinity;
    if (!this.#currentCheck) this.#scheduleCheck(Math.max(0, this.#lastCheckAt + RETRY_INTERVAL_MS - now));
  }

  #scheduleCheck(delayMs: number): void {
    this.#checkTimer?.cancel();
    if (!this.#isStopped) this.#checkTimer = this.options.clock.after(delayMs, () => void this.#runCheck());
  }

  #runCheck(): Promise<void> {
    this.#currentCheck ??= this.#checkNow().finally(() => {
      this.#currentCheck = undefined;
      this.#scheduleCheck(this.#failedCheckCount > 0 ? RETRY_INTERVAL_MS : CHECK_INTERVAL_MS);
    });
    return this.#currentCheck;
  }

  async #checkNow(): Promise<void> {
    const startedAt = this.#monotonicMs();
    this.#lastCheckAt = startedAt;
    if (!this.#fault && startedAt - this.#lastInsertAt < CHECK_INTERVAL_MS) return;
    const isLargeCheck =
      this.#fault?.reason === 'disk_full' || startedAt - this.#lastLargeCheckAt >= LARGE_CHECK_INTERVAL_MS;
    try {
      await this.options.checkWrite(isLargeCheck ? LARGE_CHECK_FILLER_BYTES : 0);
      if (isLargeCheck) this.#lastLargeCheckAt = startedAt;
      this.#onWritable();
    } catch (error) {
      const fault = classifyJournalError(error);
      const isTransient = TRANSIENT_REASONS.has(fault.reason);
      // If the journal is busy, a check may time out although attempts are being written: in SQLite, checks have low
      // priority.
      if (isTransient && this.#lastInsertAt > startedAt) return this.#onWritable();
      this.#failedCheckCount += 1;
      if (this.#fault || this.#failedCheckCount > 1 || !isTransient) this.#onUnavailable(fault);
    }
  }

  #onWritable(): void {
    this.#failedCheckCount = 0;
    if (!this.#fault) return;
    const { reason } = this.#fault;
    const facts = { event: 'journal_available', reason, failedForSeconds: this.#failedForSeconds() };
    this.#fault = null;
    this.options.log.info(facts, 'journal can be written again; creates and confirms are accepted');
  }

  #onUnavailable(fault: JournalErrorInfo): void {
    const now = this.#monotonicMs();
    const { reason, code, message } = fault;
    if (!this.#fault) this.#failingSince = now;
    const isLogDue = this.#fault?.reason !== reason || now - this.#unavailableLoggedAt >= LOG_INTERVAL_MS;
    this.#fault = fault;
    if (!isLogDue) return;
    this.#unavailableLoggedAt = now;
    const facts = { event: 'journal_unavailable', reason, code, failedForSeconds: this.#failedForSeconds() };
    const logMessage = `journal unavailable: ${message}; creates and confirms are rejected; ${remedyOf(fault)}`;
    this.options.log.error(facts, logMessage);
  }

  #failedForSeconds(): number {
    return Math.round((this.#monotonicMs() - this.#failingSince) / 1000);
  }

  #monotonicMs(): number {
    return this.options.clock.monotonic();
  }
}

function remedyOf(fault: JournalErrorInfo): string {
  if (fault.reason === 'file_replaced')
    return 'put the original file back, or stop the gateway and restore the journal from a backup';
  return isPermanent(fault)
    ? 'correct DATABASE_URL, or the privileges on the database or file'
    : 'retrying every second';
}
