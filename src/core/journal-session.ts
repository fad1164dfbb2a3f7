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

/** The journal itself says when its time is up; one that does not even do that is waited for so much longer. */
const TIMEOUT_MARGIN_MS = 50;
/** Whoever does not say for so long, beyond what writing it may take, that it is alive has died. */
const LEASE_MS = 3550;
const RENEW_EVERY_MS = 1000;
/** A settlement that takes longer goes on without the caller, who has the answer already. */
const RECORD_TIMEOUT_MS = 250;

/** How long a write that was given up may still be on its way. */
const RECORD_AGAIN_FOR_MS = 60_000;

/** More are not remembered, and not recorded in one round. */
const MAX_UNRECORDED = 10_000;
const MAX_RECORDED_AT_ONCE = 250;

/** An outcome that the journal may not have recorded. */
interface Unrecorded {
  outcome: Outcome;
  /** By the monotonic clock. */
  since: number;
}

interface RecordOptions {
  journal: Journal;
  /** The journal's clock. */
  clock: JournalClock;
  /** Names the service and the credentials used there. */
  service: string;
  /** Hears of what could not be written. */
  warn(facts: object, message: string): void;
}

/** This instance's hand in the journal: fails closed before money moves, and never fails after it has. */
export class JournalSession {
  readonly journal: Journal;
  readonly clock: JournalClock;
  readonly service: string;
  /** Names this instance. */
  readonly owner = randomUUID();
  readonly #warn: RecordOptions['warn'];
  /** Outcomes that the journal may not have recorded, by attempt. */
  readonly #unrecorded = new Map<string, Unrecorded>();
  #inFlight = 0;
  #renewal: Timer | undefined;

  constructor({ journal, clock, service, warn }: RecordOptions) {
    this.journal = journal;
    this.clock = clock;
    this.service = service;
    this.#warn = warn;
  }

  /** A journal that does not answer in this time counts as down. */
  get timeoutMs(): number {
    return this.journal.deadlineMs + TIMEOUT_MARGIN_MS;
  }

  /** Until when a lease taken now is good. */
  leaseUntil(): number {
    return this.clock.now() + this.timeoutMs + LEASE_MS;
  }

  claim(leaseMs: number): Claim {
    const now = this.clock.now();
    return { service: this.service, owner: this.owner, now, leaseUntil: now + leaseMs };
  }

  /** Something without which nothing may be sent. Throws where the journal does not do it in time. */
  async failClosed<T>(asked: Promise<T>): Promise<T> {
    try {
      return await withTimeout(this.timeoutMs, asked);
    } catch {
      // The journal's monitor logs why.
      asked.catch(() => undefined);
      const says = "The gateway's journal cannot be reached; this call sent nothing. Repeat it unchanged.";
      throw new ServiceError('UNAVAILABLE', says, 1000, true);
    }
  }

  /** Begins an attempt. One that fails here, but was written all the same, is withdrawn as soon as that can be done. */
  async insertAttempt(attempt: NewAttempt): Promise<BeginResult> {
    const begun = this.journal.insertAttempt(attempt);
    try {
      return await this.failClosed(begun);
    } catch (error) {
      this.#queueUnrecorded(attempt.id, { outcome: 'not_sent', settledAt: this.clock.now() });
      void begun.then(
        () => this.flushUnrecorded(),
        () => undefined,
      );
      throw error;
    }
  }

  /** Whether the instance that sends an attempt is believed to be alive. */
  isLeased({ leaseUntil }: Attempt): boolean {
    const leftMs = leaseUntil - this.clock.now();
    return leftMs >= 0 && leftMs <= MAX_LEASE_MS;
  }

  /** Waits until the journal's clock is known. Throws where the journal does not say it in time. */
  async clockKnown(): Promise<void> {
    if (!this.clock.isSynchronized) await this.failClosed(this.clock.synchronize());
  }

  /** Whether an attempt of this instance is still its own to send: nobody has taken it for lost meanwhile. */
  async holds(id: string): Promise<boolean> {
    const attempt = await this.failClosed(this.journal.findById(this.service, id)).catch(() => null);
    return attempt?.outcome === 'in_progress' && attempt.owner === this.owner;
  }

  #queueUnrecorded(id: string, outcome: Outcome): void {
    this.#unrecorded.set(id, { outcome, since: this.clock.monotonic() });
    const [oldest] = this.#unrecorded.size > MAX_UNRECORDED ? this.#unrecorded.keys() : [];
    // It becomes unknown when its lease ends, and is followed up.
    if (oldest !== undefined) this.#unrecorded.delete(oldest);
  }

  /**
   * Records outcomes that the journal may not have taken. Again for a while where nothing was sent: a begin that was
   * given up may still be written after this.
   */
  async flushUnrecorded(): Promise<void> {
    const now = this.clock.monotonic();
    const record = async ([id, unrecorded]: [string, Unrecorded]): Promise<void> => {
      const { outcome, since } = unrecorded;
      const isRecorded = await this.journal.recordOutcome(id, outcome).then(
        () => true,
        () => false,
      );
      if (this.#unrecorded.get(id) !== unrecorded) return;
      // The next round goes on with the others.
      this.#unrecorded.delete(id);
      const mayStillArrive = outcome.outcome === 'not_sent' || outcome.outcome === 'rejected';
      if (!isRecorded || (mayStillArrive && now - since <= RECORD_AGAIN_FOR_MS))
        this.#unrecorded.set(id, unrecorded);
    };
    await Promise.all([...this.#unrecorded].slice(0, MAX_RECORDED_AT_ONCE).map(record));
  }

  /**
   * Records how an attempt ended. Never throws, and does not wait for ever: an unrecorded end is found again by lookup.
   * False only where the journal says in time that another attempt has created the transaction: then this one has not.
   * @param recorded called when the journal has recorded it, which may be after the caller went on; must not throw
   */
  recordOutcome(id: string, settlement: Outcome, recorded: () => void = () => undefined): Promise<boolean> {
    const written = this.journal.recordOutcome(id, settlement).then((isOwn) => {
      if (isOwn) recorded();
      return isOwn;
    });
    const settled = written.catch(() => {
      this.#queueUnrecorded(id, settlement);
      this.#warn({ attempt: id, outcome: settlement.outcome }, 'a settlement could not be recorded');
      return true;
    });
    // What has succeeded is not made an error because the journal is slow now.
    return withTimeout(RECORD_TIMEOUT_MS, settled).catch(() => true);
  }

  /** Does something that holds leases, and says meanwhile that this instance is alive. */
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
