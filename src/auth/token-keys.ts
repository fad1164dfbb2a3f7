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
  jwksUrl: string;
  /** How long the last key set is used while it cannot be loaded again, in milliseconds. */
  maxStaleMs: number;
  clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  /** Called when the key set could not be loaded. */
  warn(message: string): void;
}

/** The age at which a key set is refreshed in the background when it is used. */
const REFRESH_MS = 30_000;
/** The age from which a key set is used only after an attempt to refresh it. */
const MAX_UNCHECKED_MS = 60_000;
/** The minimum interval between two loads because of unknown key ids. */
const COOLDOWN_MS = 30_000;
/** The pause after a failed load. */
const RETRY_MS = 5_000;
const LOAD_TIMEOUT_MS = 5_000;
/** How long tokens wait for a load, from its start. */
const MAX_WAIT_MS = 1_000;
const MAX_KEYS_BYTES = 1024 * 1024;

interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** RFC 7638 thumbprints of its keys. */
  thumbprints: ReadonlySet<string>;
  /** When it was requested, in milliseconds since 1970. */
  requestedAt: number;
  requestedAtMonotonic: number;
}

interface Load {
  startedAt: number;
  done: Promise<void>;
}

/** The public keys of the issuer of tokens (JWKS, RFC 7517), refreshed while they are used. */
export class TokenKeys {
  #keys: KeySet | undefined;
  #load: Load | undefined;
  #lastLoad = { endedAt: -Infinity, failed: false };

  constructor(private readonly options: TokenKeysOptions) {
    this.#startLoad(0);
  }

  /**
   * Finds the key of a token.
   * @throws AccessError KEYS_UNAVAILABLE without a usable key set; an error of jose when the set has no such key
   */
  readonly find: JWTVerifyGetKey = async (header, token) => {
    const keys = await this.#current();
    try {
      return await keys.find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#wait(this.#startLoad(COOLDOWN_MS));
      if (this.#keys === keys || !this.#keys) throw error;
      return this.#keys.find(header, token);
    }
  };

  /** Whether a key, by its thumbprint, is in the key set in use. Starts a refresh that is due. */
  holds(thumbprint: string): boolean {
    if (this.#age() >= REFRESH_MS) this.#startLoad(0);
    return this.#usable()?.thumbprints.has(thumbprint) ?? false;
  }

  async #current(): Promise<KeySet> {
    const age = this.#age();
    if (age >= REFRESH_MS) {
      const wasFailing = this.#lastLoad.failed;
      const load = this.#startLoad(0);
      // While loads fail, only tokens that cannot be verified otherwise wait.
      if (!this.#usable() || (age >= MAX_UNCHECKED_MS && !wasFailing)) await this.#wait(load);
    }
    const keys = this.#usable();
    if (keys) return keys;
    throw new AccessError(
      'KEYS_UNAVAILABLE',
      'Tokens cannot be verified now; the request was not executed. Repeat it unchanged.',
    );
  }

  /** The age by the monotonic clock; by the wall clock when that is more, because the monotonic one may stop during sleep. */
  #age(): number {
    if (!this.#keys) return Infinity;
    const { clock } = this.options;
    const byWall = clock.now() - this.#keys.requestedAt;
    const age = clock.monotonic() - this.#keys.requestedAtMonotonic;
    // A clock that was set back: too old to be used unchecked.
    return Math.max(age, byWall < 0 ? MAX_UNCHECKED_MS : byWall);
  }

  #usable(): KeySet | undefined {
    return this.#age() < this.options.maxStaleMs ? this.#keys : undefined;
  }

  /** Returns the load in flight, or starts one unless the last one ended within the cooldown, or failed within RETRY_MS. */
  #startLoad(cooldownMs: number): Load | undefined {
    if (this.#load) return this.#load;
    const startedAt = this.options.clock.now();
    const { endedAt, failed } = this.#lastLoad;
    const since = startedAt - endedAt;
    if (since >= 0 && since < (failed ? RETRY_MS : cooldownMs)) return undefined;
    this.#load = { startedAt, done: this.#reload(startedAt) };
    return this.#load;
  }

  async #reload(requestedAt: number): Promise<void> {
    const { jwksUrl, clock, warn } = this.options;
    const abort = new AbortController();
    const timer = clock.after(LOAD_TIMEOUT_MS, () => abort.abort());
    let failed = false;
    const requestedAtMonotonic = clock.monotonic();
    try {
      const published = await fetchKeys(jwksUrl, abort.signal);
      const thumbprints = await thumbprintsOf(published);
      this.#keys = { find: createLocalJWKSet(published), thumbprints, requestedAt, requestedAtMonotonic };
    } catch {
      failed = true;
      warn('the public keys of AUTH_JWKS_URL could not be loaded');
    } finally {
      timer.cancel();
      this.#lastLoad = { endedAt: clock.now(), failed };
      this.#load = undefined;
    }
  }

  /** Waits for a load until MAX_WAIT_MS after its start. */
  async #wait(load: Load | undefined): Promise<void> {
    const { clock } = this.options;
    const leftMs = load ? load.startedAt + MAX_WAIT_MS - clock.now() : 0;
    if (!load || leftMs <= 0) return;
    let timer: Timer | undefined;
    const timedOut = new Promise<void>((resolve) => {
      timer = clock.after(Math.min(leftMs, MAX_WAIT_MS), resolve);
    });
    await Promise.race([load.done, timedOut]);
    timer?.cancel();
  }
}

async function thumbprintsOf({ keys }: JSONWebKeySet): Promise<ReadonlySet<string>> {
  const settled = await Promise.allSettled(keys.map((key) => calculateJwkThumbprint(key)));
  return new Set(settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
}

/** Loads a key set. Throws when the response is anything else. */
export async function fetchKeys(url: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const response = await fetch(url, { signal, headers, redirect: 'manual' });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const keys = parseJson(await readText(response)) as JSONWebKeySet;
  // Throws when it is not a key set.
  createLocalJWKSet(keys);
  return keys;
}

async function readText({ body }: Response): Promise<string> {
  const stream: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    if (size > MAX_KEYS_BYTES) throw new Error('The key set is too large.');
    chunks.push(chunk);
  }
  const text = decodeUtf8(Buffer.concat(chunks));
  if (text === undefined) throw new Error('The key set is not UTF-8.');
  return text;
}
