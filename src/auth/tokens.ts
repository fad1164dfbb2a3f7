import {
  calculateJwkThumbprint,
  errors,
  jwtVerify,
  type CryptoKey,
  type JWTPayload,
  type JWTVerifyResult,
} from 'jose';
import type { Clock } from '../shared/clock';
import { parseJson } from '../shared/json-text';
import { AccessError, channelsOf, isScope, type Caller } from './caller';
import { TokenKeys } from './token-keys';

export interface TokensOptions {
  jwksUrl: string;
  issuer: string;
  audience: string;
  /** The maximum lifetime of a token, in seconds. */
  maxLifetimeSeconds: number;
  /** How long the last key set is used while it cannot be loaded again, in seconds. */
  maxStaleKeysSeconds: number;
  clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  /** Called when the public keys could not be loaded. */
  warn(message: string): void;
}

/** Asymmetric signatures only. */
export const ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const LEEWAY_SECONDS = 30;
const MAX_LENGTH = 8192;

/** Types of access tokens (RFC 7519, RFC 9068), in lower case; a type without a slash begins with application/. */
const TYPES = ['application/jwt', 'application/at+jwt'];

const badToken = (): AccessError =>
  new AccessError(
    'BAD_CREDENTIALS',
    'The token is not accepted: it has expired, or was not issued for this gateway.',
  );

/** A token with valid signature, issuer, audience and times, and the key that signed it. */
type Verified = Pick<JWTVerifyResult, 'payload' | 'protectedHeader'> & { key: CryptoKey };

/** Verifies the tokens (JWT, RFC 7519) of frontends with the public keys of their issuer. */
export class JwtVerifier {
  readonly #keys: TokenKeys;
  readonly #thumbprints = new WeakMap<CryptoKey, Promise<string>>();

  constructor(private readonly options: TokensOptions) {
    this.#keys = new TokenKeys({ ...options, maxStaleMs: options.maxStaleKeysSeconds * 1000 });
  }

  /** Whether a text has the form of a JWT. */
  static isJwt(text: string): boolean {
    return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
  }

  /** Returns the caller that a token was issued for. Throws an AccessError when it is invalid. */
  async verify(token: string): Promise<Caller> {
    if (token.length > MAX_LENGTH) throw badToken();
    const { payload, protectedHeader, key } = await this.#verify(token);
    if (hasDuplicateName(token) || !isAccessToken(protectedHeader.typ)) throw badToken();
    this.#checkLifetime(payload);
    const { issuer } = this.options;
    return callerOf(payload, { issuer, credential: await this.#thumbprintOf(key) });
  }

  /** Whether the key that signed the token of a caller is still in use. */
  holds({ credential }: Caller): boolean {
    return credential !== undefined && this.#keys.holds(credential);
  }

  async #verify(token: string): Promise<Verified> {
    const { issuer, audience, clock } = this.options;
    const rules = {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: LEEWAY_SECONDS,
      currentDate: new Date(clock.now()),
    };
    try {
      const { key, ...verified } = await jwtVerify(token, this.#keys.find, rules);
      // A shared secret, which no accepted algorithm uses.
      if (key instanceof Uint8Array) throw badToken();
      return { ...verified, key };
    } catch (error) {
      if (error instanceof AccessError) throw error;
      if (error instanceof errors.JWKSMultipleMatchingKeys) {
        for await (const key of error) {
          const verified = await jwtVerify(token, key, rules).catch(() => undefined);
          if (verified) return { ...verified, key };
        }
      }
      throw badToken();
    }
  }

  /** A token without iat counts as issued now. jose has checked that both are numbers. */
  #checkLifetime({ exp = Infinity, iat }: JWTPayload): void {
    const { clock, maxLifetimeSeconds } = this.options;
    const now = Math.floor(clock.now() / 1000);
    const isFromTheFuture = iat !== undefined && iat > now + LEEWAY_SECONDS;
    if (isFromTheFuture || exp - (iat ?? now) > maxLifetimeSeconds) throw badToken();
  }

  #thumbprintOf(key: CryptoKey): Promise<string> {
    const known = this.#thumbprints.get(key) ?? calculateJwkThumbprint(key);
    this.#thumbprints.set(key, known);
    return known;
  }
}

/** Whether the typ header, which is optional, allows an access token. */
function isAccessToken(type: unknown): boolean {
  if (type === undefined) return true;
  if (typeof type !== 'string') return false;
  return TYPES.includes((type.includes('/') ? type : `application/${type}`).toLowerCase());
}

/** Whether the header or the claims of a valid token have a duplicate name. */
function hasDuplicateName(token: string): boolean {
  try {
    for (const part of token.split('.', 2)) parseJson(Buffer.from(part, 'base64url').toString('utf8'));
    return false;
  } catch {
    return true;
  }
}

/** The caller by the claims `sub`, `scope` (separated by spaces) and `channels` (a list). Unknown scopes grant nothing. */
function callerOf(
  { sub, scope, channels, exp }: JWTPayload,
  { issuer, credential }: { issuer: string; credential: string },
): Caller {
  // A number or list would become the same id as its string form.
  if (typeof sub !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(sub)) throw badToken();
  return {
    kind: 'frontend',
    // A subject is unique within its issuer only (RFC 7519, 4.1.2). It holds no space.
    id: `frontend:${issuer} ${sub}`,
    scopes: new Set(typeof scope === 'string' ? scope.split(' ').filter(isScope) : []),
    channels: channelsOf(channels) ?? new Set(),
    credential,
    expiresAt: (exp ?? 0) * 1000,
  };
}
