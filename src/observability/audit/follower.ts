import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { rotatedFiles } from './rotation';

/** Maximum number of bytes read at once. */
const CHUNK_BYTES = 1024 * 1024;

interface OpenFile {
  fd: number;
  inode: number;
  position: number;
  /** The incomplete last line. */
  rest: string;
}

interface NextFile {
  name: string;
  inode: number | undefined;
}

/** Reads an audit log while it grows, and continues in the next file after a rotation without losing a line. */
export class Follower {
  readonly #path: string;
  #current: OpenFile | undefined;

  constructor(file: string) {
    this.#path = file;
  }

  /** The complete lines written since the last call, each with its line feed; empty where there are none. */
  read(): string {
    // Before the rest of the current file is read: once its successor has a line, nothing is added to it.
    const next = this.#nextFile();
    const text = this.#current ? readLines(this.#current) : '';
    if (text !== '' || next === undefined) return text;
    const opened = open(next);
    // Undefined where it was rotated or deleted meanwhile: the next call finds its successor.
    if (opened === undefined) return '';
    this.close();
    this.#current = opened;
    return readLines(opened);
  }

  close(): void {
    if (this.#current) closeSync(this.#current.fd);
    this.#current = undefined;
  }

  /** The file after the current one; undefined while there is none with a line. */
  #nextFile(): NextFile | undefined {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (!found?.size || found.ino === this.#current?.inode) return undefined;
    const rotated = rotatedFiles(this.#path).map((name) => path.join(path.dirname(this.#path), name));
    const place = rotated.findIndex((name) => inodeOf(name) === this.#current?.inode);
    const name = place < 0 ? undefined : rotated[place + 1];
    return name === undefined ? { name: this.#path, inode: found.ino } : { name, inode: inodeOf(name) };
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

/** Undefined where the name leads to another file by now. */
function open({ name, inode }: NextFile): OpenFile | undefined {
  if (inode === undefined || inodeOf(name) === undefined) return undefined;
  const fd = openSync(name, 'r');
  if (fstatSync(fd).ino === inode) return { fd, inode, position: 0, rest: '' };
  closeSync(fd);
  return undefined;
}

function readLines(file: OpenFile): string {
  const bytes = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(0, fstatSync(file.fd).size - file.position)));
  if (bytes.length === 0) return '';
  const read = readSync(file.fd, bytes, 0, bytes.length, file.position);
  file.position += read;
  const text = file.rest + bytes.toString('latin1', 0, read);
  const end = text.lastIndexOf('\n') + 1;
  file.rest = text.slice(end);
  return text.slice(0, end);
}
