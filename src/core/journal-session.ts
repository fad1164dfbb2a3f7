import { randomUUID } from 'node:crypto';
import type { Timer } from '../shared/clock';
import {
  MAX_LEASE_MS,
  type Attempt,
  type BeginResult,
  type Claim,
  type Journal,
  type NewAttempt,
  type Outcome,
} from '../datasources/journal/journal';
import { ServiceError } from '../datasources/payment-service/service-error';
import { withTimeout } from '../shared/timeout';
import type { JournalClock } from './journal-clock';

/** Added to the journal's own deadline, in case the journal does not enforce it. */
const TIMEOUT_MARGIN_MS = 50;
/** An instance that has not renewed its lease for this long, plus the journal timeout, is treated as dead. */
const LEASE_MS = 3550;
const RENEW_EVERY_MS = 1000;
/** How long a caller waits for its outcome to be recorded. Recording then continues in the background. */
const RECORD_TIMEOUT_MS = 250;
/** How long an insert that has timed out may still reach the journal. */
const RECORD_AGAIN_FOR_MS = 60_000;

const MAX_UNRECORDED = 10_000;
const MAX_CONCURRENT_RECORDS = 250;

/** An outcome that the journal may not have recorded. */
interface Unrecorded {
  outcome: Outcome;
  /** By the monotonic clock. */
  since: number;
}

interface JournalSessionOptions {
  journal: Journal;
  clock: JournalClock;
  service: string;
  warn(facts: object, message: string): void;
}

/** This instance's access to the journal: fails closed before a request is sent, and never throws after it. */
export class JournalSession {
  readonly journal: Journal;
  readonly clock: JournalClock;
  /** Identifies the payment service and its credentials in the journal. */
  readonly service: string;
  /** Identifies this instance. */
  readonly owner = randomUUID();
  readonly #warn: JournalSessionOptions['warn'];
  /** By attempt id. */
  readonly #unrecorded = new Map<string, Unrecorded>();
  #inFlight = 0;
  #renewal: Timer | undefined;

  constructor({ journal, clock, service, warn }: JournalSessionOptions) {
    this.journal = journal;
    this.clock = clock;
    this.service = service;
    this.#warn = warn;
  }

  /** After this time without a result the journal counts as down. */
  get timeoutMs(): number {
    return this.journal.deadlineMs + TIMEOUT_MARGIN_MS;
  }

  /** The end of a lease taken now. */
  leaseUntil(): number {
    return this.clock.now() + this.timeoutMs + LEASE_MS;
  }

  claim(leaseMs: number): Claim {
    const now = this.clock.now();
    return { service: this.service, owner: this.owner, now, leaseUntil: now + leaseMs };
  }

  /** Awaits journal work that must succeed before a request is sent. Throws SERVICE_UNAVAILABLE on failure or timeout. */
  async failClosed<T>(work: Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.timeoutMs, work);
    } catch {
      // The journal monitor logs the reason.
      work.catch(() => undefined);
      const message = "The gateway's journal cannot be reached; this call sent nothing. Repeat it unchanged.";
      throw new ServiceError('UNAVAILABLE', message, 1000, true);
    }
  }

  /** Inserts an attempt. If this fails, `not_sent` is recorded in case the attempt reached the journal all the same. */
  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const inserting = this.journal.insertAttempt(attempt);
    try {
      return await this.failClosed(inserting);
    } catch (error) {
      this.#queueUnrecorded(attempt.id, { outcome: 'not_sent', settledAt: this.clock.now() });
      void inserting.then(
        () => this.flushUnrecorded(),
        () => undefined,
      );
      throw error;
    }
  }

  /** Whether the instance that sends an attempt still holds its lease. */
  isLeased({ leaseUntil }: Attempt): boolean {
    const leftMs = leaseUntil - this.clock.now();
    return leftMs >= 0 && leftMs <= MAX_LEASE_MS;
  }

  /** Waits until the journal's clock is synchronized. Throws SERVICE_UNAVAILABLE on failure or timeout. */
  async clockKnown(): Promise<void> {
    if (!this.clock.isSynchronized) await this.failClosed(this.clock.synchronize());
  }

  /** Whether this instance still owns an attempt in progress: no other instance has claimed it. */
  async holds(id: string): Promise<boolean> {
    const attempt = await this.failClosed(this.journal.findById(this.service, id)).catch(() => null);
    return attempt?.outcome === 'in_progress' && attempt.owner === this.owner;
  }

  #queueUnrecorded(id: string, outcome: Outcome): void {
    this.#unrecorded.set(id, { outcome, since: this.clock.monotonic() });
    const [oldest] = this.#unrecorded.size > MAX_UNRECORDED ? this.#unrecorded.keys() : [];
    // Recovery claims the attempt when its lease ends.
    if (oldest !== undefined) this.#unrecorded.delete(oldest);
  }

  /** Records queued outcomes. `not_sent` stays queued for a minute: a timed-out insert may reach the journal after it. */
  async flushUnrecorded(): Promise<void> {
    const now = this.clock.monotonic();
    const record = async ([id, unrecorded]: [string, Unrecorded]): Promise<void> => {
      const { outcome, since } = unrecorded;
      const isRecorded = await this.journal.recordOutcome(id, outcome).then(
        () => true,
        () => false,
      );
      if (this.#unrecorded.get(id) !== unrecorded) return;
      // Moves to the end of the queue.
      this.#unrecorded.delete(id);
      const mayStillArrive = outcome.outcome === 'not_sent' || outcome.outcome === 'rejected';
      if (!isRecorded || (mayStillArrive && now - since <= RECORD_AGAIN_FOR_MS))
        this.#unrecorded.set(id, unrecorded);
    };
    await Promise.all([...this.#unrecorded].slice(0, MAX_CONCURRENT_RECORDS).map(record));
  }

  /**
   * Records the outcome of an attempt. Never throws, and waits 250 ms at most; lookup recovers an unrecorded outcome.
   * Returns false only when the journal reports in time that another attempt created this transaction.
   * @param onRecorded called once the outcome is in the journal, perhaps after this has returned; must not throw
   */
  recordOutcome(id: string, outcome: Outcome, onRecorded: () => void = () => undefined): Promise<boolean> {
    const recording = this.journal.recordOutcome(id, outcome).then(
      (isOwn) => {
        if (isOwn) onRecorded();
        return isOwn;
      },
      () => {
        this.#queueUnrecorded(id, outcome);
        this.#warn(
          { event: 'outcome_not_recorded', attempt: id, outcome: outcome.outcome },
          'outcome not recorded yet; retrying',
        );
        return true;
      },
    );
    // A slow journal must not turn a success into an error.
    return withTimeout(RECORD_TIMEOUT_MS, recording).catch(() => true);
  }

  /** Runs work that holds leases, renewing them every second. */
  async withLeaseRenewal<T>(work: () => Promise<T>): Promise<T> {
    this.#inFlight += 1;
    if (!this.#renewal) this.#renewal = this.#scheduleRenewal();
    try {
      return await work();
    } finally {
      this.#inFlight -= 1;
    }
  }

  #scheduleRenewal(): Timer {
    return this.clock.after(RENEW_EVERY_MS, () => {
      this.#renewal = undefined;
      if (this.#inFlight === 0) return;
      this.#renewal = this.#scheduleRenewal();
      this.journal.renew(this.owner, this.leaseUntil()).catch(() => undefined);
    });
  }
}
