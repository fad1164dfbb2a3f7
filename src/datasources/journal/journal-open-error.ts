import { statSync } from 'node:fs';
import path from 'node:path';
import { accessErrorCode, describeJournalError, journalErrorText } from './journal-error';

/** The journal cannot be opened. The message tells the operator why; for a wrong path, also what to correct. */
export class JournalOpenError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`DATABASE_URL: ${reason}.`, { cause });
    this.name = 'JournalOpenError';
  }
}

/** Returns an error with the reason why a SQLite file cannot be opened and, if its path is wrong, the remedy. */
export const fileOpenError = (file: string, error: unknown): JournalOpenError =>
  new JournalOpenError(
    describePathError(file) ?? `${file}: ${journalErrorText(describeJournalError(error))}`,
    error,
  );

/** Returns why a file cannot be written, and what to do; undefined if path and access rights are not the reason. */
export function describePathError(file: string): string | undefined {
  const folder = path.dirname(file);
  const parent = path.dirname(folder);
  if (fileTypeOf(file) === 'folder') return `${file} is a folder, not a file: add a file name to the path`;
  if (fileTypeOf(folder) === 'file') return `${folder} is a file, not a folder: correct the path (ENOTDIR)`;
  // The gateway creates the file's folder if it is missing, but no folder above that.
  const checkedFolder = fileTypeOf(folder) === 'folder' ? folder : parent;
  if (fileTypeOf(checkedFolder) === undefined)
    return `the folder ${parent} does not exist: create it for the user of the gateway, or correct the path`;
  const code = accessErrorCode(checkedFolder === folder ? file : folder);
  const [problem, remedy] = PATH_ERRORS[code ?? ''] ?? [];
  return problem && `${checkedFolder} ${problem} (${code}): ${remedy}`;
}

const CHANGE_OWNER_REMEDY =
  'make the user of the gateway the owner of the folder and of the files in it (chown)';

const PATH_ERRORS: Readonly<Record<string, [problem: string, remedy: string]>> = {
  EACCES: ['or a file in it cannot be written', CHANGE_OWNER_REMEDY],
  EPERM: ['or a file in it cannot be written', CHANGE_OWNER_REMEDY],
  EROFS: ['is on a read-only file system', 'mount it for writing, or choose another folder'],
  ENOTDIR: ['has a file instead of a folder in its path', 'correct the path'],
};

function fileTypeOf(target: string): 'folder' | 'file' | undefined {
  try {
    return statSync(target).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}
