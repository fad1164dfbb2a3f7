import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { RecordedChange } from '../../src/datasources/journal/changes';
import { JournalUnavailable } from '../../src/datasources/journal/journal';
import { describeJournals, describePostgresJournal, type JournalFixture } from '../journal/support/fixture';
import type { AdvancingClock } from '../../src/sandbox/clock';
import { fakeClock } from '../support/fake-clock';
import { until } from '../support/latch';
import { Instance, newChannel, readAll, readerOf, take, textOf } from './support/instance';

const instances: Instance[] = [];

interface StartOptions {
  service?: string;
  url?: string;
  clock?: AdvancingClock;
}

function start(fixture: JournalFixture, options: StartOptions = {}): Instance {
  const instance = new Instance(fixture.journal, options.service ?? randomUUID(), options);
  instances.push(instance);
  return instance;
}

afterEach(async () => {
  await Promise.all(instances.splice(0).map((instance) => instance.close()));
});

describeJournals('The change feed', (fixture) => {
  test('skips the changes of other clients, however many they are', async () => {
    const instance = start(fixture);
    const channel = newChannel();
    await Promise.all(Array.from({ length: 600 }, () => instance.pay(channel, 'bank')));
    const id = await instance.pay(channel, 'shop');
    await readAll(instance, channel, 1202);
    const page = await instance.feed.read({ channel, creators: { payment: 'shop' } }, null, 10);
    expect(page.changes.map(({ transactionId }) => transactionId)).toEqual([id, id]);
    expect(page.hasMore).toBe(false);
  });

  test('treats a position beyond the newest change as the end', async () => {
    const instance = start(fixture);
    const channel = newChannel();
    await instance.pay(channel);
    const epoch = Number.MAX_SAFE_INTEGER;
    const future = { epoch, transaction: 5, seq: 5 };
    await expect(instance.feed.read(readerOf(channel), future, 10)).resolves.toEqual({
      changes: [],
      end: future,
      hasMore: false,
    });
  });

  test('fails with UNAVAILABLE if the journal cannot be read', async () => {
    const instance = start(fixture);
    instance.failure = new JournalUnavailable();
    const reading = instance.feed.read(readerOf(newChannel()), null, 1);
    await expect(reading).rejects.toMatchObject({ kind: 'UNAVAILABLE', retryAfterMs: 1000 });
  });
});

describeJournals('A watcher of the change feed', (fixture) => {
  test('gets a change within two seconds even if no notification announces it', async () => {
    const instance = start(fixture);
    const other = start(fixture, { service: instance.service });
    const channel = newChannel();
    const next = instance.feed.watch(readerOf(channel), null).next();
    await until(() => instance.reads.length > 0);
    await other.pay(channel);
    instance.clock.advance(2000);
    await expect(next).resolves.toMatchObject({ value: { status: 'PENDING' } });
  });

  test('ends if its method return() is called while it waits for a change', async () => {
    const instance = start(fixture);
    const watching = instance.feed.watch(readerOf(newChannel()), null);
    const next = watching.next();
    await until(() => instance.reads.length > 0);
    await watching.return!();
    await expect(next).resolves.toEqual({ done: true, value: undefined });
    await expect(watching.next()).resolves.toEqual({ done: true, value: undefined });
    const reads = instance.reads.length;
    instance.clock.advance(60_000);
    expect(instance.reads).toHaveLength(reads);
  });

  test('shares its reads with other watchers at the same position', async () => {
    const instance = start(fixture);
    const channel = newChannel();
    const { end } = await instance.feed.read(readerOf(channel), null, 1);
    instance.reads.length = 0;
    const watchers = Array.from({ length: 50 }, () => instance.feed.watch(readerOf(channel), end));
    const firsts = watchers.map((watching) => watching.next());
    await until(() => instance.reads.length > 0);
    await instance.pay(channel);
    await Promise.all(firsts);
    expect(instance.reads.length).toBeLessThan(watchers.length / 2);
    await Promise.all(watchers.map((watching) => watching.return!()));
  });

  test('continues after an outage of the journal, without a gap', async () => {
    const instance = start(fixture);
    const channel = newChannel();
    const watching = instance.feed.watch(readerOf(channel), null);
    const next = take(watching, 2);
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
    expect((await next).map(({ status }) => status)).toEqual(['PENDING', 'COMPLETED']);
    await watching.return!();
  });

  test('that resumes wherever it stopped gets every change once, even during writes', async () => {
    const resumes = fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 8 });
    const property = fc.asyncProperty(resumes, fc.integer({ min: 1, max: 30 }), async (counts, payments) => {
      const instance = start(fixture);
      const channel = newChannel();
      const { end: startPosition } = await instance.feed.read(readerOf(channel), null, 1);
      const writing = Promise.all(
        Array.from({ length: payments }, () =>
          instance.pay(channel, 'shop', new Promise((resolve) => setTimeout(resolve, Math.random() * 20))),
        ),
      );
      const seen: string[] = [];
      let position = startPosition;
      for (let turn = 0; seen.length < payments * 2; turn += 1) {
        const watching = instance.feed.watch(readerOf(channel), position);
        const count = Math.min(counts[turn % counts.length]!, payments * 2 - seen.length);
        const changes = await take(watching, count);
        await watching.return!();
        seen.push(...changes.map(textOf));
        position = changes.at(-1)!.position;
      }
      await writing;
      expect(seen).toEqual((await readAll(instance, channel, payments * 2)).map(textOf));
      expect(new Set(seen).size).toBe(payments * 2);
    });
    await fc.assert(property, { numRuns: 15 });
  });
});

describePostgresJournal('Watchers on two instances', (fixture) => {
  test('learn of a change of the other instance by a notification, before the next periodic read', async () => {
    const service = randomUUID();
    const { url } = fixture.store;
    const clock = fakeClock();
    const [one, other] = [start(fixture, { url, service }), start(fixture, { url, service, clock })];
    const channel = newChannel();
    await until(async () => {
      await one.pay(newChannel());
      return other.notified > 0;
    });
    const watching = other.feed.watch(readerOf(channel), null);
    const changes: RecordedChange[] = [];
    const next = take(watching, 2).then((all) => changes.push(...all));
    await until(() => other.reads.length > 0);
    const id = await one.pay(channel);
    await until(() => {
      // The periodic read comes after 1000 ms.
      if (clock.aheadMs < 900) clock.advance(2);
      return changes.length === 2;
    });
    await next;
    expect(changes.map(textOf)).toEqual([`${id} PENDING`, `${id} COMPLETED`]);
    await watching.return!();
  });
});
