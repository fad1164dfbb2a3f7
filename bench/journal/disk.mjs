// Duration of a durable write on the disk of the journal's file.
import { Buffer } from 'node:buffer';
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';

const PAGE = Buffer.alloc(4096, 7);

function timed(work) {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

/** Opens probes of the disk of a folder. Each call makes one durable write and returns its duration in milliseconds. */
export function openDisk(folder) {
  const file = openSync(path.join(folder, 'append'), 'w');
  const database = new DatabaseSync(path.join(folder, 'commit.db'));
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE written (text TEXT)');
  const insert = database.prepare('INSERT INTO written VALUES (?)');
  const row = 'x'.repeat(500);
  return {
    append: () =>
      timed(() => {
        writeSync(file, PAGE);
        fdatasyncSync(file);
      }),
    commit: () => timed(() => insert.run(row)),
    close() {
      closeSync(file);
      database.close();
    },
  };
}
