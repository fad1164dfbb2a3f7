import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { rotatedFiles } from './rotation';

/** Maximum number of bytes of one reading. */
const CHUNK_BYTES = 1024 * 1024;
/** A file is read for so many more readings after its rotation: processes that share it close their chains in it later. */
const READINGS_AFTER_ROTATION = 1200;

interface Followed {
  fd: number;
  inode: number;
  position: number;
  /** The incomplete last line. */
  rest: string;
  /** Null while it is the file that is written to. */
  readingsLeft: number | null;
}

/** Reads an audit log as it grows, and goes on in the next file when it is rotated, so that no line is left out. */
export class Follower {
  readonly #file: string;
  /** Oldest first. */
  #followed: Followed[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  /** The lines that have been written since the last reading, each with its end; empty where there is none. */
  read(): string {
    this.#findFiles();
    let text = '';
    for (const one of this.#followed) {
      const chunk = readChunk(one);
      text += chunk;
      // Read the rest of this file before the lines of later files.
      if (chunk.length >= CHUNK_BYTES / 2) break;
    }
    this.#dropOld();
    return text;
  }

  close(): void {
    this.#followed.splice(0).forEach(({ fd }) => closeSync(fd));
  }

  /** Opens the file, and those that were rotated since the last reading. */
  #findFiles(): void {
    const inode = inodeOf(this.#file);
    const last = this.#followed.at(-1);
    if (inode === undefined || inode === last?.inode) return;
    if (last) {
      last.readingsLeft = READINGS_AFTER_ROTATION;
      const folder = path.dirname(this.#file);
      const rotated = rotatedFiles(this.#file).map((name) => path.join(folder, name));
      const place = rotated.findIndex((name) => inodeOf(name) === last.inode);
      // Files that came and went between two readings.
      if (place >= 0) rotated.slice(place + 1).forEach((name) => this.#open(name, READINGS_AFTER_ROTATION));
    }
    this.#open(this.#file, null);
  }

  #open(file: string, readingsLeft: number | null): void {
    const fd = openSync(file, 'r');
    const inode = fstatSync(fd).ino;
    // The file was rotated between looking and opening: it is the next one that was opened.
    if (this.#followed.some((one) => one.inode === inode)) closeSync(fd);
    else this.#followed.push({ fd, inode, position: 0, rest: '', readingsLeft });
  }

  #dropOld(): void {
    this.#followed = this.#followed.filter((one) => {
      if (one.readingsLeft === null) return true;
      one.readingsLeft -= 1;
      if (one.readingsLeft > 0) return true;
      closeSync(one.fd);
      return false;
    });
  }
}

const inodeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.ino;

/** The next complete lines of a file. */
function readChunk(one: Followed): string {
  const bytes = Buffer.alloc(Math.min(CHUNK_BYTES, Math.max(0, fstatSync(one.fd).size - one.position)));
  if (bytes.length === 0) return '';
  const read = readSync(one.fd, bytes, 0, bytes.length, one.position);
  one.position += read;
  const text = one.rest + bytes.toString('latin1', 0, read);
  const end = text.lastIndexOf('\n') + 1;
  one.rest = text.slice(end);
  return text.slice(0, end);
}
