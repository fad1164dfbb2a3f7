import type { Journal } from '../../../src/datasources/journal/journal';
import { CHANNEL, type Kind } from '../../support/caller';
import { openWithLongTimeout } from '../../support/gateway';
import { newKey, type Harness, type Harnesses } from '../../support/harness';
import { until } from '../../support/latch';
import type { Entry } from '../../support/payment-service/ledger';

/** The states of a new payment and of a confirmed one. */
export const WAITING = 'PROCESSING WAITING_FOR_UTR';
export const CONFIRMED = 'PROCESSING WAITING_FOR_PROVIDER';

export const COMPLETED = { status: 'completed', state: null };
export const FAILED = { status: 'failed', state: null };

/** A gateway with one transaction, and a separate connection that reads the record of changes. */
export class Recorded {
  private constructor(
    readonly harness: Harness,
    private readonly journal: Journal,
    /** The service's entry of the transaction. */
    readonly entry: Entry,
  ) {}

  /** Reads the record of a transaction that a gateway has created. */
  static async of(harnesses: Harnesses, harness: Harness, entry: Entry): Promise<Recorded> {
    const journal = await openWithLongTimeout(harness.store.url);
    harnesses.closeAtEnd(() => journal.close());
    return new Recorded(harness, journal, entry);
  }

  /** Starts a gateway and creates a transaction. */
  static async start(
    harnesses: Harnesses,
    options?: Parameters<Harnesses['start']>[0],
    kind: Kind = 'payment',
  ): Promise<Recorded> {
    const harness = await harnesses.start(options);
    const key = newKey();
    await harness.create(kind, key);
    return Recorded.of(harnesses, harness, harness.service.created(key)[0]!);
  }

  move(to: Partial<Entry>): void {
    Object.assign(this.entry, to);
  }

  get lookups(): number {
    return lookupsOf(this.harness, [this.entry.transactionId]);
  }

  /** Returns the recorded statuses, each followed by its state if there is one. */
  async states(): Promise<string[]> {
    const { changes } = await this.journal.readChanges({
      service: this.harness.service.url,
      channel: CHANNEL,
      clientByKind: { payment: null, payout: null },
      after: null,
      limit: 500,
    });
    return changes
      .filter(({ transactionId }) => transactionId === this.entry.transactionId)
      .map(({ status, state }) => (state === null ? status : `${status} ${state}`));
  }

  /** Advances the clock in steps until this state is the last one. Returns all states. */
  advanceUntil(last: string): Promise<string[]> {
    return advanceUntil(
      this.harness,
      () => this.states(),
      (states) => states.at(-1) === last,
    );
  }

  async followed(): Promise<number> {
    return (await this.journal.countFollowed(this.harness.service.url)).followed;
  }

  /** Looks the payment up as a caller. Returns its fields. */
  async lookUp(): Promise<{ status: string }> {
    const { data } = await this.harness.request<{ payment: { status: string } }>(
      `query ($channel: UUID!, $id: UUID) {
        payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } } }`,
      { channel: CHANNEL, id: this.entry.transactionId },
    );
    return data.payment;
  }
}

/** Returns how many lookups of these transactions the service has received. */
export const lookupsOf = ({ service }: Harness, ids: readonly string[]): number =>
  ids.reduce((sum, id) => sum + service.lookupsOf(id).length, 0);

/** Advances the clock in steps until a condition holds. */
export const advanceUntil = <T>(
  { clock }: Pick<Harness, 'clock'>,
  read: () => T | Promise<T>,
  isGood: (value: T) => boolean = Boolean,
  stepMs = 1000,
): Promise<T> =>
  until(() => {
    clock.advance(stepMs);
    return read();
  }, isGood);

/** Advances the clock by `ms` in steps, and lets the gateway work in between. */
export async function advance({ clock }: Pick<Harness, 'clock'>, ms: number, stepMs = 1000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
