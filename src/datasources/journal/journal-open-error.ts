import { statSync } from 'node:fs';
import path from 'node:path';
import { accessErrorCode, classifyJournalError, journalErrorText } from './journal-error';

/** The journal cannot be opened. The message tells the operator why; for a wrong path, also what to correct. */
export class JournalOpenError extends Error {
  constructor(reasonText: string, cause?: unknown) {
    super(`DATABASE_URL: ${reasonText}.`, { cause });
    this.name = 'JournalOpenError';
  }
}

/** Returns an error with the reason why a SQLite file cannot be opened and, if its path is wrong, the remedy. */
export const createFileOpenError = (sqlitePath: string, openError: unknown): JournalOpenError =>
  new JournalOpenError(
    describePathError(sqlitePath) ?? `${sqlitePath}: ${journalErrorText(classifyJournalError(openError))}`,
    openError,
  );

/**
 * Checks the path and the access rights of a file that must be writable. Returns what is wrong and what to do;
 * undefined if the check finds nothing wrong.
 */
export function describePathError(filePath: string): string | undefined {
  const folder = path.dirname(filePath);
  const parentFolder = path.dirname(folder);
  if (fileTypeOf(filePath) === 'folder')
    return `${filePath} is a folder, not a file: add a file name to the path`;
  if (fileTypeOf(folder) === 'file') return `${folder} is a file, not a folder: correct the path (ENOTDIR)`;
  // The gateway creates the file's folder if it is missing, but no folder above that.
  const checkedFolder = fileTypeOf(folder) === 'folder' ? folder : parentFolder;
  if (fileTypeOf(checkedFolder) === undefined)
    return `the folder ${parentFolder} does not exist: create it for the user of the gateway, or correct the path`;
  const accessCode = accessErrorCode(checkedFolder === folder ? filePath : folder);
  const [problem, remedy] = PROBLEM_AND_REMEDY_BY_CODE[accessCode ?? ''] ?? [];
  return problem && `${checkedFolder} ${problem} (${accessCode}): ${remedy}`;
}

const CHANGE_OWNER_REMEDY =
  'make the user of the gateway the owner of the folder and of the files in it (chown)';

const PROBLEM_AND_REMEDY_BY_CODE: Readonly<Record<string, [problem: string, remedy: string]>> = {
  EACCES: ['or a file in it cannot be written', CHANGE_OWNER_REMEDY],
  EPERM: ['or a file in it cannot be written', CHANGE_OWNER_REMEDY],
  EROFS: ['is on a read-only file system', 'mount it for writing, or choose another folder'],
  ENOTDIR: ['has a file instead of a folder in its path', 'correct the path'],
};

function fileTypeOf(targetPath: string): 'folder' | 'file' | undefined {
  try {
    return statSync(targetPath).isDirectory() ? 'folder' : 'file';
  } catch {
    return undefined;
  }
}
