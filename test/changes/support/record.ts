import type { RecordedChange } from '../../../src/datasources/journal/changes';
import type { Journal } from '../../../src/datasources/journal/journal';
import { CHANNEL, type Caller } from '../../support/caller';
import { openWithLongTimeout } from '../../support/gateway';
import type { Harness, Harnesses } from '../../support/harness';
import { until } from '../../support/latch';

/** Reads the record of changes of a harness by a connection of its own. */
export class ChangeRecord {
  constructor(
    private readonly journal: Journal,
    private readonly serviceUrl: string,
  ) {}

  async changesOf(transactionId: string): Promise<RecordedChange[]> {
    const { changes } = await this.journal.readChanges({
      service: this.serviceUrl,
      channel: CHANNEL,
      creators: { payment: null, payout: null },
      after: null,
      limit: 500,
    });
    return changes.filter((change) => change.transactionId === transactionId);
  }

  /** Returns the statuses of a transaction, each followed by its state if there is one. */
  async statesOf(transactionId: string): Promise<string[]> {
    const changes = await this.changesOf(transactionId);
    return changes.map(({ status, state }) => (state === null ? status : `${status} ${state}`));
  }

  async followed(): Promise<number> {
    return (await this.journal.countFollowed(this.serviceUrl)).followed;
  }
}

export async function openRecord(
  { store, service }: { store: { url: string }; service: { url: string } },
  harnesses: Pick<Harnesses, 'closeAtEnd'>,
): Promise<ChangeRecord> {
  const journal = await openWithLongTimeout(store.url);
  harnesses.closeAtEnd(() => journal.close());
  return new ChangeRecord(journal, service.url);
}

/** Advances the clock by steps until a condition holds. */
export const advanceUntil = <T>(
  { clock }: Pick<Harness, 'clock'>,
  read: () => T | Promise<T>,
  isGood: (value: T) => boolean,
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

/** Looks a payment up as a caller. Returns its fields. */
export async function lookUp(caller: Caller, transactionId: string): Promise<{ status: string }> {
  const { data } = await caller.request<{ payment: { status: string } }>(
    `query ($channel: UUID!, $id: UUID) {
      payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } } }`,
    { channel: CHANNEL, id: transactionId },
  );
  return data.payment;
}
