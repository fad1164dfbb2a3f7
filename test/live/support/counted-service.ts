import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/clock';
import { CHANNEL } from '../../support/gateway';
import { until } from '../../changes/support/feeds';
import { scriptedService, type Reply, type SeenRequest } from '../../support/scripted-service';

/** What the service says of a transaction, in its own words. */
export type Wire = Record<string, unknown>;

/** A lookup that arrived, and when by the clock of the test. */
export interface Lookup {
  path: string;
  asked: Record<string, string>;
  at: number;
}

/** An answer that is held back: it was true when the question arrived. */
export interface Held {
  arrived: Promise<unknown>;
  release(): void;
}

export const WAITING = { type: 'upi', state: 'waiting_for_utr', upi_id: 'shop@bank' };
export const AT_PROVIDER = { ...WAITING, state: 'waiting_for_provider' };

/** A service that has the transactions a test gives it, and counts how often it is asked for each. */
export class CountedService {
  readonly lookups: Lookup[] = [];
  /** What it answers in the place of the usual thing. */
  instead: (request: SeenRequest) => Reply | Promise<Reply> | undefined = () => undefined;
  /** How it answers a create or a confirm. */
  money: (json: Wire) => Reply = () => ({ status: 404, json: {} });
  url = '';
  readonly #byId = new Map<string, Wire>();
  readonly #clock: Pick<Clock, 'now'>;
  #holdNext: { arrive(): void; released: Promise<unknown> } | undefined;

  private constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  static async start(clock: Pick<Clock, 'now'> = { now: () => Date.now() }): Promise<CountedService> {
    const watched = new CountedService(clock);
    watched.url = (await scriptedService((request) => watched.#take(request))).url;
    return watched;
  }

  /** A new payment that waits for its payer, unless something else is said of it. */
  payment(said: Wire = {}): string {
    const id = randomUUID();
    this.#byId.set(id, {
      transaction_id: id,
      status: 'processing',
      channel: CHANNEL,
      amount: { currency: 'INR', value: '100.00' },
      create_date: new Date(this.#clock.now()).toISOString(),
      payment_method: WAITING,
      ...said,
    });
    return id;
  }

  payout(said: Wire = {}): string {
    const id = randomUUID();
    this.#byId.set(id, { transaction_id: id, status: 'processing', external_id: null, ...said });
    return id;
  }

  /** Says something else of a transaction from now on. */
  change(id: string, said: Wire): void {
    this.#byId.set(id, { ...this.#byId.get(id), ...said });
  }

  /** What it says of a transaction now. */
  said(id: string): Wire {
    return this.#byId.get(id) ?? {};
  }

  /** Does not know a transaction any more. */
  lose(id: string): void {
    this.#byId.delete(id);
  }

  /** How often it was asked for a transaction by its id. */
  count(id: string): number {
    return this.times(id).length;
  }

  /** When it was asked for it. */
  times(id: string): number[] {
    return this.lookups.filter(({ asked }) => asked['transaction_id'] === id).map(({ at }) => at);
  }

  /** Moves the clock until a transaction has been looked at that often more. */
  async looksAgain(clock: { advance(ms: number): unknown }, id: string, times = 1): Promise<void> {
    const wanted = this.count(id) + times;
    await until('it is looked at', () => {
      if (this.count(id) < wanted) clock.advance(200);
      return this.count(id) >= wanted;
    });
  }

  /** Holds the answer to the next lookup back. */
  hold(): Held {
    const arrived = Promise.withResolvers<unknown>();
    const released = Promise.withResolvers<unknown>();
    this.#holdNext = { arrive: () => arrived.resolve(undefined), released: released.promise };
    return { arrived: arrived.promise, release: () => released.resolve(undefined) };
  }

  async #take(request: SeenRequest): Promise<Reply> {
    const { method, path, query, json } = request;
    if (method === 'POST') return this.money(json);
    const asked = Object.fromEntries(new URLSearchParams(query));
    this.lookups.push({ path, asked, at: this.#clock.now() });
    const reply = (await this.instead(request)) ?? this.#found(asked);
    const held = this.#holdNext;
    this.#holdNext = undefined;
    held?.arrive();
    await held?.released;
    return reply;
  }

  #found(asked: Record<string, string>): Reply {
    const externalId = asked['external_id'];
    const found =
      this.#byId.get(asked['transaction_id'] ?? '') ??
      [...this.#byId.values()].find(({ order }) => order !== undefined && order === externalId);
    if (!found) return { status: 404, json: {} };
    const { order: _order, ...json } = found;
    return { status: 200, json: { ...json } };
  }
}
