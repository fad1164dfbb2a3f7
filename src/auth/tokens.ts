import { calculateJwkThumbprint, errors, jwtVerify, type CryptoKey, type JWTPayload } from 'jose';
import { parseStrictJson } from '../shared/json-text';
import { AccessError, parseChannels, isScope, type Caller } from './caller';
import { IssuerKeys, type IssuerKeysOptions } from './token-keys';

export interface JwtVerifierOptions extends IssuerKeysOptions {
  issuer: string;
  audience: string;
  /** Maximum lifetime of a token in seconds: from `iat`, or from its verification if it has no `iat`, to `exp`. */
  maxLifetimeSeconds: number;
}

/** Accepted values of the `alg` header (RFC 7518, RFC 8037). All are asymmetric signature algorithms. */
export const ACCEPTED_ALGORITHMS = ['RS256', 'ES256', 'EdDSA'];
const CLOCK_LEEWAY_SECONDS = 30;
const MAX_TOKEN_LENGTH = 8192;

/** Accepted values of the `typ` header (RFC 7519, RFC 9068). */
const ACCEPTED_TOKEN_TYPE_PATTERN = /^(application\/)?(at\+)?jwt$/i;

const invalidTokenError = (): AccessError =>
  new AccessError(
    'BAD_CREDENTIALS',
    'The token is not accepted: its signature, issuer, audience, times (exp, nbf, iat), type or subject is invalid.',
  );

/** Verifies the tokens (JWT, RFC 7519) of frontends with the public keys of the token issuer. */
export class JwtVerifier {
  readonly issuerKeys: IssuerKeys;
  readonly #thumbprintByKey = new WeakMap<CryptoKey, Promise<string>>();

  constructor(private readonly options: JwtVerifierOptions) {
    this.issuerKeys = new IssuerKeys(options);
  }

  /** Whether a text has the form of a JWT: three base64url parts separated by dots. The last part may be empty. */
  static isJwt(text: string): boolean {
    return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
  }

  /** Returns the caller of a token. Throws an AccessError if the token is invalid or no public keys are available. */
  async verify(token: string): Promise<Caller> {
    if (token.length > MAX_TOKEN_LENGTH) throw invalidTokenError();
    const { payload, protectedHeader, key } = await this.#verifySignatureAndClaims(token);
    if (hasDuplicateJsonKey(token) || !isAcceptedTokenType(protectedHeader.typ)) throw invalidTokenError();
    this.#checkLifetime(payload);
    return callerOf(payload, this.options.issuer, await this.#thumbprintOf(key));
  }

  async #verifySignatureAndClaims(token: string) {
    const { issuer, audience, clock } = this.options;
    const verifyOptions = {
      issuer,
      audience,
      algorithms: ACCEPTED_ALGORITHMS,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_LEEWAY_SECONDS,
      currentDate: new Date(clock.now()),
    };
    try {
      const { key, ...verified } = await jwtVerify(token, this.issuerKeys.find, verifyOptions);
      // A Uint8Array is a symmetric key, which no accepted algorithm uses.
      if (key instanceof Uint8Array) throw invalidTokenError();
      return { ...verified, key };
    } catch (error) {
      if (error instanceof AccessError) throw error;
      if (error instanceof errors.JWKSMultipleMatchingKeys) {
        for await (const key of error) {
          const verified = await jwtVerify(token, key, verifyOptions).catch(() => undefined);
          if (verified) return { ...verified, key };
        }
      }
      throw invalidTokenError();
    }
  }

  /**
   * Throws an AccessError if `iat` is in the future or the lifetime is too long. jose requires a number in `exp` and,
   * if present, in `iat`.
   */
  #checkLifetime({ exp = Infinity, iat }: JWTPayload): void {
    const { clock, maxLifetimeSeconds } = this.options;
    const nowSeconds = Math.floor(clock.now() / 1000);
    const isIssuedInFuture = iat !== undefined && iat > nowSeconds + CLOCK_LEEWAY_SECONDS;
    if (isIssuedInFuture || exp - (iat ?? nowSeconds) > maxLifetimeSeconds) throw invalidTokenError();
  }

  #thumbprintOf(key: CryptoKey): Promise<string> {
    const thumbprint = this.#thumbprintByKey.get(key) ?? calculateJwkThumbprint(key);
    this.#thumbprintByKey.set(key, thumbprint);
    return thumbprint;
  }
}

/** Whether a `typ` header is absent or accepted. Guards against JWTs issued for another purpose than access. */
const isAcceptedTokenType = (typ: unknown): boolean =>
  typ === undefined || (typeof typ === 'string' && ACCEPTED_TOKEN_TYPE_PATTERN.test(typ));

function hasDuplicateJsonKey(token: string): boolean {
  try {
    for (const part of token.split('.', 2)) parseStrictJson(Buffer.from(part, 'base64url').toString('utf8'));
    return false;
  } catch {
    return true;
  }
}

/**
 * Returns the caller that the claims of a token describe. Ignores unknown scopes. Grants no channels if `channels` is
 * missing or invalid. Throws an AccessError if `sub` is invalid.
 */
function callerOf({ sub, scope, channels, exp }: JWTPayload, issuer: string, keyThumbprint: string): Caller {
  // Reject a subject that is not a string: 1 and "1" would get the same caller id.
  if (typeof sub !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(sub)) throw invalidTokenError();
  return {
    kind: 'frontend',
    // A subject is unique only within its issuer (RFC 7519, 4.1.2), and has no spaces, so the id is unambiguous.
    id: `frontend:${issuer} ${sub}`,
    scopes: new Set(typeof scope === 'string' ? scope.split(' ').filter(isScope) : []),
    channels: parseChannels(channels) ?? new Set(),
    authKeyHash: keyThumbprint,
    expiresAt: (exp ?? 0) * 1000,
  };
}
