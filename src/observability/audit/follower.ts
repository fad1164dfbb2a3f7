import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rotatedFileNames } from './rotation';

/** Maximum number of bytes that one call of AuditLogFollower.readNewLines() reads. */
const MAX_READ_BYTES = 1024 * 1024;

interface FollowedFile {
  fd: number;
  inode: number;
  /** Number of bytes that were read. */
  readOffset: number;
  /** Text that was read after the last line feed. */
  partialLine: string;
}

/** Reads an audit log while it grows, across rotations. Loses no line if rotated files are kept until they are read. */
export class AuditLogFollower {
  #currentFile: FollowedFile | undefined;

  constructor(private readonly auditPath: string) {}

  /** Returns the next complete lines, each with its line feed; '' if there are none yet. */
  readNewLines(): string {
    // Find the next file before reading the current one: once the next file has a line, the current one is complete.
    const nextPathAndInode = this.#findNextFile();
    const newLines = this.#currentFile ? readNextLines(this.#currentFile) : '';
    if (newLines !== '' || nextPathAndInode === undefined) return newLines;
    const [nextPath, inode] = nextPathAndInode;
    if (inode === undefined || inodeOf(nextPath) === undefined) return '';
    const fd = openSync(nextPath, 'r');
    if (fstatSync(fd).ino !== inode) {
      // A rotation has moved the found file meanwhile: a later call of readNewLines() searches again.
      closeSync(fd);
      return '';
    }
    this.close();
    this.#currentFile = { fd, inode, readOffset: 0, partialLine: '' };
    return readNextLines(this.#currentFile);
  }

  close(): void {
    if (this.#currentFile) closeSync(this.#currentFile.fd);
    this.#currentFile = undefined;
  }

  /**
   * Returns the file after the current one, or the newest file if there is no current one. Returns undefined if the
   * current file is the newest, or the newest is empty or missing. `inode` is undefined if the file was just deleted.
   */
  #findNextFile(): [path: string, inode: number | undefined] | undefined {
    const newestStats = statSync(this.auditPath, { throwIfNoEntry: false });
    if (!newestStats?.size || newestStats.ino === this.#currentFile?.inode) return undefined;
    const rotatedPaths = rotatedFileNames(this.auditPath).map((name) => join(dirname(this.auditPath), name));
    const currentIndex = rotatedPaths.map(inodeOf).indexOf(this.#currentFile?.inode);
    // If the current file was deleted (index -1), the oldest remaining file follows it.
    const nextPath = this.#currentFile && rotatedPaths[currentIndex + 1];
    return nextPath === undefined ? [this.auditPath, newestStats.ino] : [nextPath, inodeOf(nextPath)];
  }
}

const inodeOf = (filePath: string): number | undefined => statSync(filePath, { throwIfNoEntry: false })?.ino;

function readNextLines(followedFile: FollowedFile): string {
  const bytes = Buffer.alloc(
    Math.min(MAX_READ_BYTES, Math.max(0, fstatSync(followedFile.fd).size - followedFile.readOffset)),
  );
  if (bytes.length === 0) return '';
  const bytesRead = readSync(followedFile.fd, bytes, 0, bytes.length, followedFile.readOffset);
  followedFile.readOffset += bytesRead;
  const text = followedFile.partialLine + bytes.toString('latin1', 0, bytesRead);
  const endOfLines = text.lastIndexOf('\n') + 1;
  followedFile.partialLine = text.slice(endOfLines);
  return text.slice(0, endOfLines);
}
