import type { PollSettings } from '../../config/types';
import type { Timer } from '../../shared/clock';
import { ServiceError } from '../../datasources/payment-service/service-error';
import type { PollResult } from '../background';
import type { JournalSession } from '../journal-session';
import { nextPollDelayMs, retryAfterMsOf } from './poll-schedule';
import { creationTimeMs, hasChanged, mergeSnapshot, pollPhase, stateJson } from './snapshot';
import { LatestValueIterator } from './latest-value-iterator';
import type { TransactionResource } from '../../schema/transaction';

interface PollerOptions<T extends TransactionResource> extends Pick<JournalSession, 'clock' | 'runtime'> {
  pollSettings: PollSettings;
  /**
   * Looks the transaction up, and passes it to the poller's onSnapshot() before the promise resolves. Resolves to null
   * if the service does not have the transaction, or if the lookup was skipped because the poller had ended.
   */
  lookUp(): Promise<T | null>;
  kind: T['kind'];
  onPoll(result: PollResult): void;
  /** Called once, when the last subscription has ended. The poller can then not be used again. */
  onEnd(): void;
}

/** Maximum age in ms of a state that a new subscriber receives without a poll. There is no limit during an outage. */
const MAX_FRESH_AGE_MS = 2000;
/** Minimum time in ms from the start of a poll to the next poll by pollSoon(), for example after a callback. */
const MIN_POLL_GAP_MS = 100;

interface LatestState<T> {
  snapshot: T;
  /** When the response was received, by `Runtime.monotonic()`. Comparable with `requestedAtMonotonic`. */
  receivedAtMonotonic: number;
  /** The same time by `Clock.monotonic()`, for the age of the state. In tests, the two clocks differ. */
  receivedAtByClock: number;
}

/** A series of consecutive failed polls. Times are by `Clock.monotonic()`. */
interface Outage {
  since: number;
  failureCount: number;
  /** Error of the latest failed poll. */
  error: unknown;
  /** Earliest time of the next poll, according to retryAfterMsOf(). */
  retryAt: number;
}

/** Polls one transaction for all its subscribers. */
export class TransactionPoller<T extends TransactionResource> {
  readonly #subscribers = new Set<LatestValueIterator<T>>();
  readonly #createdAtMonotonic: number;
  #latestState: LatestState<T> | undefined;
  /** Time of the last known change, by `Clock.monotonic()`; undefined before the first response. */
  #changedAt: number | undefined;
  #outage: Outage | undefined;
  #pollTimer: Timer | undefined;
  #isEarlyPollScheduled = false;
  #isPollInFlight = false;
  #mustPollAgain = false;
  #lastPollStartedAt = -Infinity;
  #hasEnded = false;

  constructor(private readonly options: PollerOptions<T>) {
    this.#createdAtMonotonic = options.runtime.monotonic();
  }

  /** The latest state; undefined before the first response. */
  get latestSnapshot(): T | undefined {
    return this.#latestState?.snapshot;
  }

  /**
   * Adds a subscriber. If the latest state is younger than MAX_FRESH_AGE_MS, or during an outage, the subscriber
   * receives it immediately. Otherwise, the subscriber receives a state after a poll.
   */
  subscribe(): LatestValueIterator<T> {
    const subscriber = new LatestValueIterator<T>((iterator) => this.#unsubscribe(iterator));
    this.#subscribers.add(subscriber);
    const latest = this.#latestState;
    const ageMs = latest ? this.options.clock.monotonic() - latest.receivedAtByClock : Infinity;
    const isFresh = ageMs >= 0 && ageMs < MAX_FRESH_AGE_MS;
    if (latest && (isFresh || this.#outage)) subscriber.push(latest.snapshot);
    else void this.#poll();
    return subscriber;
  }

  /**
   * Schedules an early poll, as soon as MIN_POLL_GAP_MS and Outage.retryAt allow. If a poll is already in flight,
   * another one follows.
   */
  pollSoon(): void {
    if (this.#isPollInFlight) this.#mustPollAgain = true;
    else if (!this.#isEarlyPollScheduled && !this.#hasEnded) {
      this.#isEarlyPollScheduled = true;
      this.#schedulePollIn(
        Math.min(MIN_POLL_GAP_MS, this.#lastPollStartedAt + MIN_POLL_GAP_MS - this.options.clock.monotonic()),
      );
    }
  }

  /**
   * Passes the state in a response to the subscribers. If the request began before the latest response was received,
   * the state may be older than the latest one. It is then not passed on, but if it differs from the latest one, a poll
   * is scheduled. Before the first state, ignores responses to requests that began before this poller existed.
   * @param requestedAtMonotonic start of the request, by `Runtime.monotonic()`
   */
  onSnapshot(snapshot: T, requestedAtMonotonic: number): void {
    const latestState = this.#latestState;
    if (this.#hasEnded || (!latestState && requestedAtMonotonic < this.#createdAtMonotonic)) return;
    if (!latestState || requestedAtMonotonic >= latestState.receivedAtMonotonic)
      this.#acceptResponse(snapshot);
    else if (hasChanged(latestState.snapshot, mergeSnapshot(latestState.snapshot, snapshot))) this.pollSoon();
  }

  #acceptResponse(response: T): void {
    const { clock, runtime } = this.options;
    const before = this.latestSnapshot;
    const mergedSnapshot = before ? mergeSnapshot(before, response) : response;
    const isChanged = !before || hasChanged(before, mergedSnapshot);
    this.#latestState = {
      snapshot: mergedSnapshot,
      receivedAtMonotonic: runtime.monotonic(),
      receivedAtByClock: clock.monotonic(),
    };
    this.#outage = undefined;
    const transactionAgeMs = clock.now() - creationTimeMs(mergedSnapshot);
    if (!before) this.#changedAt = clock.monotonic() - (transactionAgeMs > 0 ? transactionAgeMs : 0);
    // Only a new state restarts the poll schedule. Other values, such as signed URLs, may differ in every response.
    else if (stateJson(before) !== stateJson(mergedSnapshot)) this.#changedAt = clock.monotonic();
    for (const subscriber of this.#subscribers)
      if (isChanged || !subscriber.hasReceivedValue) subscriber.push(mergedSnapshot);
    if (pollPhase(mergedSnapshot) === 'done') this.#end();
    else if (!this.#isPollInFlight) this.#schedulePoll();
  }

  async #poll(): Promise<void> {
    if (this.#hasEnded || this.#isPollInFlight) return;
    this.#pollTimer?.cancel();
    this.#isPollInFlight = true;
    this.#mustPollAgain = false;
    this.#isEarlyPollScheduled = false;
    this.#lastPollStartedAt = this.options.clock.monotonic();
    let pollResult: PollResult | undefined;
    try {
      const foundSnapshot = await this.options.lookUp();
      // If the poller has ended meanwhile, its queued lookup may have been skipped: then `foundSnapshot` is null,
      // although the transaction may exist.
      if (!this.#hasEnded) {
        pollResult = foundSnapshot ? 'found' : 'missing';
        if (!foundSnapshot) throw transactionNotFoundError(this.options.kind);
        // `onSnapshot` ignores a response to a shared lookup that began before this poller existed. This poll accepts
        // it.
        if (!this.#latestState) this.#acceptResponse(foundSnapshot);
        this.#pushToNewSubscribers();
      }
    } catch (error) {
      pollResult ??= 'failed';
      this.#onFailure(error);
    }
    if (pollResult) this.options.onPoll(pollResult);
    this.#isPollInFlight = false;
    if (this.#hasEnded) return;
    if (this.#mustPollAgain) this.pollSoon();
    else this.#schedulePoll();
  }

  #pushToNewSubscribers(): void {
    const { latestSnapshot } = this;
    if (!latestSnapshot) return;
    for (const subscriber of this.#subscribers)
      if (!subscriber.hasReceivedValue) subscriber.push(latestSnapshot);
  }

  /**
   * Handles a failed poll. If no state is known yet, ends the subscriptions immediately. Otherwise, ends them if the
   * outage has lasted `pollSettings.maxOutageMs` (0: never).
   */
  #onFailure(error: unknown): void {
    if (!this.#latestState) return this.#end(error);
    const now = this.options.clock.monotonic();
    const { since = now, failureCount = 0 } = this.#outage ?? {};
    this.#outage = { since, failureCount: failureCount + 1, error, retryAt: now + retryAfterMsOf(error) };
    if (this.#msUntilOutageTimeout() > 0) this.#pushToNewSubscribers();
    else this.#end(error);
  }

  /** Returns the time in ms until the outage ends the subscriptions; Infinity without an outage or a limit. */
  #msUntilOutageTimeout(): number {
    const { clock, pollSettings } = this.options;
    if (!this.#outage || pollSettings.maxOutageMs === 0) return Infinity;
    return this.#outage.since + pollSettings.maxOutageMs - clock.monotonic();
  }

  #schedulePoll(): void {
    if (this.#isEarlyPollScheduled || !this.#latestState) return;
    const { clock, runtime, pollSettings } = this.options;
    const phase = pollPhase(this.#latestState.snapshot);
    if (phase === 'done') return;
    const sinceChangeMs = clock.monotonic() - (this.#changedAt ?? clock.monotonic());
    const failureCount = this.#outage?.failureCount ?? 0;
    this.#schedulePollIn(
      nextPollDelayMs(pollSettings.intervalsByPhase[phase], sinceChangeMs, failureCount, runtime.random()),
    );
  }

  /**
   * Schedules the next poll after `ms` milliseconds, but not before Outage.retryAt. If the outage would reach
   * `pollSettings.maxOutageMs` before the poll, ends the subscriptions at that time instead.
   */
  #schedulePollIn(ms: number): void {
    const retryInMs = (this.#outage?.retryAt ?? 0) - this.options.clock.monotonic();
    const delayMs = Math.min(Math.max(0, ms, retryInMs), this.#msUntilOutageTimeout());
    this.#pollTimer?.cancel();
    this.#pollTimer = this.options.clock.after(delayMs, () => {
      if (this.#msUntilOutageTimeout() <= 0) this.#end(this.#outage?.error);
      else void this.#poll();
    });
  }

  #unsubscribe(subscriber: LatestValueIterator<T>): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size === 0) this.#end();
  }

  #end(error?: unknown): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#pollTimer?.cancel();
    for (const subscriber of this.#subscribers) subscriber.end(error);
    this.#subscribers.clear();
    this.options.onEnd();
  }
}

/** Returns the error of a subscription to a transaction that does not exist or is not visible to the caller. */
export const transactionNotFoundError = (kind: TransactionResource['kind']): ServiceError =>
  new ServiceError(
    'NOT_FOUND',
    `The payment service finds no such ${kind} on this channel. If it was just created, try again later.`,
  );
