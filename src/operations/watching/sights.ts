import type { Change } from '../../datasources/changes/changes';
import type { LookupKey } from '../../datasources/service/client';
import { SharedLookups } from '../../datasources/service/lookups';
import type { Watchable } from './sighting';
import type { Watcher } from './watcher';
import { Watches, type WatchesOptions } from './watches';

interface SightsOptions<T extends Watchable> extends WatchesOptions {
  kind: T['kind'];
  /** Asks the service. */
  ask(key: LookupKey): Promise<T | null>;
  /** Whose lookups are told to those who watch, whoever asked for them. */
  source: { onSeen(seen: (found: T, askedAt: number) => void): void };
}

/** The payments, or the payouts, that somebody looks up or watches: all learn from what one of them sees. */
export class Sights<T extends Watchable> {
  readonly #lookups: SharedLookups<T>;
  readonly #watches: Watches<T>;

  constructor({ ask, source, ...options }: SightsOptions<T>) {
    this.#lookups = new SharedLookups(ask);
    this.#watches = new Watches({ ...options, lookUp: (key) => this.lookUp(key) });
    source.onSeen((found, askedAt) => this.#watches.seen(found, askedAt));
  }

  /** A transaction as the service has it; null when it has none. Who asks for the same at the same time shares the answer. */
  lookUp(key: LookupKey): Promise<T | null> {
    return this.#lookups.load(key);
  }

  /** The current state, then every change, until it is completed or failed. */
  watch(channel: string, transactionId: string): Watcher<T> {
    return this.#watches.watch(channel, transactionId);
  }

  /** Another instance has seen a change, of whatever it was. */
  heard(change: Change): void {
    this.#watches.heard(change);
  }

  /** Something may have happened: it is looked up, and who watches it hears of what was found. */
  async hinted(channel: string, transactionId: string): Promise<void> {
    if (!this.#watches.hint(channel, transactionId)) await this.lookUp({ channel, transactionId });
  }

  /** Something on this channel has changed: what is being looked up may be older. */
  forget(channel: string): void {
    this.#lookups.forget(channel);
  }

  /**
   * Tells whoever watches a transaction of what a call that moves money has shown. What was found again may be what the
   * journal remembers: a reason to look, no sighting.
   */
  shownBy({ found, replayed }: { found: T; replayed: boolean }, askedAt: number): void {
    this.forget(found.channel);
    if (replayed) this.#watches.hint(found.channel, found.transactionId);
    else this.#watches.seen(found, askedAt);
  }
}
