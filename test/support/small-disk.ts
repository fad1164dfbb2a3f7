import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export interface SmallDisk {
  folder: string;
  /** A file that uses all free space; removing it frees the space. */
  filler: string;
  fill(): void;
  remount(options: string): void;
}

/** `describe` with a small mounted disk; skipped, with the reason in the title, if it cannot be mounted. */
export function describeSmallDisk(subject: string, size: string, define: (disk: SmallDisk) => void): void {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-disk-'));
  const mount = (...args: string[]): boolean => spawnSync('mount', args).status === 0;
  const isMounted = mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder);
  const filler = path.join(folder, 'filler');
  afterAll(() => {
    if (isMounted) spawnSync('umount', ['--lazy', folder]);
    rmdirSync(folder);
  });
  const disk: SmallDisk = {
    folder,
    filler,
    fill: () => {
      for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
        try {
          writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    },
    remount: (options) => {
      if (!mount('-o', `remount,${options}`, folder)) throw new Error(`remount,${options} failed`);
    },
  };
  if (isMounted) describe(subject, () => define(disk));
  else describe.skip(`${subject} (SKIPPED: mounting a disk needs root)`, () => define(disk));
}
