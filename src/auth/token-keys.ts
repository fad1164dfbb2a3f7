import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import type { Clock, Timer } from '../shared/clock';
import { decodeUtf8, parseJson } from '../shared/json-text';
import { AccessError } from './caller';

interface TokenKeysOptions {
  /** Where the key set is published. */
  jwksUrl: string;
  /** How long the last key set is used while no newer one can be loaded, in milliseconds. */
  maxStaleMs: number;
  clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  /** Receives a message when the key set could not be loaded; it holds no value. */
  warn(message: string): void;
}

/** A key set older than this is loaded again in the background when it is used. */
const REFRESH_MS = 30_000;
/** A key set older than this is not used before it has been tried to load it again. */
const MAX_UNCHECKED_MS = 60_000;
/** A token with an unknown key id causes a load at most this often. */
const COOLDOWN_MS = 30_000;
/** The pause after a failed load. */
const RETRY_MS = 5_000;
/** The time limit of a load. */
const LOAD_TIMEOUT_MS = 5_000;
/** How long tokens wait for a load, from its start on. */
const MAX_WAIT_MS = 1_000;
/** Far more than the keys of any issuer. */
const MAX_KEYS_BYTES = 1024 * 1024;

interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** RFC 7638 thumbprints of its keys. */
  thumbprints: ReadonlySet<string>;
  /** When the request for it was sent, in milliseconds since 1970. */
  requestedAt: number;
  /** The same moment by the monotonic clock. */
  requestedAtMonotonic: number;
}

interface Load {
  startedAt: number;
  done: Promise<void>;
}

/** The public keys of the issuer of tokens (JWKS, RFC 7517), kept up to date while they are used. */
export class TokenKeys {
  readonly #options: TokenKeysOptions;
  #keys: KeySet | undefined;
  #load: Load | undefined;
  #lastTry = { endedAt: -Infinity, failed: false };

  constructor(options: TokenKeysOptions) {
    this.#options = options;
    this.#loadUnless(0);
  }

  /**
   * Finds the key of a token.
   * @throws AccessError KEYS_UNAVAILABLE where no key set can be used; an error of jose where the set has no such key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#wait(this.#loadUnless(COOLDOWN_MS));
      if (this.#keys === keys || !this.#keys) throw error;
      return this.#keys.find(header, token);
    }
  };

  /** Whether a key, by its thumbprint, is in the key set in use. Starts a refresh that is due. */
  holds(thumbprint: string): boolean {
    if (this.#age() >= REFRESH_MS) this.#loadUnless(0);
    return this.#usable()?.thumbprints.has(thumbprint) ?? false;
  }

  async #current(): Promise<KeySet> {
    const age = this.#age();
    if (age >= REFRESH_MS) {
      const wasFailing = this.#lastTry.failed;
      const load = this.#loadUnless(0);
      // While the host is failing only those wait who cannot go on without it.
      if (!this.#usable() || (age >= MAX_UNCHECKED_MS && !wasFailing)) await this.#wait(load);
    }
    const keys = this.#usable();
    if (keys) return keys;
    throw new AccessError(
      'KEYS_UNAVAILABLE',
      'Tokens cannot be checked now; this request was not carried out. Repeat it unchanged.',
    );
  }

  /**
   * How old the key set is, by the monotonic clock: a clock that is set back does not make it younger, only too old to be
   * used unchecked. By the wall clock where that says more: the monotonic one may stand while the machine sleeps.
   */
  #age(): number {
    if (!this.#keys) return Infinity;
    const { clock } = this.#options;
    const byWall = clock.now() - this.#keys.requestedAt;
    const age = clock.monotonic() - this.#keys.requestedAtMonotonic;
    return Math.max(age, byWall < 0 ? MAX_UNCHECKED_MS : byWall);
  }

  #usable(): KeySet | undefined {
    return this.#age() < this.#options.maxStaleMs ? this.#keys : undefined;
  }

  /** The load under way, or a new one unless the last one ended less than so long ago; 0: the last failed one a moment ago. */
  #loadUnless(cooldownMs: number): Load | undefined {
    if (this.#load) return this.#load;
    const startedAt = this.#options.clock.now();
    const { endedAt, failed } = this.#lastTry;
    const since = startedAt - endedAt;
    if (since >= 0 && since < (failed ? RETRY_MS : cooldownMs)) return undefined;
    this.#load = { startedAt, done: this.#reload(startedAt) };
    return this.#load;
  }

  async #reload(requestedAt: number): Promise<void> {
    const { jwksUrl, clock, warn } = this.#options;
    const abort = new AbortController();
    const timer = clock.after(LOAD_TIMEOUT_MS, () => abort.abort());
    let failed = false;
    const requestedAtMonotonic = clock.monotonic();
    try {
      const published = await fetchKeys(jwksUrl, abort.signal);
      this.#keys = { ...(await keySetOf(published)), requestedAt, requestedAtMonotonic };
    } catch {
      failed = true;
      warn('the public keys of AUTH_JWKS_URL could not be loaded');
    } finally {
      timer.cancel();
      this.#lastTry = { endedAt: clock.now(), failed };
      this.#load = undefined;
    }
  }

  /** Waits for a load, no longer than until MAX_WAIT_MS after its start: a host that hangs holds nobody up. */
  async #wait(load: Load | undefined): Promise<void> {
    const { clock } = this.#options;
    const leftMs = load ? load.startedAt + MAX_WAIT_MS - clock.now() : 0;
    if (!load || leftMs <= 0) return;
    let timer: Timer | undefined;
    const timeUp = new Promise<void>((resolve) => {
      timer = clock.after(Math.min(leftMs, MAX_WAIT_MS), resolve);
    });
    await Promise.race([load.done, timeUp]);
    timer?.cancel();
  }
}

async function keySetOf(published: JSONWebKeySet): Promise<Pick<KeySet, 'find' | 'thumbprints'>> {
  const thumbprints = await Promise.all(
    published.keys.map((key) => calculateJwkThumbprint(key).catch(() => undefined)),
  );
  return {
    find: createLocalJWKSet(published),
    thumbprints: new Set(thumbprints.filter((thumbprint) => thumbprint !== undefined)),
  };
}

/** The key set at that address. Anything else that is there counts as a failure to load it. */
export async function fetchKeys(url: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const response = await fetch(url, { signal, headers, redirect: 'manual' });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const keys = parseJson(await readText(response)) as JSONWebKeySet;
  // Throws where it is not a key set.
  createLocalJWKSet(keys);
  return keys;
}

async function readText({ body }: Response): Promise<string> {
  const arriving: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of arriving) {
    size += chunk.length;
    if (size > MAX_KEYS_BYTES) throw new Error('The key set is too large.');
    chunks.push(chunk);
  }
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === undefined) throw new Error('The key set is not UTF-8.');
  return text;
}
