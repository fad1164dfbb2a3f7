import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../clock';
import type { Siblings } from '../../siblings';
import type { Change, ChangeFeed } from './changes';
import { MOST_CHANGES, readMessage, written } from './message';

/** What is told within this time goes out together. */
const TOGETHER_MS = 10;

/** The workers of one gateway tell each other of changes, in the same messages as instances do through PostgreSQL. */
export class SiblingChanges implements ChangeFeed {
  readonly hearsOthers = true;
  readonly #siblings: Siblings;
  readonly #clock: Clock;
  /** Who this is, as messages begin with that. */
  readonly #me = randomBytes(12).toString('base64url');
  /** Told and not yet said; the same change is said once. */
  readonly #queue = new Set<string>();
  /** So much is watched here. */
  #watched = 0;
  #say: Timer | undefined;

  constructor(siblings: Siblings, clock: Clock) {
    this.#siblings = siblings;
    this.#clock = clock;
  }

  /** Every lookup would be hashed and told; where none of the others watches anything that is for nothing. */
  get reachesOthers(): boolean {
    return this.#siblings.othersWatch;
  }

  listen(): () => void {
    this.#watched += 1;
    if (this.#watched === 1) this.#siblings.watch(true);
    return () => {
      this.#watched -= 1;
      if (this.#watched === 0) this.#siblings.watch(false);
    };
  }

  tell(change: Change): void {
    const text = written(change);
    if (text === undefined) return;
    // What is told again is told last.
    this.#queue.delete(text);
    this.#queue.add(text);
    this.#say ??= this.#clock.after(TOGETHER_MS, () => this.#sayAll());
  }

  onChange(heard: (change: Change) => void): void {
    this.#siblings.hear('changes', (message) => readMessage(message, this.#me).forEach(heard));
  }

  close(): Promise<void> {
    this.#say?.cancel();
    this.#queue.clear();
    return Promise.resolve();
  }

  #sayAll(): void {
    this.#say = undefined;
    const told = [...this.#queue];
    this.#queue.clear();
    for (let from = 0; from < told.length; from += MOST_CHANGES)
      this.#siblings.say('changes', this.#me + told.slice(from, from + MOST_CHANGES).join(''));
  }
}
