import { createHash } from 'node:crypto';
import { readFileSync, statSync, type BigIntStats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { errorCode } from './error-code';
import { decodeUtf8 } from './json-text';

interface HotReloadedFileOptions<T> {
  path: string;
  /**
   * Parses `text`, the content of the file. May read other files with `readReferencedFile`; these files are then
   * watched, too. If it throws an error, the message must contain no secrets, because the message is logged. Only a
   * SyntaxError may have any message, because describeFileError() omits it.
   */
  parse(text: string, readReferencedFile: (referencedPath: string) => string): T;
  /**
   * Called after a reload. If the reload failed, `isApplied` is false, and the old value stays. If the reload
   * succeeded, `isApplied` is true. Not called if the content is unchanged and the previous reload succeeded, too.
   */
  onReload(event: { isApplied: true } | { isApplied: false; why: string }): void;
}

/**
 * Interval in ms at which the files are polled for changes. Unlike fs.watch(), polling also detects replaced files and
 * remounted volumes.
 */
const POLL_INTERVAL_MS = 1000;
/** Time in ms for which a changed file must stay the same before it is read, because it may be half-written. */
const STABLE_FOR_MS = 100;
/** Maximum number of times that one reload reads the files. They are read again if one of them changed meanwhile. */
const MAX_READS_PER_RELOAD = 5;

interface ReadResult<T> {
  /**
   * The version of each file, by path, from a stat() before the read. If stat() failed, the version is the error code.
   */
  statVersionByPath: Map<string, string>;
  /** Digest of the contents of all files; undefined if a file could not be read or parsed. */
  digest: string | undefined;
  valueOrError: { value: T } | { error: unknown };
}

/** The parsed content of a file. The file is read again whenever it or a file that it references changes. */
export class HotReloadedFile<T> {
  #lastReadResult: ReadResult<T>;
  #value: T;
  /**
   * The versions that the last poll saw, if they differ from those in #lastReadResult; otherwise undefined. If the next
   * poll sees the same versions, the files are read again.
   */
  #changingVersionsText: string | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** Throws if the file cannot be read or parsed. */
  constructor(private readonly options: HotReloadedFileOptions<T>) {
    this.#lastReadResult = readUntilStable(options);
    if ('error' in this.#lastReadResult.valueOrError) throw this.#lastReadResult.valueOrError.error;
    this.#value = this.#lastReadResult.valueOrError.value;
    this.#schedulePoll(POLL_INTERVAL_MS);
  }

  /** The value from the last successful load. */
  get value(): T {
    return this.#value;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#pollTimer);
  }

  #schedulePoll(delayMs: number): void {
    this.#pollTimer = setTimeout(() => void this.#poll(), delayMs).unref();
  }

  async #poll(): Promise<void> {
    const { statVersionByPath } = this.#lastReadResult;
    const versionsText = (await Promise.all([...statVersionByPath.keys()].map(readStatVersion))).join();
    if (this.#isClosed) return;
    const hasChanged = versionsText !== [...statVersionByPath.values()].join();
    const isStable = versionsText === this.#changingVersionsText;
    this.#changingVersionsText = hasChanged && !isStable ? versionsText : undefined;
    if (hasChanged && isStable) this.#reload();
    this.#schedulePoll(hasChanged && !isStable ? STABLE_FOR_MS : POLL_INTERVAL_MS);
  }

  #reload(): void {
    const digestBefore = this.#lastReadResult.digest;
    this.#lastReadResult = readUntilStable(this.options);
    const { digest, valueOrError } = this.#lastReadResult;
    if ('error' in valueOrError) {
      this.options.onReload({ isApplied: false, why: describeFileError(valueOrError.error) });
    } else if (digest !== digestBefore) {
      this.#value = valueOrError.value;
      this.options.onReload({ isApplied: true });
    }
  }
}

/**
 * Reads all files. If a file changed meanwhile, reads all of them again, because their contents may belong together.
 * Reads at most MAX_READS_PER_RELOAD times.
 */
function readUntilStable<T>(options: HotReloadedFileOptions<T>): ReadResult<T> {
  for (let readCount = 1; ; readCount += 1) {
    const readResult = readOnce(options);
    const isStable = [...readResult.statVersionByPath].every(
      ([path, version]) => version === readStatVersionSync(path),
    );
    if (isStable || readCount === MAX_READS_PER_RELOAD) return readResult;
  }
}

function readOnce<T>({ path, parse }: HotReloadedFileOptions<T>): ReadResult<T> {
  const statVersionByPath = new Map<string, string>();
  const hash = createHash('sha256');
  const readFile = (filePath: string): string => {
    statVersionByPath.set(filePath, readStatVersionSync(filePath));
    const bytes = readFileSync(filePath);
    hash.update(`${bytes.length}:`).update(bytes);
    return decodeUtf8(bytes);
  };
  try {
    const value = parse(readFile(path), readFile);
    return { statVersionByPath, digest: hash.digest('hex'), valueOrError: { value } };
  } catch (error) {
    return { statVersionByPath, digest: undefined, valueOrError: { error } };
  }
}

const toStatVersion = ({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string =>
  [dev, ino, size, mtimeNs, ctimeNs].join(':');

function readStatVersionSync(path: string): string {
  try {
    return toStatVersion(statSync(path, { bigint: true }));
  } catch (error) {
    return errorCode(error);
  }
}

const readStatVersion = (path: string): Promise<string> =>
  stat(path, { bigint: true }).then(toStatVersion, errorCode);

/**
 * Describes why a file could not be used. For invalid JSON, omits JSON.parse()'s message, because it quotes the file.
 */
export function describeFileError(error: unknown): string {
  if (error instanceof SyntaxError) return 'the file is not JSON';
  const code = errorCode(error);
  if (code !== 'unknown') return `the file cannot be read (${code})`;
  return error instanceof Error ? error.message : 'the file cannot be used';
}
