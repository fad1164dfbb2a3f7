import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** Settings of the rotation of the audit log. */
export interface RotationSettings {
  /** File size in bytes at which the file is rotated before the next line is written. */
  maxBytes: number;
  /** Number of rotated files to keep; null to keep all. */
  keptFileCount: number | null;
}

/** Matches the suffix of a rotated file: time of the rotation, and start of the writer's id. Names sort by time. */
const ROTATED_SUFFIX_PATTERN = /^\.\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}$/;

/**
 * Renames a file: appends the current time and the first 8 digits of the writer's id to its name. Returns the new name
 * without the folder. Throws on failure.
 */
export function renameWithTime(auditPath: string, writerId: string): string {
  const pathAt = (timeMs: number): string =>
    `${auditPath}.${new Date(timeMs).toISOString().replace(/[-:]/g, '')}-${writerId.slice(0, 8)}`;
  let timeMs = Date.now();
  // Use a later time if the name is taken, because renaming would replace the file.
  while (existsSync(pathAt(timeMs))) timeMs += 1;
  const rotatedPath = pathAt(timeMs);
  renameSync(auditPath, rotatedPath);
  return path.basename(rotatedPath);
}

/** Returns the names of the rotated files, oldest first. Throws if the folder cannot be read. */
export function rotatedFileNames(auditPath: string): string[] {
  const logName = path.basename(auditPath);
  return readdirSync(path.dirname(auditPath))
    .filter((name) => name.startsWith(logName) && ROTATED_SUFFIX_PATTERN.test(name.slice(logName.length)))
    .sort();
}

/** Deletes all but the newest `keptFileCount` rotated files. Returns the deleted files' names. Throws on failure. */
export function deleteOldestFiles(auditPath: string, keptFileCount: number): string[] {
  const rotatedNames = rotatedFileNames(auditPath);
  const oldestNames = rotatedNames.slice(0, Math.max(0, rotatedNames.length - keptFileCount));
  oldestNames.forEach((fileName) => rmSync(path.join(path.dirname(auditPath), fileName), { force: true }));
  return oldestNames;
}
