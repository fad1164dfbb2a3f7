import { createHash } from 'node:crypto';
import { readFileSync, statSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorCode } from './error-code';
import { textOfFile } from './json-text';

interface HotReloadedFileOptions<T> {
  path: string;
  /**
   * Parses the file. Throws an Error whose message names the problem without secrets.
   * @param readReferenced reads another file, which is then watched too
   */
  read(text: string, readReferenced: (path: string) => string): T;
  /** Called after every reload; if it failed, the previous value stays. */
  onReload(event: { taken: true } | { taken: false; why: string }): void;
}

/** Polling also detects files that are replaced or remounted, as secrets are. */
const POLL_MS = 1000;
/** A changed file is read when it has not changed for this time: it may be half written. */
const STABLE_MS = 100;
/** Attempts to read files that change meanwhile. */
const MAX_ATTEMPTS = 5;

/** The state of a file before it was read, by path. */
type FileStats = Map<string, string>;

interface Reading<T> {
  stats: FileStats;
  /** The digest of all files; undefined if one could not be read. */
  digest: string | undefined;
  outcome: { value: T } | { error: unknown };
}

/** A file that is read at once, and again whenever it or a referenced file changes. */
export class HotReloadedFile<T> {
  readonly #options: HotReloadedFileOptions<T>;
  #reading: Reading<T>;
  #value: T;
  /** The state at the last poll, while the files are changing. */
  #changing: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  /** Throws if the file cannot be read or parsed. */
  constructor(options: HotReloadedFileOptions<T>) {
    this.#options = options;
    this.#reading = readStable(options);
    if ('error' in this.#reading.outcome) throw this.#reading.outcome.error;
    this.#value = this.#reading.outcome.value;
    this.#schedulePoll(POLL_MS);
  }

  /** The last valid value. */
  get value(): T {
    return this.#value;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedulePoll(ms: number): void {
    this.#timer = setTimeout(() => void this.#poll(), ms).unref();
  }

  async #poll(): Promise<void> {
    const { stats } = this.#reading;
    const current = (await Promise.all([...stats.keys()].map(readStats))).join();
    if (this.#closed) return;
    const changed = current !== [...stats.values()].join();
    const stable = current === this.#changing;
    this.#changing = changed && !stable ? current : undefined;
    if (changed && stable) this.#reload();
    this.#schedulePoll(changed && !stable ? STABLE_MS : POLL_MS);
  }

  #reload(): void {
    const before = this.#reading.digest;
    this.#reading = readStable(this.#options);
    const { digest, outcome } = this.#reading;
    if ('error' in outcome) {
      this.#options.onReload({ taken: false, why: describeFileError(outcome.error) });
    } else if (digest !== before) {
      this.#value = outcome.value;
      this.#options.onReload({ taken: true });
    }
  }
}

/** Reads until no file has changed meanwhile: related files are often replaced together. */
function readStable<T>(options: HotReloadedFileOptions<T>): Reading<T> {
  for (let attempt = 1; ; attempt += 1) {
    const reading = readOnce(options);
    const stable = [...reading.stats].every(([path, stats]) => stats === readStatsSync(path));
    if (stable || attempt === MAX_ATTEMPTS) return reading;
  }
}

function readOnce<T>({ path, read }: HotReloadedFileOptions<T>): Reading<T> {
  const stats: FileStats = new Map();
  const hash = createHash('sha256');
  const readFile = (file: string): string => {
    stats.set(file, readStatsSync(file));
    const bytes = readFileSync(file);
    hash.update(`${bytes.length}:`).update(bytes);
    return textOfFile(bytes);
  };
  try {
    const value = read(readFile(path), readFile);
    return { stats, digest: hash.digest('hex'), outcome: { value } };
  } catch (error) {
    return { stats, digest: undefined, outcome: { error } };
  }
}

const identity = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

function readStatsSync(path: string): string {
  try {
    return identity(statSync(path, { bigint: true }));
  } catch (error) {
    return errorCode(error);
  }
}

const readStats = (path: string): Promise<string> => stat(path, { bigint: true }).then(identity, errorCode);

/** Why a file could not be used, in words. The message of JSON.parse is not used, because it quotes the file. */
export function describeFileError(error: unknown): string {
  if (error instanceof SyntaxError) return 'it is not JSON';
  const code = errorCode(error);
  if (code !== 'unknown') return `it cannot be read (${code})`;
  return error instanceof Error ? error.message : 'it cannot be used';
}
