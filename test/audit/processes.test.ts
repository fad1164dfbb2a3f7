import { existsSync, statSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import {
  callsOf,
  entry,
  linesOf,
  objectsOf,
  openLog,
  temporaryLog,
  verify,
  writeChain,
} from './support/files';
import { OtherProcess } from './support/other-process';

const calls = (who: string, count: number) =>
  Array.from({ length: count }, (_, place) => entry({ who, key: `${who}-${place}` }));

test('processes that write to one file at once keep every line whole, and every chain', async () => {
  const file = temporaryLog();
  const names = ['one', 'two', 'three'];
  const processes = await Promise.all(names.map(() => OtherProcess.start(file)));
  const faults = await Promise.all(
    processes.map((each, place) => each.record(...calls(names[place]!, 1000))),
  );
  await Promise.all(processes.map((each) => each.close()));

  expect(faults.flat()).toEqual([]);
  const { faults: found, notes, verifier } = await verify(file);
  expect([...found, ...notes]).toEqual([]);
  expect(verifier.files).toMatchObject([{ lines: 3006, calls: 3000 }]);
  expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
  for (const name of names) {
    const keys = callsOf(file).filter(({ who }) => who === name);
    expect(keys.map(({ key }) => key)).toEqual(calls(name, 1000).map(({ key }) => key));
  }
});

test('lines of several processes stand between each other and name each other', async () => {
  const file = temporaryLog();
  const other = await OtherProcess.start(file);
  const { log } = openLog(file);
  for (const key of ['a', 'b', 'c']) {
    await other.record(entry({ who: 'other', key }));
    log.record(entry({ who: 'own', key }));
  }
  await other.close();
  await log.close();
  const lines = objectsOf(file);
  expect(lines.map(({ event, who }) => who ?? event)).toEqual([
    'opened',
    'opened',
    ...['a', 'b', 'c'].flatMap(() => ['other', 'own']),
    'closed',
    'closed',
  ]);
  for (const [place, { after }] of lines.entries()) {
    if (place > 0) expect(after).toBe(lines[place - 1]!['hash']);
  }
  expect((await verify(file)).faults).toEqual([]);
});

test('what was recorded before a process was killed is in the file, whole; the next one goes on', async () => {
  const file = temporaryLog();
  for (let round = 0; round < 3; round += 1) {
    const process = await OtherProcess.start(file);
    await process.record(entry({ key: `answered-${round}` }));
    const { size } = statSync(file);
    process.startRecording(calls('under way', 20_000));
    while (statSync(file).size === size) await setImmediate();
    await process.kill();
  }
  await writeChain(file, 'the last');
  const { faults, verifier } = await verify(file);
  expect(faults).toEqual([]);
  expect(verifier.chains.map(({ isClosed }) => isClosed)).toEqual([false, false, false, true]);
  const keys = callsOf(file).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(['answered-0', 'answered-1', 'answered-2', 'the last']));
});

test('a process that may write only a part of a line tells of it, goes on, and the log stays whole', async () => {
  const file = temporaryLog();
  const process = await OtherProcess.start(file, 16);
  // The kernel takes what still fits of a line, and then nothing.
  const faults = await process.record(...calls('service:shop', 50));
  const kept = callsOf(file).length;
  expect(kept).toBeGreaterThan(5);
  expect(faults).toHaveLength(50 - kept);
  expect(faults[0]!.entry).toMatchObject({ who: 'service:shop', key: `service:shop-${kept}` });
  expect(faults.at(-1)!.why).toContain('EFBIG');
  const { faults: found, notes } = await verify(file);
  expect(found).toEqual([]);
  expect(notes).toHaveLength(1);

  // Another process, that may write more, goes on behind what was left.
  await writeChain(file, 'by another');
  const again = await verify(file);
  expect(again.faults).toEqual([]);
  expect(again.notes).toHaveLength(1);
  expect(linesOf(file).at(-2)).toContain('by another');
  await process.close();
  expect(existsSync(file)).toBe(true);
  expect((await verify(file)).faults).toEqual([]);
});
