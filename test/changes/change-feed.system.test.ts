import { randomUUID } from 'node:crypto';
import { ChangeFeed, type ChangeFilter } from '../../src/core/changes/change-feed';
import { ChangeSignals } from '../../src/core/changes/change-signals';
import { ClockGuard, JournalClock } from '../../src/core/clocks';
import { createNotifier } from '../../src/datasources/change-notifier/change-notifier';
import type { ChangeRange, RecordedChange } from '../../src/datasources/journal/changes';
import { JournalUnavailable } from '../../src/datasources/journal/journal';
import { AdvancingClock } from '../../src/sandbox/clock';
import { systemClock } from '../../src/shared/clock';
import { systemRuntime } from '../../src/shared/runtime';
import { describeJournals, describePostgresJournal, type JournalFixture } from '../journal/support/fixture';
import { COMPLETED, CREATED, created, observationOf } from '../journal/support/observations';
import { closeAfterTests } from '../support/cleanup';
import { fakeClock } from '../support/fake-clock';
import { until } from '../support/latch';

/** The part of a gateway that records changes and watches them. */
class Instance {
  /** Ranges that were read from the journal. */
  readonly reads: ChangeRange[] = [];
  /** Set to reject reads. */
  failure: Error | undefined;
  /** Number of notifications from other instances. */
  notified = 0;
  readonly feed: ChangeFeed;
  readonly #signals: ChangeSignals;

  constructor(
    private readonly fixture: JournalFixture,
    readonly service = randomUUID(),
    readonly clock = new AdvancingClock(systemClock),
    databaseUrl = 'file:',
  ) {
    const { journal } = fixture;
    const notifier = createNotifier(databaseUrl, systemClock);
    if (notifier) closeAfterTests(notifier);
    const journalClock = new JournalClock(journal, clock, new ClockGuard(clock, 0, () => undefined));
    const session = { clock: journalClock, runtime: systemRuntime, serviceName: service };
    this.#signals = new ChangeSignals(session, notifier);
    notifier?.setListener((change) => {
      this.notified += 1;
      this.#signals.onRemoteChange(change);
    });
    const readChanges: typeof journal.readChanges = (range) => {
      this.reads.push(range);
      return this.failure ? Promise.reject(this.failure) : journal.readChanges(range);
    };
    const newestChange: typeof journal.newestChange = (...range) => journal.newestChange(...range);
    this.feed = new ChangeFeed({ ...session, journal: { readChanges, newestChange } }, this.#signals, {
      onChangeDelivered: () => undefined,
    });
  }

  /** Records a payment that is created and completed: two changes. Returns its id. */
  async pay(channel: string, client = 'shop'): Promise<string> {
    const { service, fixture } = this;
    const payment = await created(fixture.journal, { service, channel, client }, CREATED);
    this.#signals.signalChange(channel);
    await fixture.journal.recordObservation(observationOf(payment, COMPLETED));
    this.#signals.signalChange(channel);
    return payment.transactionId;
  }

  watch(channel: string) {
    return this.feed.watch(filterFor(channel), null);
  }
}

const filterFor = (channel: string, client: string | null = null): ChangeFilter => ({
  channel,
  clientByKind: { payment: client, payout: null },
});

/** Returns the next two changes of a watcher. */
async function takeTwo(watching: AsyncIterator<RecordedChange, undefined>) {
  const changes = [(await watching.next()).value, (await watching.next()).value];
  await watching.return!();
  return changes;
}

describeJournals('The change feed', (fixture) => {
  test('skips the changes of other clients, however many they are', async () => {
    const instance = new Instance(fixture);
    const channel = randomUUID();
    await Promise.all(Array.from({ length: 600 }, () => instance.pay(channel, 'bank')));
    const transactionId = await instance.pay(channel, 'shop');
    // On PostgreSQL a change is not readable while an earlier transaction of the server is in progress.
    const page = await until(
      () => instance.feed.read(filterFor(channel, 'shop'), null, 10),
      ({ changes }) => changes.length === 2,
    );
    expect(page).toMatchObject({ changes: [{ transactionId }, { transactionId }], hasMore: false });
  });

  test('treats a position beyond the newest change as the end', async () => {
    const instance = new Instance(fixture);
    const channel = randomUUID();
    await instance.pay(channel);
    const end = { epoch: Number.MAX_SAFE_INTEGER, xid: 5, seq: 5 };
    const page = await instance.feed.read(filterFor(channel), end, 10);
    expect(page).toEqual({ changes: [], endPosition: end, hasMore: false });
  });

  test('fails with UNAVAILABLE if the journal cannot be read', async () => {
    const instance = new Instance(fixture);
    instance.failure = new JournalUnavailable();
    const reading = instance.feed.read(filterFor(randomUUID()), null, 1);
    await expect(reading).rejects.toMatchObject({ kind: 'UNAVAILABLE', retryAfterMs: 1000 });
  });
});

describeJournals('A subscriber to the change feed', (fixture) => {
  test('gets a change within two seconds even if no notification announces it', async () => {
    const instance = new Instance(fixture);
    const other = new Instance(fixture, instance.service);
    const channel = randomUUID();
    const next = instance.watch(channel).next();
    await until(() => instance.reads.length > 0);
    await other.pay(channel);
    instance.clock.advance(2000);
    await expect(next).resolves.toMatchObject({ value: { status: 'PENDING' } });
  });

  test('shares its journal reads with other subscribers at the same position', async () => {
    const instance = new Instance(fixture);
    const channel = randomUUID();
    const { endPosition: end } = await instance.feed.read(filterFor(channel), null, 1);
    instance.reads.length = 0;
    const watchers = Array.from({ length: 50 }, () => instance.feed.watch(filterFor(channel), end));
    const firsts = watchers.map((watching) => watching.next());
    await until(() => instance.reads.length > 0);
    await instance.pay(channel);
    await Promise.all(firsts);
    expect(instance.reads.length).toBeLessThan(watchers.length / 2);
    await Promise.all(watchers.map((watching) => watching.return!()));
  });

  test('misses no change during an outage of the journal', async () => {
    const instance = new Instance(fixture);
    const channel = randomUUID();
    const next = takeTwo(instance.watch(channel));
    await until(() => instance.reads.length > 0);
    instance.failure = new JournalUnavailable();
    await instance.pay(channel);
    for (let step = 0; step < 20; step += 1) {
      instance.clock.advance(5000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    instance.failure = undefined;
    await until(() => {
      instance.clock.advance(5000);
      return instance.reads.length > 3;
    });
    expect(await next).toMatchObject([{ status: 'PENDING' }, { status: 'COMPLETED' }]);
  });
});

describePostgresJournal('A subscriber to the change feed', (fixture) => {
  test('gets a change of another instance by a notification, before the next periodic read', async () => {
    const clock = fakeClock();
    const one = new Instance(fixture, undefined, undefined, fixture.store.url);
    const other = new Instance(fixture, one.service, clock, fixture.store.url);
    const channel = randomUUID();
    await until(async () => {
      await one.pay(randomUUID());
      return other.notified > 0;
    });
    let changes: unknown;
    const next = takeTwo(other.watch(channel)).then((taken) => (changes = taken));
    await until(() => other.reads.length > 0);
    const transactionId = await one.pay(channel);
    await until(() => {
      // The periodic read comes after 1000 ms.
      if (clock.aheadMs < 900) clock.advance(2);
      return changes;
    });
    await next;
    expect(changes).toMatchObject([
      { transactionId, status: 'PENDING' },
      { transactionId, status: 'COMPLETED' },
    ]);
  });
});
