import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  jwtVerify,
  type JSONWebKeySet,
  type JWTPayload,
} from 'jose';
import type { Clock } from '../clock';
import { parseJson } from '../json-text';
import { AccessError, isScope, type Caller } from './caller';

interface TokensOptions {
  jwksUrl: string;
  issuer: string;
  audience: string;
  clock: Pick<Clock, 'now'>;
  /** Hears when the public keys could not be loaded; without any value. */
  warn(message: string): void;
}

/** Signatures by a private key only: a token signed with a shared or a public key as secret is no token. */
export const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const LEEWAY_SECONDS = 30;
const MAX_LENGTH = 8192;

/** So often the public keys are loaded anew, so that a withdrawn one is soon forgotten. Until then the old ones serve. */
const REFRESH_MS = 5 * 60_000;
/** A token with an unknown key may make the keys be loaded again, but not more often than this. */
const COOLDOWN_MS = 30_000;
/** After a failed try the next one waits at least as long. */
const RETRY_MS = 5_000;
const LOADING_MS = 5_000;
/** Far more than the keys of any issuer. */
const MAX_KEYS_BYTES = 1024 * 1024;

const BAD_TOKEN = 'The token is not accepted: it has expired, or was not made for this gateway.';

/** Checks the tokens (JWT, RFC 7519) of frontends against the public keys of their issuer. */
export class Tokens {
  readonly #options: TokensOptions;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  readonly #refreshing: NodeJS.Timeout;
  #failedAt = -Infinity;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#keys = createRemoteJWKSet(new URL(options.jwksUrl), {
      // Keys are never too old to serve: an issuer that is down for a while locks nobody out.
      cacheMaxAge: Infinity,
      cooldownDuration: COOLDOWN_MS,
      timeoutDuration: LOADING_MS,
      [customFetch]: (url, init) => this.#load(url, init),
    });
    this.#refreshing = setInterval(() => void this.#refresh(), REFRESH_MS).unref();
    void this.#refresh();
  }

  /** Whether a text has the shape of a token. */
  static looksLike(text: string): boolean {
    return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
  }

  /** Who the token was made for. Throws an AccessError where it is not good. */
  async check(token: string): Promise<Caller> {
    if (token.length > MAX_LENGTH) throw new AccessError('BAD_CREDENTIALS', BAD_TOKEN);
    return callerOf(await this.#verify(token));
  }

  close(): void {
    clearInterval(this.#refreshing);
  }

  async #verify(token: string): Promise<JWTPayload> {
    const { issuer, audience, clock } = this.#options;
    const rules = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(clock.now()),
    };
    try {
      return (await jwtVerify(token, this.#keys, rules)).payload;
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) {
        for await (const key of error) {
          const verified = await jwtVerify(token, key, rules).catch(() => undefined);
          if (verified) return verified.payload;
        }
      }
      throw this.#keys.jwks() || isAboutTheToken(error)
        ? new AccessError('BAD_CREDENTIALS', BAD_TOKEN)
        : new AccessError('KEYS_UNAVAILABLE', 'Tokens cannot be checked now: ask again in a moment.');
    }
  }

  /** Keeps a host that is down, or tokens with invented keys, from making many requests. */
  async #load(url: string, init: object): Promise<Response> {
    const { clock, warn } = this.#options;
    if (clock.now() - this.#failedAt < RETRY_MS) throw new Error('The last try has just failed.');
    try {
      return Response.json(await fetchKeys(url, init));
    } catch (error) {
      this.#failedAt = clock.now();
      warn('the public keys of AUTH_JWKS_URL could not be loaded');
      throw error;
    }
  }

  async #refresh(): Promise<void> {
    await this.#keys.reload().catch(() => undefined);
  }
}

/** The public keys at that address. Whatever else is there counts as a failure to load them. */
export async function fetchKeys(url: string, init: object): Promise<JSONWebKeySet> {
  const response = await fetch(url, init);
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const keys = parseJson(await readText(response)) as JSONWebKeySet;
  // Throws where it is no set of keys.
  createLocalJWKSet(keys);
  return keys;
}

async function readText({ body }: Response): Promise<string> {
  const arriving: AsyncIterable<Uint8Array> | Uint8Array[] = body ?? [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of arriving) {
    size += chunk.length;
    if (size > MAX_KEYS_BYTES) throw new Error('The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether a token is bad by itself, whatever keys there are. */
const isAboutTheToken = (error: unknown): boolean =>
  error instanceof errors.JWSInvalid ||
  error instanceof errors.JWTInvalid ||
  error instanceof errors.JOSEAlgNotAllowed ||
  error instanceof errors.JWTClaimValidationFailed;

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');

/** What the claims grant: `scope` (separated by blanks), `channels` (a list) and `sub`. What is not understood grants nothing. */
function callerOf({ sub, scope, channels, exp }: JWTPayload): Caller {
  // A number or a list would name the same caller as the text that it is printed as.
  if (typeof sub !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(sub))
    throw new AccessError('BAD_CREDENTIALS', BAD_TOKEN);
  const names = isTexts(channels) ? channels : [];
  return {
    kind: 'frontend',
    id: `frontend:${sub}`,
    scopes: new Set(typeof scope === 'string' ? scope.split(' ').filter(isScope) : []),
    channels: names.includes('*') ? '*' : new Set(names.map((name) => name.toLowerCase())),
    expiresAt: (exp ?? 0) * 1000,
  };
}
