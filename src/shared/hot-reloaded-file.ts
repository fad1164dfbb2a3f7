import { createHash } from 'node:crypto';
import { readFileSync, statSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { textOfFile } from './json-text';

interface WatchedFileOptions<T> {
  path: string;
  /**
   * Understands the text of the file; throws an Error whose message names what is wrong, and no secret.
   * @param beside reads another file that this one names; from then on it is watched too
   */
  read(text: string, beside: (path: string) => string): T;
  /** Hears of every later version: taken over, or refused, in which case the one before stays in force. */
  told(event: { taken: true } | { taken: false; why: string }): void;
}

/** How soon a change is noticed. Polling also sees files that are replaced or mounted anew, as secrets are. */
const LOOK_EVERY_MS = 1000;
/** What has changed is read when it has been still for so long: a file may be half written, or one of several. */
const STILL_MS = 100;
/** How often files that change while they are read are read again. */
const MAX_READINGS = 5;

/** What a file looked like just before it was read, by path: a change from then on shows. */
type FileStats = Map<string, string>;

interface Reading<T> {
  looks: FileStats;
  /** The digest of all that was read; undefined where not all of it could be. */
  digest: string | undefined;
  outcome: { value: T } | { fault: unknown };
}

/** A file that is read at once and again whenever it, or a file that it names, changes. */
export class HotReloadedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  #reading: Reading<T>;
  #value: T;
  /** What the files looked like at the last look, while they are changing. */
  #changing: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Throws when the file cannot be read or understood. */
  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
    this.#reading = readWhole(options);
    if ('fault' in this.#reading.outcome) throw this.#reading.outcome.fault;
    this.#value = this.#reading.outcome.value;
    this.#lookIn(LOOK_EVERY_MS);
  }

  /** What the file said when it was last right. */
  get value(): T {
    return this.#value;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #lookIn(ms: number): void {
    this.#timer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const { looks } = this.#reading;
    const seen = (await Promise.all([...looks.keys()].map(lookOf))).join();
    if (this.#closed) return;
    const changed = seen !== [...looks.values()].join();
    const still = seen === this.#changing;
    this.#changing = changed && !still ? seen : undefined;
    if (changed && still) this.#reload();
    this.#lookIn(changed && !still ? STILL_MS : LOOK_EVERY_MS);
  }

  #reload(): void {
    const before = this.#reading.digest;
    this.#reading = readWhole(this.#options);
    const { digest, outcome } = this.#reading;
    if ('fault' in outcome) {
      this.#options.told({ taken: false, why: describeFileError(outcome.fault) });
    } else if (digest !== before) {
      this.#value = outcome.value;
      this.#options.told({ taken: true });
    }
  }
}

/** Reads until nothing has changed meanwhile: files that belong together are often replaced together. */
function readWhole<T>(options: WatchedFileOptions<T>): Reading<T> {
  for (let readings = 1; ; readings += 1) {
    const reading = readOnce(options);
    const still = [...reading.looks].every(([path, look]) => look === lookNow(path));
    if (still || readings === MAX_READINGS) return reading;
  }
}

function readOnce<T>({ path, read }: WatchedFileOptions<T>): Reading<T> {
  const looks: FileStats = new Map();
  const hash = createHash('sha256');
  const take = (file: string): string => {
    looks.set(file, lookNow(file));
    const bytes = readFileSync(file);
    hash.update(`${bytes.length}:`).update(bytes);
    return textOfFile(bytes);
  };
  try {
    const value = read(take(path), take);
    return { looks, digest: hash.digest('hex'), outcome: { value } };
  } catch (fault) {
    return { looks, digest: undefined, outcome: { fault } };
  }
}

const describe = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

/** The system's word for why a file could not be read: ENOENT, EACCES, … */
export const systemWord = (error: unknown): string | undefined =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;

const noLook = (error: unknown): string => systemWord(error) ?? 'unknown';

function lookNow(path: string): string {
  try {
    return describe(statSync(path, { bigint: true }));
  } catch (error) {
    return noLook(error);
  }
}

const lookOf = (path: string): Promise<string> => stat(path, { bigint: true }).then(describe, noLook);

/** In words, why a file could not be used; JSON.parse's own message would quote it. */
export function describeFileError(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  const word = systemWord(error);
  if (word !== undefined) return `it cannot be read (${word})`;
  return error instanceof Error ? error.message : 'it cannot be used';
}
