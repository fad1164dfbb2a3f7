import { Random } from '../chaos/random';

interface Event {
  at: number;
  run(): void;
  /** Whether the event has nothing to do any more. */
  isCancelled(): boolean;
}

/** Looked up once, because globals are slow in the context in which jest runs a test. */
const { imul } = Math;

/** Number of events after which the event loop of the process gets control. */
const BATCH = 200;

/** Simulated time, and the events that are due. Time passes only when no promise can make progress. */
export class World {
  /** Milliseconds since 1970 by a clock that nobody in the simulation can read directly. */
  now = Date.UTC(2026, 0, 1);
  readonly random: Random;
  events = 0;
  /** The event that is due first comes last. */
  readonly #pending: Event[] = [];
  #hash = [0x811c9dc5, 0x01000193];
  /** The last traced lines, kept if `keepsTrace` is set. */
  readonly lines: string[] = [];

  constructor(
    seed: number,
    private readonly keepsTrace = false,
  ) {
    this.random = new Random(seed * 7919 + 17);
  }

  get hash(): string {
    return this.#hash.map((part) => (part >>> 0).toString(16).padStart(8, '0')).join('');
  }

  trace(line: string): void {
    let [first = 0, second = 0] = this.#hash;
    const text = `${this.now} ${line}`;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      first = imul(first ^ code, 0x01000193);
      second = imul(second + code, 0x5bd1e995) ^ (second >>> 13);
    }
    this.#hash = [first, second];
    if (this.keepsTrace) this.lines.push(text);
  }

  at(ms: number, run: () => void, isCancelled = (): boolean => false): void {
    const event = { at: this.now + Math.max(0, ms), run, isCancelled };
    let [place, end] = [0, this.#pending.length];
    while (place < end) {
      const middle = (place + end) >> 1;
      if (this.#pending[middle]!.at > event.at) place = middle + 1;
      else end = middle;
    }
    // Runs after all events that are due at the same time: a run is deterministic.
    this.#pending.splice(place, 0, event);
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(ms, resolve));
  }

  /** Runs events until this time, or until `isOver`. */
  async runUntil(until: number, isOver: () => boolean = () => false): Promise<void> {
    await this.#runBatch(0, until, isOver);
    while (!isOver() && this.#isDue(until)) await this.#runBatch(BATCH, until, isOver);
    if (!isOver()) this.now = Math.max(this.now, until);
  }

  /** Runs some events, each in an immediate of its own: Node empties the queue of microtasks after each. */
  #runBatch(count: number, until: number, isOver: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const runNext = (): void => {
        try {
          if (!isOver() && this.#isDue(until)) this.#runFirst();
        } catch (error) {
          reject(error as Error);
        }
      };
      for (let left = count; left > 0; left -= 1) setImmediate(runNext);
      setImmediate(resolve);
    });
  }

  /** Whether an event is due until this time. Drops cancelled events. */
  #isDue(until: number): boolean {
    while (this.#pending.at(-1)?.isCancelled()) this.#pending.pop();
    return (this.#pending.at(-1)?.at ?? Infinity) <= until;
  }

  #runFirst(): void {
    const next = this.#pending.pop()!;
    this.now = Math.max(this.now, next.at);
    this.events += 1;
    next.run();
  }
}
