import { rejectedLocallyError } from '../datasources/payment-service/mapping/responses';

/**
 * Maximum number of concurrent lookups of one caller. Less than the slots for lookups of the payment service's client,
 * so that one caller cannot make the lookups of others wait or fail.
 */
const MAX_LOOKUPS_PER_CALLER = 96;
const MAX_WAITING_PER_CALLER = 2000;

interface CallerSlots {
  runningCount: number;
  /** Starts the waiting lookups, oldest first. */
  waiting: (() => void)[];
}

/** Limits the concurrent lookups of each caller, over all its operations. */
export class CallerLookupSlots {
  readonly #slotsByCaller = new Map<string, CallerSlots>();

  /** Runs a lookup in a slot of the caller. Throws a ServiceError (UNAVAILABLE) if too many lookups wait for a slot. */
  async run<T>(callerId: string, lookUp: () => Promise<T>): Promise<T> {
    const slots = this.#slotsByCaller.get(callerId) ?? { runningCount: 0, waiting: [] };
    this.#slotsByCaller.set(callerId, slots);
    if (slots.runningCount < MAX_LOOKUPS_PER_CALLER) slots.runningCount += 1;
    else if (slots.waiting.length >= MAX_WAITING_PER_CALLER) throw rejectedLocallyError();
    else await new Promise<void>((resolve) => slots.waiting.push(resolve));
    try {
      return await lookUp();
    } finally {
      this.#releaseSlot(callerId, slots);
    }
  }

  /** Passes a slot on to the next waiting lookup, if any. */
  #releaseSlot(callerId: string, slots: CallerSlots): void {
    const startNext = slots.waiting.shift();
    if (startNext) return startNext();
    slots.runningCount -= 1;
    if (slots.runningCount === 0) this.#slotsByCaller.delete(callerId);
  }
}
