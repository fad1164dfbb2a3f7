import { readdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';

/** When the file of the audit log is moved away, and how many such files are kept. */
export interface Rotation {
  /** The file is rotated before the first line that would be written behind so many bytes, or behind a tenth more. */
  maxBytes: number;
  /** Older rotated files are deleted; null: none is. */
  keepFiles: number | null;
}

/** The end of a rotated file's name: time and chain. Names sort by time, and no two processes choose the same. */
const ROTATED = /^\.\d{8}T\d{6}\.\d{3}Z-[0-9a-f]{8}$/;

/**
 * The size in bytes at which a process rotates the file: up to a tenth more than maxBytes, by its chain, so that processes
 * that share the file do not rotate it at the same moment.
 */
export const rotationSize = (maxBytes: number, chain: string): number =>
  maxBytes * (1 + parseInt(chain.slice(0, 4), 16) / 0xffff / 10);

/**
 * Moves the file away, to its own name and the time.
 * @param chain the chain that was closed in it
 * @returns the new name, without folder
 * @throws where the file cannot be renamed
 */
export function moveAway(file: string, chain: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, '');
  const rotated = `${file}.${time}-${chain.slice(0, 8)}`;
  renameSync(file, rotated);
  return path.basename(rotated);
}

/** The names of the files that were rotated, oldest first. Throws where their folder cannot be read. */
export function rotatedFiles(file: string): string[] {
  const name = path.basename(file);
  return readdirSync(path.dirname(file))
    .filter((other) => other.startsWith(name) && ROTATED.test(other.slice(name.length)))
    .sort();
}

/** Deletes the oldest rotated files beyond those that are kept. Returns their names. Throws where that cannot be done. */
export function deleteOldest(file: string, keepFiles: number): string[] {
  const folder = path.dirname(file);
  const rotated = rotatedFiles(file);
  const oldest = rotated.slice(0, Math.max(0, rotated.length - keepFiles));
  // Another process may delete the same one.
  oldest.forEach((other) => rmSync(path.join(folder, other), { force: true }));
  return oldest;
}
