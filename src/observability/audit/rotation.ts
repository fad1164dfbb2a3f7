import { readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** When the audit log is rotated, and how many rotated files are kept. */
export interface Rotation {
  /** Size in bytes from which on the file is rotated before the next line. */
  maxBytes: number;
  /** Null: all are kept. */
  keepFiles: number | null;
}

/** Suffix of a rotated file: time and writer. Names sort by time. */
const ROTATED = /^\.\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}$/;

/** Renames the file to its name with the time. Returns the new name without folder. Throws where that fails. */
export function moveAway(file: string, writer: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, '');
  const rotated = `${file}.${time}-${writer.slice(0, 8)}`;
  renameSync(file, rotated);
  return path.basename(rotated);
}

/** Names of the rotated files, oldest first. Throws where the folder cannot be read. */
export function rotatedFiles(file: string): string[] {
  const name = path.basename(file);
  return readdirSync(path.dirname(file))
    .filter((other) => other.startsWith(name) && ROTATED.test(other.slice(name.length)))
    .sort();
}

/** Deletes the oldest rotated files beyond those that are kept. Returns their names. Throws where that fails. */
export function deleteOldest(file: string, keepFiles: number): string[] {
  const rotated = rotatedFiles(file);
  const oldest = rotated.slice(0, Math.max(0, rotated.length - keepFiles));
  oldest.forEach((other) => rmSync(path.join(path.dirname(file), other), { force: true }));
  return oldest;
}
