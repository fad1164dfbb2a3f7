import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../shared/clock';
import type { StateChange, ChangeNotifier } from './change-notifier';
import { PostgresHosts } from '../journal/postgres/hosts';
import { ListenConnection } from './postgres-listener';

const CHANNEL = 'paygraph_changes';
/** Changes published within this time share a message. */
const BATCH_WINDOW_MS = 10;
/** While disconnected the oldest changes beyond this number are dropped. */
const MAX_QUEUED = 20_000;
/** Interval of the checks for a dead connection. */
const CHECK_INTERVAL_MS = 30_000;
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;

/*
 * A message is the sender's id (16 characters) and 30 characters for each change, less than the 8000 bytes that
 * PostgreSQL allows.
 */
const SENDER_LENGTH = 16;
const NAME_LENGTH = 22;
const CHANGE_LENGTH = 30;
const MAX_CHANGES = 250;
const CHANGE_FORM = /^[\w-]{30}$/;
const MESSAGE_FORM = new RegExp(`^[\\w-]{${SENDER_LENGTH}}(?:[\\w-]{${CHANGE_LENGTH}}){1,${MAX_CHANGES}}$`);

/** Undefined when the change does not have the form: it would shift all after it. */
function encodeChange({ name, state }: StateChange): string | undefined {
  return name.length === NAME_LENGTH && CHANGE_FORM.test(name + state) ? name + state : undefined;
}

/** Ignores malformed messages: every user of the database can send. */
function decodeMessage(message: string): StateChange[] {
  if (!MESSAGE_FORM.test(message)) return [];
  const changes = message.slice(SENDER_LENGTH).match(/.{30}/g) ?? [];
  return changes.map((text) => ({ name: text.slice(0, NAME_LENGTH), state: text.slice(NAME_LENGTH) }));
}

/** Notifies the instances on one PostgreSQL by LISTEN/NOTIFY, over one connection per instance. */
export class PostgresNotifier implements ChangeNotifier {
  readonly hasPeers = true;
  readonly #hosts: PostgresHosts;
  readonly #clock: Clock;
  readonly #onReach: (reached: boolean) => void;
  /** Identifies messages of this instance. */
  readonly #senderId = randomBytes(12).toString('base64url');
  /** Encoded changes to send, without duplicates. */
  readonly #queue = new Set<string>();
  #onChange: (change: StateChange) => void = () => undefined;
  #connection: ListenConnection | undefined;
  #isListening = false;
  #isSending = false;
  #isReached = true;
  /** Failed connections since one last passed a check. */
  #failures = 0;
  #isClosed = false;
  #flushTimer: Timer | undefined;
  /** For the next check of the connection, or the next attempt to connect. */
  #timer: Timer | undefined;

  constructor(url: string, clock: Clock, onReach: (reached: boolean) => void = () => undefined) {
    this.#hosts = new PostgresHosts(url);
    this.#clock = clock;
    this.#onReach = onReach;
    this.#connect();
  }

  publish(change: StateChange): void {
    const text = encodeChange(change);
    if (this.#isClosed || text === undefined) return;
    // A repeated change moves to the end.
    this.#queue.delete(text);
    this.#queue.add(text);
    if (this.#queue.size > MAX_QUEUED) this.#takeOldest(1);
    this.#scheduleFlush();
  }

  subscribe(onChange: (change: StateChange) => void): void {
    this.#onChange = onChange;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flushTimer?.cancel();
    this.#timer?.cancel();
    this.#queue.clear();
    await this.#connection?.end();
  }

  #connect(): void {
    try {
      const connection = new ListenConnection(this.#hosts, this.#clock, {
        onMessage: (text) => {
          if (!text.startsWith(this.#senderId))
            decodeMessage(text).forEach((change) => this.#onChange(change));
        },
        onClose: () => this.#onDisconnected(),
      });
      this.#connection = connection;
      // A failure closes the connection.
      connection.listen(CHANNEL).then(
        () => this.#onConnected(),
        () => undefined,
      );
    } catch {
      // A certificate named in the address cannot be read.
      this.#onDisconnected();
    }
  }

  #onConnected(): void {
    if (this.#isClosed) return;
    this.#isListening = true;
    this.#setReached(true);
    this.#scheduleCheck();
    if (this.#queue.size > 0) this.#scheduleFlush();
  }

  #onDisconnected(): void {
    this.#isListening = false;
    if (this.#isClosed) return;
    this.#setReached(false);
    // Exponential backoff with jitter.
    const maxDelay = Math.min(MAX_RETRY_MS, 2 * MIN_RETRY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#timer?.cancel();
    const delay = MIN_RETRY_MS + Math.random() * (maxDelay - MIN_RETRY_MS);
    this.#timer = this.#clock.after(delay, () => this.#connect());
  }

  #setReached(isReached: boolean): void {
    if (this.#isReached === isReached) return;
    this.#isReached = isReached;
    this.#onReach(isReached);
  }

  #scheduleFlush(): void {
    if (!this.#isListening) return;
    this.#flushTimer ??= this.#clock.after(BATCH_WINDOW_MS, () => {
      this.#flushTimer = undefined;
      void this.#flushOrCheck();
    });
  }

  #scheduleCheck(): void {
    this.#timer = this.#clock.after(CHECK_INTERVAL_MS, () => {
      this.#failures = 0;
      this.#scheduleCheck();
      void this.#flushOrCheck();
    });
  }

  /** Sends what is queued; checks the connection when nothing is. */
  async #flushOrCheck(): Promise<void> {
    const connection = this.#connection;
    if (this.#isSending || !this.#isListening || !connection) return;
    this.#isSending = true;
    try {
      do {
        const changes = this.#takeOldest(MAX_CHANGES);
        if (changes.length === 0) await connection.check();
        else await connection.query('SELECT pg_notify($1, $2)', [CHANNEL, this.#senderId + changes.join('')]);
      } while (this.#queue.size > 0);
    } catch {
      // The connection is closed and these changes are lost; the next connection sends the rest.
    } finally {
      this.#isSending = false;
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
