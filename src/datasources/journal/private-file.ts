import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

/** Only the gateway's own user reads the journal. SQLite gives -wal and -shm the mode of the file itself. */
const PRIVATE = 0o600;
/** Permission bits of all other users of the machine. */
const OTHERS = 0o007;

/**
 * Makes a SQLite file that only its owner can open, and gives that mode to one that every user of the machine can open,
 * which is how earlier versions made it. A mode without rights for others, such as 0640, stays. Does nothing where the file belongs to
 * another user: `paygraph doctor` reports it.
 * @param file a file that is there, or will be
 */
export function makePrivate(file: string): void {
  try {
    // Never opened where it is there: closing it would end the locks that SQLite holds on it in this process (fcntl).
    if (modeOf(file) === undefined) closeSync(openSync(file, 'a', PRIVATE));
    for (const path of [file, `${file}-wal`, `${file}-shm`])
      if (((modeOf(path) ?? 0) & OTHERS) !== 0) chmodSync(path, PRIVATE);
  } catch {
    // It belongs to another user, or cannot be made: SQLite reports whatever keeps it from working.
  }
}

const modeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.mode;
