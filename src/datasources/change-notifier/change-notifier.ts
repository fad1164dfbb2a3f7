import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../shared/clock';
import { PostgresHostChooser } from '../journal/postgres/hosts';
import { ListenConnection } from './postgres-listener';

/**
 * Notification from one instance to the others: a transaction has a new state, or a channel has a new recorded change.
 * It contains hashes instead of ids, to hide the ids from database users.
 */
export interface ChangeNotification {
  /** Hash that identifies the transaction or the channel: 22 characters of base64url. */
  subjectHash: string;
  /**
   * If `subjectHash` identifies a transaction, the hash of its new state. If `subjectHash` identifies a channel, a
   * constant. In both cases, 8 characters of base64url.
   */
  stateHash: string;
}

const NOTIFY_CHANNEL = 'paygraph_changes';
/** Time in ms during which published changes are collected for one message. */
const BATCH_WINDOW_MS = 10;
/**
 * Maximum number of queued changes. The queue grows, for example, while there is no connection. If the queue is full,
 * the oldest change is dropped.
 */
const MAX_QUEUED_CHANGES = 20_000;
/** Interval in ms of the checks that detect a dead connection. */
const CONNECTION_CHECK_INTERVAL_MS = 30_000;
const MIN_RECONNECT_DELAY_MS = 500;
const MAX_RECONNECT_DELAY_MS = 30_000;

// A message holds the id of the sender and up to 250 changes. PostgreSQL allows less than 8000 bytes per message.
const SENDER_ID_LENGTH = 16;
const SUBJECT_HASH_LENGTH = 22;
const ENCODED_CHANGE_LENGTH = 30;
const MAX_CHANGES_PER_MESSAGE = 250;
const MESSAGE_PATTERN = new RegExp(
  `^[\\w-]{${SENDER_ID_LENGTH}}(?:[\\w-]{${ENCODED_CHANGE_LENGTH}}){1,${MAX_CHANGES_PER_MESSAGE}}$`,
);

/** Decodes a message. If the message is malformed, returns an empty array: any database user can send messages. */
function decodeMessage(message: string): ChangeNotification[] {
  if (!MESSAGE_PATTERN.test(message)) return [];
  const encodedChanges = message.slice(SENDER_ID_LENGTH).match(/.{30}/g) ?? [];
  return encodedChanges.map((encodedChange) => ({
    subjectHash: encodedChange.slice(0, SUBJECT_HASH_LENGTH),
    stateHash: encodedChange.slice(SUBJECT_HASH_LENGTH),
  }));
}

/**
 * Exchanges messages about changes with other instances by LISTEN/NOTIFY of PostgreSQL, over one connection per
 * instance. A message may be lost. Subscribers on other instances then get the change later, by polling.
 */
export class ChangeNotifier {
  readonly #hostChooser: PostgresHostChooser;
  readonly #senderId = randomBytes(12).toString('base64url');
  /** Encoded changes to send, without duplicates. */
  readonly #queuedChanges = new Set<string>();
  #onChange: (change: ChangeNotification) => void = () => undefined;
  #connection: ListenConnection | undefined;
  #isListening = false;
  #isSending = false;
  /**
   * The last value that was passed to onConnectionChange(). It is initially true, so that a successful first connection
   * is not reported.
   */
  #isReportedConnected = true;
  /**
   * Number of connections that failed or were lost since a connection last stayed open for
   * CONNECTION_CHECK_INTERVAL_MS. It determines the delay before the next attempt to connect.
   */
  #failureCount = 0;
  #isClosed = false;
  #flushTimer: Timer | undefined;
  /** Timer of the next check of the connection, or of the next attempt to connect. */
  #checkOrReconnectTimer: Timer | undefined;

  constructor(
    databaseUrl: string,
    private readonly clock: Clock,
    private readonly onConnectionChange: (isConnected: boolean) => void = () => undefined,
  ) {
    this.#hostChooser = new PostgresHostChooser(databaseUrl);
    this.#connect();
  }

  /** Queues a change, to be sent to the other instances. Never throws. */
  publish({ subjectHash, stateHash }: ChangeNotification): void {
    if (this.#isClosed) return;
    const encodedChange = subjectHash + stateHash;
    // If the change is already queued, move it to the end of the queue.
    this.#queuedChanges.delete(encodedChange);
    this.#queuedChanges.add(encodedChange);
    const [oldestChange = ''] = this.#queuedChanges;
    if (this.#queuedChanges.size > MAX_QUEUED_CHANGES) this.#queuedChanges.delete(oldestChange);
    this.#scheduleFlush();
  }

  /** Sets the listener for changes of other instances. Replaces the previous listener. */
  setListener(onChange: (change: ChangeNotification) => void): void {
    this.#onChange = onChange;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#flushTimer?.cancel();
    this.#checkOrReconnectTimer?.cancel();
    this.#queuedChanges.clear();
    await this.#connection?.end();
  }

  #connect(): void {
    try {
      const connection = new ListenConnection(this.#hostChooser, this.clock, {
        onMessage: (message) => {
          if (!message.startsWith(this.#senderId))
            decodeMessage(message).forEach((change) => this.#onChange(change));
        },
        onClose: () => this.#onDisconnected(),
      });
      this.#connection = connection;
      // Ignores the error of listen(): a failure also closes the connection, so onClose() calls #onDisconnected().
      connection.listen(NOTIFY_CHANNEL).then(
        () => this.#onConnected(),
        () => undefined,
      );
    } catch {
      // The constructor of ListenConnection threw: a certificate file that the connection string names cannot be read.
      this.#onDisconnected();
    }
  }

  #onConnected(): void {
    if (this.#isClosed) return;
    this.#isListening = true;
    this.#reportConnection(true);
    this.#scheduleConnectionCheck();
    if (this.#queuedChanges.size > 0) this.#scheduleFlush();
  }

  #onDisconnected(): void {
    this.#isListening = false;
    if (this.#isClosed) return;
    this.#reportConnection(false);
    // Exponential backoff with jitter.
    const maxDelayMs = Math.min(MAX_RECONNECT_DELAY_MS, 2 * MIN_RECONNECT_DELAY_MS * 2 ** this.#failureCount);
    this.#failureCount += 1;
    this.#checkOrReconnectTimer?.cancel();
    const delayMs = MIN_RECONNECT_DELAY_MS + Math.random() * (maxDelayMs - MIN_RECONNECT_DELAY_MS);
    this.#checkOrReconnectTimer = this.clock.after(delayMs, () => this.#connect());
  }

  #reportConnection(isConnected: boolean): void {
    if (this.#isReportedConnected === isConnected) return;
    this.#isReportedConnected = isConnected;
    this.onConnectionChange(isConnected);
  }

  #scheduleFlush(): void {
    if (!this.#isListening) return;
    this.#flushTimer ??= this.clock.after(BATCH_WINDOW_MS, () => {
      this.#flushTimer = undefined;
      void this.#flushOrCheckConnection();
    });
  }

  #scheduleConnectionCheck(): void {
    this.#checkOrReconnectTimer = this.clock.after(CONNECTION_CHECK_INTERVAL_MS, () => {
      this.#failureCount = 0;
      this.#scheduleConnectionCheck();
      void this.#flushOrCheckConnection();
    });
  }

  /**
   * Sends the queued changes. If none are queued, checks the connection. Does nothing while there is no connection, or
   * while an earlier call is still running.
   */
  async #flushOrCheckConnection(): Promise<void> {
    const connection = this.#connection;
    if (this.#isSending || !this.#isListening || !connection) return;
    this.#isSending = true;
    try {
      do {
        const encodedChanges = [...this.#queuedChanges].slice(0, MAX_CHANGES_PER_MESSAGE);
        encodedChanges.forEach((encodedChange) => this.#queuedChanges.delete(encodedChange));
        if (encodedChanges.length === 0) await connection.check();
        else {
          const message = this.#senderId + encodedChanges.join('');
          await connection.query('SELECT pg_notify($1, $2)', [NOTIFY_CHANNEL, message]);
        }
      } while (this.#queuedChanges.size > 0);
    } catch {
      // The failure closed the connection. Changes in the failed query may be lost. Changes that are still queued are
      // sent over the next connection.
    } finally {
      this.#isSending = false;
    }
  }
}

/**
 * Creates the notifier for a journal in PostgreSQL. It connects immediately, and again after a failure, until it is
 * closed. Returns null for a journal in SQLite, because only one instance uses such a journal.
 * @param onConnectionChange called with `false` when the connection is lost, or when the first connection cannot be
 *   opened; called with `true` when there is a connection again
 */
export const createNotifier = (
  databaseUrl: string,
  clock: Clock,
  onConnectionChange?: (isConnected: boolean) => void,
): ChangeNotifier | null =>
  databaseUrl.startsWith('file:') ? null : new ChangeNotifier(databaseUrl, clock, onConnectionChange);
