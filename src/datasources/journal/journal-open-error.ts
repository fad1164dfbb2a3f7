import { statSync } from 'node:fs';
import path from 'node:path';
import { accessErrorCode, describeJournalError, journalErrorText } from './journal-error';

/** The journal cannot be opened, and retrying does not help. The message is for the operator. */
export class JournalOpenError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`DATABASE_URL: ${reason}.`, { cause });
    this.name = 'JournalOpenError';
  }
}

/** Describes why a SQLite file cannot be opened, and the remedy. */
export const fileOpenError = (file: string, error: unknown): JournalOpenError =>
  new JournalOpenError(
    describePathError(file) ?? `${file}: ${journalErrorText(describeJournalError(error))}`,
    error,
  );

/** Why a file cannot be written or created, without a full stop; undefined when it can. */
export function describePathError(file: string): string | undefined {
  const folder = path.dirname(file);
  const above = path.dirname(folder);
  if (kindOf(file) === 'folder') return `${file} is a folder: name a file in it`;
  if (kindOf(folder) === 'file') return `${folder} is a file, not a folder: correct the path (ENOTDIR)`;
  // The gateway creates the last folder of the path.
  const place = kindOf(folder) === 'folder' ? folder : above;
  if (kindOf(place) === undefined)
    return `the folder ${above} does not exist: create it for the user of the gateway, or correct the path`;
  const code = accessErrorCode(place === folder ? file : folder);
  const [problem, remedy] = PATH_ERRORS[code ?? ''] ?? [];
  return problem && `${place} ${problem} (${code}): ${remedy}`;
}

const PATH_ERRORS: Readonly<Record<string, [problem: string, remedy: string]>> = {
  EACCES: ['or a file in it cannot be written', 'give both to the user of the gateway (chown)'],
  EPERM: ['or a file in it cannot be written', 'give both to the user of the gateway (chown)'],
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
