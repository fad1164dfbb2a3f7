import { statSync } from 'node:fs';
import path from 'node:path';
import { accessFault, faultOf, faultText } from './journal-error';

/** The journal cannot be opened, and trying again does not help. The message names DATABASE_URL and is for the operator. */
export class JournalOpenError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`DATABASE_URL: ${reason}.`, { cause });
    this.name = 'JournalOpenError';
  }
}

/** Describes why a SQLite file cannot be opened and what to do; names the folder. */
export function fileOpenError(file: string, error: unknown): JournalOpenError {
  return new JournalOpenError(`${placeFault(file) ?? `${file}: ${faultText(faultOf(error))}`}`, error);
}

/**
 * What is wrong with the place of a file that is written, in words for the operator and without a full stop; undefined where
 * the file can be written, or made there with the last folder of its path.
 */
export function placeFault(file: string): string | undefined {
  const folder = path.dirname(file);
  const above = path.dirname(folder);
  if (kindOf(file) === 'folder') return `${file} is a folder: name a file in it`;
  if (kindOf(folder) === 'file') return `${folder} is a file, not a folder: correct the path (ENOTDIR)`;
  // The gateway makes the last folder of the path itself.
  const place = kindOf(folder) === 'folder' ? folder : above;
  if (kindOf(place) === undefined)
    return `the folder ${above} does not exist: create it for the user of the gateway, or correct the path`;
  const code = accessFault(place === folder ? file : folder);
  const [what, mend] = PLACE_FAULTS[code ?? ''] ?? [];
  return what === undefined ? undefined : `${place} ${what} (${code}): ${mend}`;
}

const PLACE_FAULTS: Readonly<Record<string, [what: string, mend: string]>> = {
  EACCES: ['cannot be written, or a file in it', 'give both to the user of the gateway (chown)'],
  EPERM: ['cannot be written, or a file in it', 'give both to the user of the gateway (chown)'],
  EROFS: ['is on a read-only file system', 'mount it for writing, or name another folder'],
  ENOTDIR: ['is below a file', 'correct the path'],
};

function kindOf(place: string): 'folder' | 'file' | undefined {
  try {
    return statSync(place).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}
