import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AuditLog } from '../../src/audit/audit-log';
import {
  callsOf,
  entry,
  linesOf,
  objectsOf,
  openLog,
  temporaryFolder,
  temporaryLog,
  verify,
} from './support/files';
import { OtherProcess } from './support/other-process';

const open = (file: string): AuditLog => AuditLog.open(file, () => undefined);

/** Where a descriptor leads; it may be gone by now. */
function readlinkIfAny(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

describe('at the start', () => {
  test('the file is made, for nobody else to read, and its folder, too', () => {
    const file = path.join(temporaryFolder(), 'data', 'audit.log');
    open(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(objectsOf(file)).toMatchObject([{ seq: 0, event: 'opened', pid: process.pid }]);
  });

  test.each<[what: string, make: (folder: string) => string, says: string]>([
    ['a folder', (folder) => folder, 'EISDIR: it is a folder'],
    [
      'in no folder that exists',
      (folder) => path.join(folder, 'a', 'b', 'audit.log'),
      'ENOENT: the folder around',
    ],
    [
      'below a file',
      (folder) => {
        writeFileSync(path.join(folder, 'file'), '');
        return path.join(folder, 'file', 'audit.log');
      },
      'ENOTDIR: a part of its path',
    ],
    ['a device', () => '/dev/full', 'no regular file'],
    [
      'a link that leads to itself',
      (folder) => {
        symlinkSync('audit.log', path.join(folder, 'audit.log'));
        return path.join(folder, 'audit.log');
      },
      'ELOOP',
    ],
  ])('a path that is %s is refused, in words that name the setting and not the path', (_what, make, says) => {
    const file = make(temporaryFolder());
    expect(() => open(file)).toThrow(/^AUDIT_LOG_FILE: the audit log cannot be written there \(.*\)\.$/);
    expect(() => open(file)).toThrow(says);
    expect(() => open(file)).toThrow(expect.not.objectContaining({ message: expect.stringContaining(file) }));
  });

  test('a file that cannot grow is refused', async () => {
    const file = temporaryLog();
    await expect(OtherProcess.start(file, 0)).rejects.toThrow();
    expect(existsSync(file) ? readFileSync(file, 'utf8') : '').toBe('');
  });

  (process.getuid?.() === 0 ? test.skip : test)('a file without permission is refused', () => {
    const file = temporaryLog();
    writeFileSync(file, '');
    chmodSync(file, 0o400);
    expect(() => open(file)).toThrow('EACCES: no permission');
  });
});

describe('while the gateway runs', () => {
  test('a file that was moved away is ended there, and goes on in a new one', async () => {
    const file = temporaryLog();
    const older = `${file}.1`;
    const { log, faults } = openLog(file);
    log.record(entry({ key: 'before' }));
    renameSync(file, older);
    log.record(entry({ key: 'after' }));
    await log.close();

    expect(faults).toEqual([{ why: expect.stringContaining('a new one was begun') }]);
    expect(objectsOf(older).map(({ event, key }) => key ?? event)).toEqual(['opened', 'before', 'closed']);
    expect(objectsOf(file).map(({ event, key }) => key ?? event)).toEqual(['opened', 'after', 'closed']);
    const both = await verify([older, file]);
    expect([...both.faults, ...both.notes]).toEqual([]);
    const alone = await verify(file);
    expect(alone.faults).toEqual([]);
    expect(alone.notes).toMatchObject([{ line: 1, says: expect.stringContaining('of an older file') }]);
  });

  test('it shows that the end of a rotated file was cut off', async () => {
    const file = temporaryLog();
    const older = `${file}.1`;
    const { log } = openLog(file);
    log.record(entry());
    renameSync(file, older);
    log.record(entry());
    const lines = linesOf(older);
    writeFileSync(older, `${lines.slice(0, 2).join('\n')}\n`);
    expect((await verify([older, file])).faults).toMatchObject([
      { file, line: 1, says: expect.stringContaining('are missing') },
    ]);
    writeFileSync(older, '');
    expect((await verify([older, file])).faults).toMatchObject([
      { file, line: 1, says: expect.stringContaining('is missing in the file before') },
    ]);
  });

  test('several processes whose file is moved away go on in the same new one', async () => {
    const file = temporaryLog();
    const older = `${file}.1`;
    const processes = await Promise.all([OtherProcess.start(file), OtherProcess.start(file)]);
    for (const each of processes) await each.record(entry());
    renameSync(file, older);
    for (const each of processes) {
      expect(await each.record(entry())).toMatchObject([{ why: expect.stringContaining('moved away') }]);
      expect(await each.record(entry())).toEqual([]);
    }
    for (const each of processes) await each.close();
    const { faults, notes, verifier } = await verify([older, file]);
    expect([...faults, ...notes]).toEqual([]);
    expect(verifier.files).toMatchObject([{ calls: 2 }, { calls: 4 }]);
  });

  describe('rotation by size', () => {
    const rotatedFiles = (file: string): string[] =>
      readdirSync(path.dirname(file))
        .filter((name) => name !== path.basename(file))
        .sort()
        .map((name) => path.join(path.dirname(file), name));
    const keys = (from: number, to: number): string[] =>
      Array.from({ length: to - from }, (_, index) => `order-${from + index}`);

    test('begins a new file that continues the old one, in which the chain is closed, and loses no line', async () => {
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

    test('keeps the newest files, and deletes nothing else', async () => {
      const file = temporaryLog();
      const others = [`${file}.1`, `${file}.gz`, path.join(path.dirname(file), 'other.log')];
      others.forEach((other) => writeFileSync(other, ''));
      const { log, faults } = openLog(file, { maxBytes: 10_000, keepFiles: 2 });
      keys(0, 100).forEach((key) => log.record(entry({ key })));
      await log.close();
      expect(others.filter((other) => !existsSync(other))).toEqual([]);
      const older = rotatedFiles(file).filter((name) => !others.includes(name));
      expect(older).toHaveLength(2);
      const kept = await verify([...older, file]);
      expect(kept.faults).toEqual([]);
      expect(kept.notes).toMatchObject([{ line: 1, says: expect.stringContaining('of an older file') }]);
      expect(callsOf(file).at(-1)).toMatchObject({ key: 'order-99' });
      // Each deletion is in the gateway's own log.
      const deleted = faults.flatMap(
        ({ why }) => (/deleted (.*)$/.exec(why)?.[1] ?? '').match(/audit\.log\S*Z-\w+/g) ?? [],
      );
      expect(deleted).toHaveLength(faults.length - 2);
    });

    test('by several processes that share the file loses no line', async () => {
      const file = temporaryLog();
      const processes = [
        await OtherProcess.start(file, undefined, 10_000),
        await OtherProcess.start(file, undefined, 10_000),
      ];
      for (let round = 0; round < 30; round += 1)
        for (const each of processes) await each.record(entry(), entry());
      for (const each of processes) await each.close();
      const files = [...rotatedFiles(file), file];
      expect(files.length).toBeGreaterThan(4);
      const { faults, notes, verifier } = await verify(files);
      expect([...faults, ...notes]).toEqual([]);
      expect(verifier.files.reduce((sum, { calls }) => sum + calls, 0)).toBe(120);
    });

    test('logs a failed rename and goes on in the old file', async () => {
      // With the time at its end the name is longer than a name can be.
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

  test('a file that was removed is told of, and made anew', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    log.record(entry({ key: 'lost' }));
    rmSync(file);
    log.record(entry({ key: 'kept' }));
    expect(faults).toEqual([{ why: expect.stringContaining('moved away or removed') }]);
    expect(callsOf(file)).toMatchObject([{ key: 'kept' }]);
    expect((await verify(file)).notes).toMatchObject([{ says: expect.stringContaining('older file') }]);
  });

  test('a folder in its place: calls go on, each is told of, and it is counted when the file is back', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    rmSync(file);
    mkdirSync(file);
    log.record(entry({ key: 'one' }));
    log.record(entry({ key: 'two' }));
    expect(faults).toEqual([
      { why: 'a call is not in the audit log (EISDIR: it is a folder)', entry: entry({ key: 'one' }) },
      { why: 'a call is not in the audit log (EISDIR: it is a folder)', entry: entry({ key: 'two' }) },
    ]);
    rmdirSync(file);
    log.record(entry({ key: 'three' }));
    log.record(entry({ key: 'four' }));
    await log.close();
    expect(faults.slice(2)).toEqual([{ why: expect.stringContaining('a new one was begun') }]);
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

  test('its folder removed: the folder is made again', () => {
    const folder = path.join(temporaryFolder(), 'data');
    const file = path.join(folder, 'audit.log');
    const { log, faults } = openLog(file);
    rmSync(folder, { recursive: true });
    log.record(entry());
    expect(callsOf(file)).toHaveLength(1);
    expect(faults.filter(({ entry: missed }) => missed)).toEqual([]);
  });

  test('what a fault tells of a call holds no card number', () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    rmSync(file);
    mkdirSync(file);
    log.record(entry({ key: '4111 1111 1111 1111' }));
    expect(faults).toMatchObject([{ entry: { key: '[hidden]' } }]);
  });

  test('one who hears of faults and fails himself does no harm; nor does a call that is none', () => {
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

  test('after closing, calls are told of and nothing is written; closing twice is closing', async () => {
    const file = temporaryLog();
    const { log, faults } = openLog(file);
    await log.close();
    const before = readFileSync(file);
    log.record(entry());
    await log.close();
    expect(faults).toMatchObject([
      { why: 'a call is not in the audit log (the audit log is closed)', entry: {} },
    ]);
    expect(readFileSync(file)).toEqual(before);
  });

  (existsSync('/proc/self/fd') ? test : test.skip)('no file stays open', async () => {
    const file = temporaryLog();
    const open = (): string[] =>
      readdirSync('/proc/self/fd').flatMap((fd) => {
        const target = readlinkIfAny(`/proc/self/fd/${fd}`);
        return target.startsWith(path.dirname(file)) ? [target] : [];
      });
    const { log } = openLog(file);
    for (let round = 0; round < 20; round += 1) {
      renameSync(file, `${file}.${round}`);
      log.record(entry());
    }
    expect(open()).toEqual([file]);
    await log.close();
    expect(open()).toEqual([]);
  });
});

const disk = mkdtempSync(path.join(tmpdir(), 'audit-disk-'));
const noDisk = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk]).status !== 0;

afterAll(() => {
  if (!noDisk) spawnSync('umount', ['--lazy', disk]);
  rmdirSync(disk);
});

/** Takes all the room that is left. */
function fillDisk(filler: string): void {
  for (let size = 1 << 16; size >= 1; size >>= 1) {
    try {
      writeFileSync(filler, Buffer.alloc(size), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

(noDisk ? describe.skip : describe)(
  noDisk ? 'a full disk (SKIPPED: no small disk can be mounted here; it needs root)' : 'a full disk',
  () => {
    test('calls go on and are told of; when there is room again the log goes on and is whole', async () => {
      const file = path.join(disk, 'audit.log');
      const filler = path.join(disk, 'filler');
      const { log, faults } = openLog(file);
      const { log: other, faults: othersFaults } = openLog(file);
      log.record(entry({ key: 'before' }));
      fillDisk(filler);
      // What is left of the last block is filled, too; a line is written by half.
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
      expect(() => open(file)).toThrow('AUDIT_LOG_FILE: the audit log cannot be written there (ENOSPC');
      expect((await verify(file)).faults).toEqual([]);

      rmSync(filler);
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
  },
);
