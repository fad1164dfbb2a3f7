import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../shared/clock';
import type { StateChange, ChangeNotifier } from './change-notifier';
import { MOST_CHANGES, readMessage, written } from './message';
import { PostgresHosts } from '../journal/postgres/hosts';
import { ListenConnection } from './postgres-listener';

const CHANNEL = 'paygraph_changes';
/** What is told within this time goes out together. */
const BATCH_WINDOW_MS = 10;
/** Of more than this, told while nobody can be reached, the oldest is forgotten. */
const MAX_QUEUED = 20_000;
/** A connection can die without a word: it is asked now and then. */
const CHECK_MS = 30_000;
const FIRST_RETRY_MS = 500;
const LAST_RETRY_MS = 30_000;

/** Instances that use one PostgreSQL tell each other through it, each over one connection of its own. */
export class PostgresNotifier implements ChangeNotifier {
  readonly hasPeers = true;
  readonly isReceiving = true;
  readonly #hosts: PostgresHosts;
  readonly #clock: Clock;
  readonly #onReach: (reached: boolean) => void;
  /** Who this is, to know its own messages by. */
  readonly #me = randomBytes(12).toString('base64url');
  /** Told and not yet sent; the same change is sent once. */
  readonly #queue = new Set<string>();
  #heard: (change: StateChange) => void = () => undefined;
  #line: ListenConnection | undefined;
  #listening = false;
  #sending = false;
  #reached = true;
  /** How many connections broke, or could not be had, since one last held. */
  #broke = 0;
  #closed = false;
  #send: Timer | undefined;
  /** The next check of the connection, or the next connection. */
  #next: Timer | undefined;

  constructor(url: string, clock: Clock, onReach: (reached: boolean) => void = () => undefined) {
    this.#hosts = new PostgresHosts(url);
    this.#clock = clock;
    this.#onReach = onReach;
    this.#open();
  }

  publish(change: StateChange): void {
    const text = written(change);
    if (this.#closed || text === undefined) return;
    // What is told again is told last.
    this.#queue.delete(text);
    this.#queue.add(text);
    if (this.#queue.size > MAX_QUEUED) this.#takeOldest(1);
    this.#sendSoon();
  }

  /** A server passes on whatever is told, whether somebody listens or not. */
  addInterest(): () => void {
    return () => undefined;
  }

  subscribe(heard: (change: StateChange) => void): void {
    this.#heard = heard;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#send?.cancel();
    this.#next?.cancel();
    this.#queue.clear();
    await this.#line?.end();
  }

  #open(): void {
    try {
      const line = new ListenConnection(this.#hosts, this.#clock, {
        message: (text) => readMessage(text, this.#me).forEach((change) => this.#heard(change)),
        broken: () => this.#broken(),
      });
      this.#line = line;
      // What fails is broken as well.
      line.listen(CHANNEL).then(
        () => this.#opened(),
        () => undefined,
      );
    } catch {
      // A certificate that is named in the address and cannot be read just now.
      this.#broken();
    }
  }

  #opened(): void {
    if (this.#closed) return;
    this.#listening = true;
    this.#reach(true);
    this.#checkLater();
    if (this.#queue.size > 0) this.#sendSoon();
  }

  #broken(): void {
    this.#listening = false;
    if (this.#closed) return;
    this.#reach(false);
    const most = Math.min(LAST_RETRY_MS, 2 * FIRST_RETRY_MS * 2 ** this.#broke);
    this.#broke += 1;
    this.#next?.cancel();
    // Many instances lose their connections in the same moment, and must not all come back in one.
    const wait = FIRST_RETRY_MS + Math.random() * (most - FIRST_RETRY_MS);
    this.#next = this.#clock.after(wait, () => this.#open());
  }

  #reach(reached: boolean): void {
    if (this.#reached === reached) return;
    this.#reached = reached;
    this.#onReach(reached);
  }

  #sendSoon(): void {
    if (!this.#listening) return;
    this.#send ??= this.#clock.after(BATCH_WINDOW_MS, () => {
      this.#send = undefined;
      void this.#ask();
    });
  }

  #checkLater(): void {
    this.#next = this.#clock.after(CHECK_MS, () => {
      // It has held.
      this.#broke = 0;
      this.#checkLater();
      void this.#ask();
    });
  }

  /** Sends what is queued; where nothing is, asks whether the server is still there. */
  async #ask(): Promise<void> {
    const line = this.#line;
    if (this.#sending || !this.#listening || !line) return;
    this.#sending = true;
    try {
      do {
        const told = this.#takeOldest(MOST_CHANGES);
        if (told.length === 0) await line.check();
        else await line.ask('SELECT pg_notify($1, $2)', [CHANNEL, this.#me + told.join('')]);
      } while (this.#queue.size > 0);
    } catch {
      // The line is broken. What was on it is lost; the next one sends the rest.
    } finally {
      this.#sending = false;
    }
  }

  #takeOldest(count: number): string[] {
    const oldest: string[] = [];
    for (const text of this.#queue) {
      if (oldest.length === count) break;
      oldest.push(text);
      this.#queue.delete(text);
    }
    return oldest;
  }
}
