import type { Journal } from '../../src/datasources/journal/journal';
import { begunAs, newAttempt, SETTLED, tally } from './support/samples';
import { inBothStores, inSqlite } from './support/stores';
import { expectUnavailable, READS, recovered, UNAVAILABLE, WRITES } from './support/unavailable';

inBothStores((room) => {
  let journal: Journal;

  beforeAll(async () => {
    journal = await room.impatient();
  });

  test('while another holds the journal for long, everything that writes is refused in time', async () => {
    const release = await room.place.hold();
    const refused = Object.values(WRITES).map((write) => expectUnavailable(write(journal)));
    await Promise.all(refused).finally(release);
    for (const write of Object.values(WRITES)) await write(journal);
  });

  test('who asks while others are waiting is refused in time as well', async () => {
    const release = await room.place.hold();
    const asked: Promise<void>[] = [];
    for (let turn = 0; turn < 100; turn += 1) {
      asked.push(expectUnavailable(journal.begin(newAttempt())));
      await Promise.race([asked[0], new Promise(setImmediate)]);
    }
    await Promise.all(asked).finally(release);
    await recovered(journal);
  });

  test('an attempt that was refused can be settled as not sent, whether it was written or not', async () => {
    const release = await room.place.hold();
    const attempts = Array.from({ length: 50 }, () => newAttempt());
    await Promise.allSettled(attempts.map((attempt) => journal.begin(attempt))).finally(release);
    await recovered(journal);
    await Promise.all(attempts.map(({ id }) => room.journal.settle(id, SETTLED.not_sent)));
    const again = attempts.map((attempt) => room.journal.begin({ ...attempt, id: newAttempt().id }));
    expect(tally(await Promise.all(again))).toEqual({ started: 50 });
  });

  test.each([5, 900])('%i attempts that were refused are not written later', async (count) => {
    const release = await room.place.hold();
    const attempts = Array.from({ length: count }, () => newAttempt());
    const begins = attempts.map((attempt) => journal.begin(attempt));
    const answers = await Promise.allSettled(begins).finally(release);
    expect(answers.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    await recovered(journal);
    // Whatever was still waiting for the journal has had it when it can be held again.
    await room.place.hold().then((again) => again());
    const kept = new Set((await room.place.rows('SELECT id FROM attempts')).map(({ id }) => id));
    expect(attempts.filter(({ id }) => kept.has(id))).toEqual([]);
  });
});

inSqlite((room) => {
  let journal: Journal;

  beforeAll(async () => {
    journal = await room.impatient();
  });

  test('while another process holds the file, reading goes on and writing is refused in time', async () => {
    const other = await room.process();
    const attempt = await begunAs(room.journal, 'unknown', newAttempt());
    await other.holdFile(2_000);
    await expectUnavailable(journal.begin(newAttempt()));
    for (const read of Object.values(READS)) await read(journal);
    await expect(journal.find(attempt)).resolves.toMatchObject({ outcome: 'unknown' });
    await recovered(journal);
  });

  test('a process that holds the file for a moment is waited for', async () => {
    const other = await room.process();
    await other.holdFile(150);
    await expect(room.journal.begin(newAttempt())).resolves.toEqual({ kind: 'started' });
  });

  test('a process that dies while it holds the file lets it go', async () => {
    const other = await room.process();
    await other.holdFile(60_000);
    await expect(journal.begin(newAttempt())).rejects.toMatchObject(UNAVAILABLE);
    await other.kill();
    await expect(journal.begin(newAttempt())).resolves.toEqual({ kind: 'started' });
  });
});
