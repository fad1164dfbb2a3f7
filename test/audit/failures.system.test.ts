import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
} from './support/files';
import { describeSmallDisk } from '../support/small-disk';
import { closeAuditProcess, startAuditProcess } from './support/audit-process';

const open = (file: string): AuditLog => AuditLog.open(file, () => undefined);

const calls = (who: string, count: number) =>
  Array.from({ length: count }, (_, place) => entry({ who, key: `${who}-${place}` }));

describe('Opening an audit log', () => {
  test('creates its folder, and a file that only the owner can read', () => {
    const file = path.join(temporaryFolder(), 'data', 'audit.log');
    open(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(objectsOf(file)).toMatchObject([{ seq: 0, event: 'opened', pid: process.pid }]);
  });

  test.each<[what: string, make: (folder: string) => string, code: RegExp]>([
    ['a folder', (folder) => folder, /EISDIR/],
    ['in a folder that does not exist', (folder) => path.join(folder, 'a', 'b', 'audit.log'), /ENOENT/],
    ['a device', () => '/dev/full', /^AUDIT_LOG_FILE/],
  ])('fails if the path is %s; the message names the setting, not the path', (_what, make, code) => {
    const file = make(temporaryFolder());
    expect(() => open(file)).toThrow(/^AUDIT_LOG_FILE: /);
    expect(() => open(file)).toThrow(code);
    expect(() => open(file)).toThrow(expect.not.objectContaining({ message: expect.stringContaining(file) }));
  });
});

describe('An open audit log', () => {
  test('continues in a new file when its file is moved', async () => {
    const file = temporaryLog();
    const older = `${file}.1`;
    const { log, faults } = openLog(file);
    log.record(entry({ key: 'before' }));
    renameSync(file, older);
    log.record(entry({ key: 'after' }));
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
    const keys = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, index) => `order-${from + index}`);

    test('continues in a new file, closes the old one and loses no line', async () => {
      const file = temporaryLog();
      const { log, faults } = openLog(file, { maxBytes: 10_000, keepFiles: null });
      keys(0, 100).forEach((key) => log.record(entry({ key })));
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
      expect([...older, file].flatMap((one) => callsOf(one).map(({ key }) => key))).toEqual(keys(0, 100));
    });

    test('keeps AUDIT_LOG_KEEP_FILES rotated files, and deletes only older rotated files', async () => {
      const file = temporaryLog();
      const others = [`${file}.1`, `${file}.gz`, path.join(path.dirname(file), 'other.log')];
      others.forEach((other) => writeFileSync(other, ''));
      const { log, faults } = openLog(file, { maxBytes: 10_000, keepFiles: 2 });
      keys(0, 100).forEach((key) => log.record(entry({ key })));
      await log.close();
      expect(others.filter((other) => !existsSync(other))).toEqual([]);
      const older = rotatedFiles(file);
      expect(older).toHaveLength(2);
      const kept = await verify([...older, file]);
      expect(kept.faults).toEqual([]);
      expect(kept.notes).toMatchObject([{ line: 1, code: 'continues_older_file' }]);
      expect(callsOf(file).at(-1)).toMatchObject({ key: 'order-99' });
      // Each deletion is reported.
      const deleted = faults.flatMap(
        ({ why }) => (/deleted (.*)$/.exec(why)?.[1] ?? '').match(/audit\.log\S*Z-\w+/g) ?? [],
      );
      expect(deleted).toHaveLength(faults.filter(({ why }) => why.includes('rotated to')).length - 2);
    });

    test('loses no line when several processes share the file', async () => {
      const file = temporaryLog();
      const processes = await Promise.all([startAuditProcess(file, 10_000), startAuditProcess(file, 10_000)]);
      for (let round = 0; round < 30; round += 1)
        for (const each of processes) await each.call('record', [entry(), entry()]);
      await Promise.all(processes.map(closeAuditProcess));
      const files = [...rotatedFiles(file), file];
      expect(files.length).toBeGreaterThan(4);
      const { faults, notes, verifier } = await verify(files);
      expect([...faults, ...notes]).toEqual([]);
      expect(verifier.files.reduce((sum, { calls }) => sum + calls, 0)).toBe(120);
    });

    test('reports a failed rename, and continues in the old file', async () => {
      // With the time appended, the file name is longer than the system allows.
      const file = path.join(temporaryFolder(), 'a'.repeat(240));
      const { log, faults } = openLog(file, { maxBytes: 10_000, keepFiles: null });
      keys(0, 30).forEach((key) => log.record(entry({ key })));
      await log.close();
      expect(faults).toMatchObject([{ why: expect.stringContaining('ENAMETOOLONG') }]);
      expect(callsOf(file).map(({ key }) => key)).toEqual(keys(0, 30));
      const { faults: found, notes } = await verify(file);
      expect([...found, ...notes]).toEqual([]);
    });
  });

  test.each(['file', 'folder'])('creates its %s again if it was removed, and reports this', async (what) => {
    const folder = path.join(temporaryFolder(), 'data');
    const file = path.join(folder, 'audit.log');
    const { log, faults } = openLog(file);
    log.record(entry({ key: 'lost' }));
    rmSync(what === 'file' ? file : folder, { recursive: true });
    log.record(entry({ key: 'kept' }));
    expect(faults).toEqual([{ why: expect.any(String) }]);
    expect(callsOf(file)).toMatchObject([{ key: 'kept' }]);
    expect((await verify(file)).notes).toMatchObject([{ code: 'continues_older_file' }]);
  });

  test('reports calls that it cannot write because its path is a folder; its next line counts them', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    rmSync(file);
    mkdirSync(file);
    log.record(entry({ key: 'one' }));
    log.record(entry({ key: '4111 1111 1111 1111' }));
    expect(faults).toEqual([
      { why: expect.stringContaining('EISDIR'), entry: entry({ key: 'one' }) },
      { why: expect.stringContaining('EISDIR'), entry: entry({ key: '[redacted]' }) },
    ]);
    rmdirSync(file);
    log.record(entry({ key: 'three' }));
    log.record(entry({ key: 'four' }));
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
    expect(verifier.missed).toBe(2);
  });

  test('does not throw if its listener throws or a call is malformed', () => {
    const file = temporaryLog();
    const log = AuditLog.open(file, () => {
      throw new Error('deaf');
    });
    expect(() => log.record(undefined as never)).not.toThrow();
    expect(() => log.record({} as never)).not.toThrow();
    rmSync(file);
    mkdirSync(file);
    expect(() => log.record(entry())).not.toThrow();
  });

  test('reports calls after it was closed, does not write them, and can be closed again', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    await log.close();
    const before = readFileSync(file);
    log.record(entry());
    await log.close();
    expect(faults).toMatchObject([{ entry: {} }]);
    expect(readFileSync(file)).toEqual(before);
  });

  (existsSync('/proc/self/fd') ? test : test.skip)('keeps no old file open', async () => {
    const file = temporaryLog();
    const opened = (): string[] =>
      readdirSync('/proc/self/fd')
        .map((fd) => `/proc/self/fd/${fd}`)
        // The descriptor that this listing used is closed by now.
        .flatMap((link) => (existsSync(link) ? [readlinkSync(link)] : []))
        .filter((target) => target.startsWith(path.dirname(file)) && !target.endsWith('.lock'));
    const { log } = openLog(file);
    for (let round = 0; round < 20; round += 1) {
      renameSync(file, `${file}.${round}`);
      log.record(entry());
    }
    expect(opened()).toEqual([file]);
    await log.close();
    expect(opened()).toEqual([]);
  });
});

describeSmallDisk('A full disk', '64k', (disk) => {
  test('makes the audit log report each call, and continue without a fault when there is space again', async () => {
    const file = path.join(disk.folder, 'audit.log');
    const { log, faults } = openLog(file);
    const { log: other, faults: othersFaults } = openLog(file);
    log.record(entry({ key: 'before' }));
    disk.fill();
    // Some lines still fit into the last block, and one is written in part.
    let missed = 0;
    for (let call = 0; missed < 5; call += 1) {
      log.record(entry({ key: `full ${call}` }));
      missed = faults.length;
      expect(call).toBeLessThan(100);
    }
    other.record(entry({ key: 'full' }));
    expect(faults.at(-1)).toMatchObject({
      why: expect.stringContaining('ENOSPC'),
      entry: { who: 'service:shop' },
    });
    expect(othersFaults).toHaveLength(1);
    expect(() => open(file)).toThrow(/^AUDIT_LOG_FILE: .*ENOSPC/);
    expect((await verify(file)).faults).toEqual([]);

    rmSync(disk.filler);
    log.record(entry({ key: 'room again' }));
    other.record(entry({ key: 'room again' }));
    await log.close();
    await other.close();
    expect([...faults.slice(missed), ...othersFaults.slice(1)]).toEqual([]);
    const { faults: found, notes, verifier } = await verify(file);
    expect(found).toEqual([]);
    expect(notes).toHaveLength(1);
    expect(verifier.missed).toBe(missed + 1);
    const again = linesOf(file).filter((line) => line.includes('room again'));
    expect(again.map((line) => JSON.parse(line) as object)).toMatchObject([{ missed }, { missed: 1 }]);
  });
});

describe('Processes that share an audit log', () => {
  test('write lines one at a time, in one hash chain', async () => {
    const file = temporaryLog();
    const names = ['one', 'two', 'three'];
    const processes = await Promise.all(names.map(() => startAuditProcess(file)));
    const faults = await Promise.all(
      processes.map((each, place) => each.call('record', calls(names[place]!, 500))),
    );
    await Promise.all(processes.map(closeAuditProcess));

    expect(faults.flat()).toEqual([]);
    const { faults: found, notes, verifier } = await verify(file);
    expect([...found, ...notes]).toEqual([]);
    expect(verifier.files).toMatchObject([{ lines: 1506, calls: 1500 }]);
    expect(verifier.writers.map(({ isClosed }) => isClosed)).toEqual([true, true, true]);
    for (const name of names) {
      const keys = callsOf(file).filter(({ who }) => who === name);
      expect(keys.map(({ key }) => key)).toEqual(calls(name, 500).map(({ key }) => key));
    }
  });

  test('lose no recorded call if they are killed', async () => {
    const file = temporaryLog();
    for (let round = 0; round < 3; round += 1) {
      const process = await startAuditProcess(file);
      await process.call('record', [entry({ key: `answered-${round}` })]);
      const { size } = statSync(file);
      void process.call('record', calls('under way', 5_000));
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
});
