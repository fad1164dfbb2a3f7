import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose';
import type { Logger } from 'pino';
import type { Clock } from '../shared/clock';
import { errorOrCauseCode } from '../shared/error-code';
import { decodeUtf8, StrictJsonError, parseStrictJson } from '../shared/json-text';
import { TimeoutError, withTimeout } from '../shared/timeout';
import { AccessError } from './caller';

export interface IssuerKeysOptions {
  jwksUrl: string;
  /** Maximum age in seconds of a key set that is used because no newer one can be loaded. */
  maxStaleKeysSeconds: number;
  clock: Clock;
  log: Logger;
}

/** Age of the key set, in ms, from which each use of the key set starts a refresh in the background. */
const BACKGROUND_REFRESH_AGE_MS = 30_000;
/**
 * Age of the key set, in ms, from which the verification of a token waits for a refresh. If the last load failed, the
 * verification does not wait, but uses the old key set up to the age of `maxStaleKeysSeconds`.
 */
const BLOCKING_REFRESH_AGE_MS = 60_000;
/** Time in ms after a successful load during which a token with an unknown key causes no other load. */
const UNKNOWN_KEY_COOLDOWN_MS = 30_000;
/** Time in ms after a failed load during which no other load starts. */
const FAILURE_COOLDOWN_MS = 5_000;
const LOAD_TIMEOUT_MS = 5_000;
/** Maximum time in ms, from the start of a load, for which the verification of a token waits for the load. */
const MAX_LOAD_WAIT_MS = 1_000;
const MAX_JWKS_BYTES = 1024 * 1024;

interface KeySet {
  find: ReturnType<typeof createLocalJWKSet>;
  /** RFC 7638 thumbprints of the keys. A key of an unsupported type has no thumbprint. */
  thumbprints: ReadonlySet<string>;
  /** When the request for this key set began, in ms since 1970. */
  requestedAt: number;
  /** When the request for this key set began, in ms by the monotonic clock. */
  requestedAtMonotonic: number;
}

/**
 * Holds the public keys of the token issuer (JWKS, RFC 7517). Loads the key set at start. Loads it again when it is
 * used at an age of BACKGROUND_REFRESH_AGE_MS or more, or when a token has an unknown key.
 */
export class IssuerKeys {
  #keySet: KeySet | undefined;
  /** Set while a load is in flight. Resolves when the load ends, but at most MAX_LOAD_WAIT_MS after its start. */
  #loadInFlight: Promise<void> | undefined;
  #lastLoad = { endedAt: -Infinity, hasFailed: false };

  constructor(private readonly options: IssuerKeysOptions) {
    void this.#startLoad(0);
  }

  /**
   * Finds the public key for a token. If no key matches, loads the key set again and repeats the search, unless the
   * last load was too recent.
   * @throws AccessError (KEYS_UNAVAILABLE) if no key set is usable; an error of jose if no key or several keys match
   */
  readonly find: JWTVerifyGetKey = async (header, jws) => {
    const keySet = await this.#currentKeySet();
    try {
      return await keySet.find(header, jws);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      await this.#startLoad(UNKNOWN_KEY_COOLDOWN_MS);
      if (this.#keySet === keySet || !this.#keySet) throw error;
      return this.#keySet.find(header, jws);
    }
  };

  /**
   * Whether the key set has a key with this RFC 7638 thumbprint; false if the key set is not loaded or too old. If the
   * age of the key set is at least BACKGROUND_REFRESH_AGE_MS, starts a refresh in the background, but not within
   * FAILURE_COOLDOWN_MS after a failed load.
   */
  hasThumbprint(thumbprint: string): boolean {
    if (this.#keySetAgeMs() >= BACKGROUND_REFRESH_AGE_MS) void this.#startLoad(0);
    return this.#usableKeySet()?.thumbprints.has(thumbprint) ?? false;
  }

  async #currentKeySet(): Promise<KeySet> {
    const ageMs = this.#keySetAgeMs();
    if (ageMs >= BACKGROUND_REFRESH_AGE_MS) {
      const hadFailed = this.#lastLoad.hasFailed;
      const loadPromise = this.#startLoad(0);
      // If the last load failed, do not wait for the next load while the key set is usable.
      if (!this.#usableKeySet() || (ageMs >= BLOCKING_REFRESH_AGE_MS && !hadFailed)) await loadPromise;
    }
    const keySet = this.#usableKeySet();
    if (keySet) return keySet;
    throw new AccessError(
      'KEYS_UNAVAILABLE',
      'Tokens cannot be verified now; the request was not executed. Repeat it unchanged.',
    );
  }

  /**
   * Returns the age of the key set in ms; Infinity if no key set is loaded. Uses the clock that shows the greater age,
   * because the wall clock may be set back, and the monotonic clock may stop.
   */
  #keySetAgeMs(): number {
    if (!this.#keySet) return Infinity;
    const { clock } = this.options;
    const wallClockAgeMs = clock.now() - this.#keySet.requestedAt;
    const monotonicAgeMs = clock.monotonic() - this.#keySet.requestedAtMonotonic;
    // If the wall clock was set back, the age is unknown: assume that a refresh is overdue.
    return Math.max(monotonicAgeMs, wallClockAgeMs < 0 ? BLOCKING_REFRESH_AGE_MS : wallClockAgeMs);
  }

  #usableKeySet(): KeySet | undefined {
    return this.#keySetAgeMs() < this.options.maxStaleKeysSeconds * 1000 ? this.#keySet : undefined;
  }

  /**
   * Starts a load unless one is in flight. Returns #loadInFlight, or undefined if the last load ended too recently.
   * @param cooldownMs minimum time in ms since the last load; after a failed load FAILURE_COOLDOWN_MS is used instead
   */
  #startLoad(cooldownMs: number): Promise<void> | undefined {
    if (this.#loadInFlight) return this.#loadInFlight;
    const { clock } = this.options;
    const { endedAt, hasFailed } = this.#lastLoad;
    const sinceLoadMs = clock.now() - endedAt;
    if (sinceLoadMs >= 0 && sinceLoadMs < (hasFailed ? FAILURE_COOLDOWN_MS : cooldownMs)) return undefined;
    this.#loadInFlight = withTimeout(MAX_LOAD_WAIT_MS, this.#reload(), clock).catch(() => undefined);
    return this.#loadInFlight;
  }

  async #reload(): Promise<void> {
    const { jwksUrl, clock, log } = this.options;
    const abortController = new AbortController();
    const timer = clock.after(LOAD_TIMEOUT_MS, () => abortController.abort(new TimeoutError()));
    let hasFailed = false;
    const requestedAt = clock.now();
    const requestedAtMonotonic = clock.monotonic();
    try {
      const jwks = await fetchJwks(jwksUrl, abortController.signal);
      const thumbprints = await thumbprintsOf(jwks);
      this.#keySet = { find: createLocalJWKSet(jwks), thumbprints, requestedAt, requestedAtMonotonic };
    } catch (error) {
      hasFailed = true;
      const errorText = describeJwksError(error);
      log.warn(
        { event: 'token_keys_unavailable' },
        `could not load the public keys of the token issuer (${errorText}): check AUTH_JWKS_URL; tokens are rejected while there is no key set younger than AUTH_MAX_STALE_KEYS_SECONDS`,
      );
    } finally {
      timer.cancel();
      this.#lastLoad = { endedAt: clock.now(), hasFailed };
      this.#loadInFlight = undefined;
    }
  }
}

async function thumbprintsOf({ keys }: JSONWebKeySet): Promise<ReadonlySet<string>> {
  const results = await Promise.allSettled(keys.map((key) => calculateJwkThumbprint(key)));
  return new Set(results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
}

/** Error for a response that is not a usable key set. The message contains no text from the response. */
class JwksError extends Error {}

/** Loads a key set. Throws if the request fails or the response is not a key set of at most 1 MiB. */
export async function fetchJwks(url: string, signal: AbortSignal): Promise<JSONWebKeySet> {
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const response = await fetch(url, { signal, headers, redirect: 'manual' });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new JwksError(`HTTP status ${response.status}`);
  }
  const jwks = parseStrictJson(await readBodyText(response)) as JSONWebKeySet;
  // createLocalJWKSet() throws if `jwks` is not a key set.
  createLocalJWKSet(jwks);
  return jwks;
}

async function readBodyText({ body }: Response): Promise<string> {
  const stream: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let byteCount = 0;
  for await (const chunk of stream) {
    byteCount += chunk.length;
    if (byteCount > MAX_JWKS_BYTES) throw new JwksError('larger than 1 MiB');
    chunks.push(chunk);
  }
  return decodeUtf8(Buffer.concat(chunks));
}

/** Describes an error of fetchJwks() for the log, without text from the URL or the response. */
export function describeJwksError(error: unknown): string {
  if (error instanceof SyntaxError) return 'not JSON';
  return error instanceof JwksError || error instanceof StrictJsonError
    ? error.message
    : errorOrCauseCode(error);
}
