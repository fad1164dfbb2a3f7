import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { AuditLog } from '../../src/observability/audit/audit-log';
import {
  callsOf,
  entry,
  linesOf,
  objectsOf,
  openLog,
  putLines,
  temporaryFolder,
  temporaryLog,
  verify,
  writeLog,
  closeAuditProcess,
  startAuditProcess,
} from './support/files';
import { describeSmallDisk } from '../support/small-disk';

const open = (file: string): AuditLog => AuditLog.open(file, () => undefined);

const entries = (who: string, count: number) =>
  Array.from({ length: count }, (_, place) => entry({ who, key: `${who}-${place}` }));
const keysOf = (calls: readonly { key?: string | null }[]) => calls.map(({ key }) => key);

describe('Opening an audit log', () => {
  test('creates the missing folder, and a file that only its owner can read', () => {
    const file = path.join(temporaryFolder(), 'data', 'audit.log');
    open(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(objectsOf(file)).toMatchObject([{ seq: 0, event: 'opened', pid: process.pid }]);
  });

  test.each([
    ['a folder', temporaryFolder(), /EISDIR/],
    ['a device', '/dev/full', /^AUDIT_LOG_FILE/],
  ])('fails if the path is %s, with a message that does not contain the path', (_what, file, code) => {
    for (const message of [/^AUDIT_LOG_FILE: /, code]) expect(() => open(file)).toThrow(message);
    expect(() => open(file)).toThrow(expect.not.objectContaining({ message: expect.stringContaining(file) }));
  });
});

describe('An open audit log', () => {
  test('continues in a new file when its file is renamed', async () => {
    const file = temporaryLog();
    const older = `${file}.1`;
    const { log, faults } = openLog(file);
    log.recordMutation(entry({ key: 'before' }));
    renameSync(file, older);
    log.recordMutation(entry({ key: 'after' }));
    const openFiles = execFileSync('ls', ['-l', `/proc/${process.pid}/fd`], { encoding: 'utf8' });
    expect(openFiles).not.toContain(older);
    await log.close();

    expect(faults).toEqual([{ why: expect.any(String) }]);
    expect(objectsOf(older).map(({ event, key }) => key ?? event)).toEqual(['opened', 'before', 'closed']);
    expect(objectsOf(file).map(({ event, key }) => key ?? event)).toEqual(['opened', 'after', 'closed']);
    const both = await verify([older, file]);
    expect([...both.faults, ...both.notes]).toEqual([]);
    const alone = await verify(file);
    expect(alone.faults).toEqual([]);
    expect(alone.notes).toMatchObject([{ line: 1, code: 'continues_older_file' }]);
    putLines(older, linesOf(older).slice(0, 2));
    expect((await verify([older, file])).faults).toMatchObject([{ file, line: 1, code: 'lines_missing' }]);
  });

  describe('with rotation by size', () => {
    const rotatedFiles = (file: string): string[] =>
      readdirSync(path.dirname(file))
        .filter((name) => /\.\d{8}T/.test(name))
        .sort()
        .map((name) => path.join(path.dirname(file), name));
    const calls = entries('shop', 100);

    test('continues in a new file at the size limit, closes the old file and loses no line', async () => {
      const file = temporaryLog();
      const { log, faults } = openLog(file, { maxBytes: 10_000, keptFileCount: null });
      calls.forEach((call) => log.recordMutation(call));
      await log.close();
      const older = rotatedFiles(file);
      expect(older.length).toBeGreaterThan(3);
      expect(faults).toHaveLength(older.length);
      for (const one of [...older, file]) {
        expect(statSync(one).mode & 0o777).toBe(0o600);
        expect(statSync(one).size).toBeLessThan(13_000);
        expect(objectsOf(one).at(-1)).toMatchObject({ event: 'closed' });
      }
      const all = await verify([...older, file]);
      expect([...all.faults, ...all.notes]).toEqual([]);
      expect(keysOf([...older, file].flatMap(callsOf))).toEqual(keysOf(calls));
    });

    test('deletes the oldest rotated files beyond AUDIT_LOG_KEEP_FILES, and no other files', async () => {
      const file = temporaryLog();
      const others = [`${file}.1`, `${file}.gz`, path.join(path.dirname(file), 'other.log')];
      others.forEach((other) => writeFileSync(other, ''));
      const { log } = openLog(file, { maxBytes: 10_000, keptFileCount: 2 });
      calls.forEach((call) => log.recordMutation(call));
      await log.close();
      expect(others.filter((other) => !existsSync(other))).toEqual([]);
      const older = rotatedFiles(file);
      expect(older).toHaveLength(2);
      const kept = await verify([...older, file]);
      expect(kept.faults).toEqual([]);
      expect(kept.notes).toMatchObject([{ line: 1, code: 'continues_older_file' }]);
      expect(callsOf(file).at(-1)).toMatchObject({ key: calls.at(-1)!.key });
    });

    test('loses no line, and keeps one hash chain, when several processes write to the file', async () => {
      const file = temporaryLog();
      const names = ['one', 'two', 'three'];
      const processes = await Promise.all(names.map(() => startAuditProcess(file, 20_000)));
      const ofEach = names.map((name) => entries(name, 200));
      const record = (place: number, from: number, to: number) =>
        processes[place]!.call('record', ofEach[place]!.slice(from, to));
      // The third process writes nothing to several of the files.
      await Promise.all([record(0, 0, 200), record(1, 0, 200), record(2, 0, 5)]);
      await record(2, 5, 200);
      await Promise.all(processes.map(closeAuditProcess));
      const files = [...rotatedFiles(file), file];
      expect(files.length).toBeGreaterThan(4);
      const { faults, notes, verifier } = await verify(files);
      expect([...faults, ...notes]).toEqual([]);
      expect(verifier.writers.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
      const calls = files.flatMap(callsOf);
      for (const [place, name] of names.entries())
        expect(keysOf(calls.filter(({ who }) => who === name))).toEqual(keysOf(ofEach[place]!));
    });

    test('reports a rotation that fails, and continues in the old file', async () => {
      // With the time appended, the file name is longer than the system allows.
      const file = path.join(temporaryFolder(), 'a'.repeat(240));
      const { log, faults } = openLog(file, { maxBytes: 10_000, keptFileCount: null });
      calls.forEach((call) => log.recordMutation(call));
      await log.close();
      expect(faults[0]).toMatchObject({ why: expect.stringContaining('ENAMETOOLONG') });
      expect(keysOf(callsOf(file))).toEqual(keysOf(calls));
      const { faults: found, notes } = await verify(file);
      expect([...found, ...notes]).toEqual([]);
    });

    test('tries to rotate a new file at the configured size, even if the rotation of the previous file failed', () => {
      const file = path.join(temporaryFolder(), 'a'.repeat(240));
      const { log, faults } = openLog(file, { maxBytes: 10_000, keptFileCount: null });
      const fillUp = (): void => {
        while (!existsSync(file) || statSync(file).size < 11_000) log.recordMutation(entry({ key: 'any' }));
        log.recordMutation(entry({ key: 'any' }));
      };
      const failures = () => faults.filter(({ why }) => why.includes('ENAMETOOLONG'));
      fillUp();
      expect(failures()).toHaveLength(1);
      rmSync(file);
      fillUp();
      expect(failures()).toHaveLength(2);
    });
  });

  test.each(['file', 'folder'])('recreates its deleted %s, and reports the deletion', async (what) => {
    const folder = path.join(temporaryFolder(), 'data');
    const file = path.join(folder, 'audit.log');
    const { log, faults } = openLog(file);
    log.recordMutation(entry({ key: 'lost' }));
    rmSync(what === 'file' ? file : folder, { recursive: true });
    log.recordMutation(entry({ key: 'kept' }));
    expect(faults).toEqual([{ why: expect.any(String) }]);
    expect(callsOf(file)).toMatchObject([{ key: 'kept' }]);
    expect((await verify(file)).notes).toMatchObject([{ code: 'continues_older_file' }]);
  });

  test('reports each call that it fails to write, and records the number of missing calls in its next line', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    rmSync(file);
    mkdirSync(file);
    log.recordMutation(entry({ key: 'one' }));
    log.recordMutation(entry({ key: '4111 1111 1111 1111' }));
    expect(faults).toEqual([
      { why: expect.stringContaining('EISDIR'), entry: entry({ key: 'one' }) },
      { why: expect.stringContaining('EISDIR'), entry: entry({ key: '[redacted]' }) },
    ]);
    rmSync(file, { recursive: true });
    log.recordMutation(entry({ key: 'three' }));
    log.recordMutation(entry({ key: 'four' }));
    await log.close();
    expect(faults.slice(2)).toEqual([{ why: expect.any(String) }]);
    expect(objectsOf(file).map(({ event, missed }) => [event, missed])).toEqual([
      ['opened', undefined],
      ['call', 2],
      ['call', undefined],
      ['closed', undefined],
    ]);
    const { faults: found, verifier } = await verify(file);
    expect(found).toEqual([]);
    expect(verifier.lostEntryCount).toBe(2);
  });

  test('does not throw when its error callback throws or when a call is malformed', () => {
    const file = temporaryLog();
    const log = AuditLog.open(file, () => {
      throw new Error('deaf');
    });
    expect(() => log.recordMutation(undefined as never)).not.toThrow();
    expect(() => log.recordMutation({} as never)).not.toThrow();
    rmSync(file);
    mkdirSync(file);
    expect(() => log.recordMutation(entry())).not.toThrow();
  });
});

describeSmallDisk('An audit log on a full disk', '64k', (disk) => {
  test('reports each call that it fails to write, and continues without a fault when there is space again', async () => {
    const file = path.join(disk.folder, 'audit.log');
    const { log, faults } = openLog(file);
    log.recordMutation(entry({ key: 'before' }));
    disk.fill();
    // Some lines still fit into the last block, and one is written in part.
    let missed = 0;
    for (let call = 0; missed < 5; call += 1) {
      log.recordMutation(entry({ key: `full ${call}` }));
      missed = faults.length;
      expect(call).toBeLessThan(100);
    }
    const why = expect.stringContaining('ENOSPC') as unknown;
    expect(faults.at(-1)).toMatchObject({ why, entry: { who: 'service:shop' } });
    expect(() => open(file)).toThrow(/^AUDIT_LOG_FILE: .*ENOSPC/);
    expect((await verify(file)).faults).toEqual([]);

    rmSync(disk.filler);
    log.recordMutation(entry({ key: 'space again' }));
    await log.close();
    expect(faults).toHaveLength(missed);
    const { faults: found, notes, verifier } = await verify(file);
    expect(found).toEqual([]);
    expect(notes).toHaveLength(1);
    expect(verifier.lostEntryCount).toBe(missed);
    expect(JSON.parse(linesOf(file).at(-2)!)).toMatchObject({ key: 'space again', missed });
  });
});

test('A process that is killed loses no call that it has recorded in the audit log', async () => {
  const file = temporaryLog();
  for (let round = 0; round < 3; round += 1) {
    const process = await startAuditProcess(file);
    await process.call('record', [entry({ key: `answered-${round}` })]);
    const { size } = statSync(file);
    void process.call('record', entries('under way', 5_000));
    while (statSync(file).size === size) await setImmediate();
    await process.kill();
  }
  await writeLog(file, 'the last');
  const { faults, verifier } = await verify(file);
  expect(faults).toEqual([]);
  expect(verifier.writers.map(({ isClosed }) => isClosed)).toEqual([false, false, false, true]);
  // A killed process may have written a part of its last line.
  const keys = linesOf(file).map((line) => /"key":"([^"]*)"/.exec(line)?.[1]);
  expect(keys).toEqual(expect.arrayContaining(['answered-0', 'answered-1', 'answered-2', 'the last']));
});
