import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { rotatedFileNames } from './rotation';

/** Maximum number of bytes that one call of AuditLogFollower.read() reads. */
const MAX_READ_BYTES = 1024 * 1024;

interface OpenFile {
  fd: number;
  inode: number;
  /** Number of bytes that were read. */
  position: number;
  /** Text that was read after the last line feed. */
  textAfterLastLineFeed: string;
}

/** Reads an audit log while it grows, across rotations. Loses no line if rotated files are kept until they are read. */
export class AuditLogFollower {
  #currentFile: OpenFile | undefined;

  constructor(private readonly file: string) {}

  /** Returns the next complete lines, each with its line feed; '' if there are none yet. */
  read(): string {
    // Find the next file before reading the current one: once the next file has a line, the current one is complete.
    const nextFile = this.#nextFile();
    const text = this.#currentFile ? readNextLines(this.#currentFile) : '';
    if (text !== '' || nextFile === undefined) return text;
    const [nextPath, inode] = nextFile;
    if (inode === undefined || inodeOf(nextPath) === undefined) return '';
    const fd = openSync(nextPath, 'r');
    if (fstatSync(fd).ino !== inode) {
      // A rotation has moved the found file meanwhile: a later call of read() searches again.
      closeSync(fd);
      return '';
    }
    this.close();
    this.#currentFile = { fd, inode, position: 0, textAfterLastLineFeed: '' };
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
  #nextFile(): [path: string, inode: number | undefined] | undefined {
    const newestStats = statSync(this.file, { throwIfNoEntry: false });
    if (!newestStats?.size || newestStats.ino === this.#currentFile?.inode) return undefined;
    const rotatedPaths = rotatedFileNames(this.file).map((name) => path.join(path.dirname(this.file), name));
    const currentIndex = rotatedPaths.map(inodeOf).indexOf(this.#currentFile?.inode);
    // If the current file was deleted (index -1), the oldest remaining file follows it.
    const nextPath = this.#currentFile && rotatedPaths[currentIndex + 1];
    return nextPath === undefined ? [this.file, newestStats.ino] : [nextPath, inodeOf(nextPath)];
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

function readNextLines(openFile: OpenFile): string {
  const bytes = Buffer.alloc(
    Math.min(MAX_READ_BYTES, Math.max(0, fstatSync(openFile.fd).size - openFile.position)),
  );
  if (bytes.length === 0) return '';
  const bytesRead = readSync(openFile.fd, bytes, 0, bytes.length, openFile.position);
  openFile.position += bytesRead;
  const text = openFile.textAfterLastLineFeed + bytes.toString('latin1', 0, bytesRead);
  const endOfLines = text.lastIndexOf('\n') + 1;
  openFile.textAfterLastLineFeed = text.slice(endOfLines);
  return text.slice(0, endOfLines);
}
