import type { OutcomeDetails, AttemptFields } from '../datasources/journal/journal';
import type { JournalClock } from './clocks';

/**
 * Time in ms for which the outcomes `not_sent` and `rejected` are written again and again, because an insert of the
 * attempt that timed out may take effect late.
 */
const LATE_INSERT_POSSIBLE_FOR_MS = 60_000;

const MAX_UNRECORDED_OUTCOMES = 10_000;
const FLUSH_BATCH_SIZE = 250;

/** An outcome that the journal may not have recorded. */
export interface UnrecordedOutcome {
  attempt: AttemptFields;
  outcome: OutcomeDetails;
  /** Whether this is the first outcome of an attempt that this instance inserted, or tried to insert. */
  isFirstOutcomeByInserter: boolean;
  /**
   * Called once, when the journal accepts the outcome, even if it keeps an earlier one or another attempt holds the
   * key. Not called if JournalSession.recordOrQueueOutcome() returns false. Must not throw.
   */
  onRecorded?: () => void;
}

interface QueuedOutcome extends UnrecordedOutcome {
  /** Time by the monotonic clock at which the outcome was queued. */
  queuedAt: number;
}

const mayHaveCreatedTransaction = ({ outcome: { outcome } }: UnrecordedOutcome): boolean =>
  outcome === 'succeeded' || outcome === 'unknown';

/** Queue of the outcomes that this instance has to record, at most 10,000. */
export class UnrecordedOutcomes {
  /** By attempt id, in the order in which the attempts were queued or last tried. */
  readonly #queuedById = new Map<string, QueuedOutcome>();

  /** @param recordOutcome writes one outcome to the journal; if it rejects, the outcome stays queued */
  constructor(
    private readonly clock: JournalClock,
    private readonly recordOutcome: (unrecordedOutcome: UnrecordedOutcome) => Promise<unknown>,
  ) {}

  /** The attempts with a queued outcome `succeeded` or `unknown`: they may have created a transaction. */
  get attemptsToReinsert(): AttemptFields[] {
    return [...this.#queuedById.values()].filter(mayHaveCreatedTransaction).map(({ attempt }) => attempt);
  }

  /** Queues an outcome. Replaces an earlier outcome of the attempt. If the queue is full, drops an outcome. */
  add(unrecordedOutcome: UnrecordedOutcome): void {
    const { id } = unrecordedOutcome.attempt;
    this.#queuedById.set(id, { ...unrecordedOutcome, queuedAt: this.clock.monotonic() });
    if (this.#queuedById.size <= MAX_UNRECORDED_OUTCOMES) return;
    // Drops the first `not_sent` or `rejected`: it created no transaction. If there is none, drops the first outcome.
    // If the journal has never recorded the dropped outcome, the attempt later becomes `unknown`.
    let [idToDrop = id] = this.#queuedById.keys();
    for (const [queuedId, queued] of this.#queuedById) {
      if (mayHaveCreatedTransaction(queued)) continue;
      idToDrop = queuedId;
      break;
    }
    this.#queuedById.delete(idToDrop);
  }

  /**
   * Records a batch of up to 250 queued outcomes. If `all` is true, records all batches, until a whole one fails.
   * Outcomes that could not be recorded stay queued. Begins with `succeeded` and `unknown`. Keeps `not_sent` and
   * `rejected` queued for LATE_INSERT_POSSIBLE_FOR_MS even after they are recorded, and writes them again, because an
   * insert that timed out may take effect late.
   */
  async flush({ all }: { all: boolean }): Promise<void> {
    const now = this.clock.monotonic();
    const recordQueued = async ([id, queued]: [string, QueuedOutcome]): Promise<boolean> => {
      const isRecorded = await this.recordOutcome(queued).then(
        () => true,
        () => false,
      );
      if (this.#queuedById.get(id) !== queued) return isRecorded;
      // Removes the outcome, or moves it to the end of the queue if it must be recorded again.
      this.#queuedById.delete(id);
      const mayInsertTakeEffect =
        !mayHaveCreatedTransaction(queued) && now - queued.queuedAt <= LATE_INSERT_POSSIBLE_FOR_MS;
      if (!isRecorded || mayInsertTakeEffect) this.#queuedById.set(id, queued);
      return isRecorded;
    };
    const prioritizedEntries = [...this.#queuedById].sort(
      ([, a], [, b]) => Number(mayHaveCreatedTransaction(b)) - Number(mayHaveCreatedTransaction(a)),
    );
    for (let batchStart = 0; batchStart < prioritizedEntries.length; batchStart += FLUSH_BATCH_SIZE) {
      const areRecorded = await Promise.all(
        prioritizedEntries.slice(batchStart, batchStart + FLUSH_BATCH_SIZE).map(recordQueued),
      );
      if (!all || !areRecorded.includes(true)) return;
    }
  }
}
