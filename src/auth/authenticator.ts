import type { Logger } from 'pino';
import type { Clock } from '../shared/clock';
import { AccessError, UNAUTHENTICATED_CALLER, type Caller } from './caller';
import { ClientKeyStore, type ClientKey } from './client-keys';
import { JwtVerifier, type JwtVerifierOptions } from './tokens';
import { HotReloadedFile } from '../shared/hot-reloaded-file';

interface AuthenticatorOptions {
  /** Path of CLIENT_KEYS_FILE; null if client keys are not accepted. */
  clientKeysPath: string | null;
  /** Settings for tokens (JWT); null if tokens are not accepted. */
  jwtOptions: Omit<JwtVerifierOptions, 'clock' | 'log'> | null;
  clock: Clock;
  log: Logger;
}

const EXPIRED_KEY_LOG_INTERVAL_MS = 60_000;

const BAD_KEY_MESSAGE = 'The credentials are not accepted: they match no valid client key.';
const NO_BEARER_MESSAGE = 'Credentials are required in the form "Authorization: Bearer <key or token>".';

/** Authenticates callers by client key (API key) or token (JWT). */
export class Authenticator {
  readonly #clientKeysFile: HotReloadedFile<ClientKeyStore> | undefined;
  readonly #jwtVerifier: JwtVerifier | undefined;
  /**
   * Maps the SHA-256 of a client key to the time of its last use, in ms since 1970. Kept when CLIENT_KEYS_FILE is
   * reloaded.
   */
  readonly #lastUsedAtByKeyHash = new Map<string, number>();
  /** Maps the SHA-256 of an expired client key to the time of the last log line about it, in ms since 1970. */
  readonly #expiryLoggedAtByKeyHash = new Map<string, number>();

  /** Throws if CLIENT_KEYS_FILE cannot be read or is invalid. */
  constructor(private readonly options: AuthenticatorOptions) {
    const { clientKeysPath, jwtOptions, clock, log } = options;
    if (clientKeysPath !== null) {
      this.#clientKeysFile = new HotReloadedFile({
        path: clientKeysPath,
        parse: (fileText) => new ClientKeyStore(fileText),
        onReload: (reloadEvent) =>
          reloadEvent.isApplied
            ? log.info({ event: 'client_keys_reloaded' }, 'CLIENT_KEYS_FILE reloaded')
            : log.error(
                { event: 'client_keys_unusable', why: reloadEvent.why },
                'CLIENT_KEYS_FILE changed and cannot be used; the previous keys stay valid until it is corrected',
              ),
      });
    }
    if (jwtOptions) this.#jwtVerifier = new JwtVerifier({ ...jwtOptions, clock, log });
  }

  /** Whether authentication is off, because neither client keys nor tokens are configured. */
  get isDisabled(): boolean {
    return !this.#clientKeysFile && !this.#jwtVerifier;
  }

  /**
   * Returns the caller that the credentials identify: directly for a client key, as a promise for a token. If
   * authentication is off, returns UNAUTHENTICATED_CALLER.
   * @param authorization the Authorization header, or the field of this name in a WebSocket's connection_init payload
   * @throws AccessError if the credentials are missing or invalid, or if no public keys are available to verify a
   * token. If the error is about a token, the promise rejects with it.
   */
  authenticate(authorization: string | undefined): Caller | Promise<Caller> {
    if (this.isDisabled) return UNAUTHENTICATED_CALLER;
    if (authorization === undefined || authorization === '')
      throw new AccessError('NO_CREDENTIALS', NO_BEARER_MESSAGE);
    const [, credentials] = /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(authorization) ?? [];
    if (credentials === undefined) throw new AccessError('BAD_CREDENTIALS', NO_BEARER_MESSAGE);
    if (this.#jwtVerifier && JwtVerifier.isJwt(credentials)) return this.#jwtVerifier.verify(credentials);
    const clientKey = this.#clientKeysFile?.value.find(credentials);
    if (!clientKey || this.#isExpired(clientKey)) throw new AccessError('BAD_CREDENTIALS', BAD_KEY_MESSAGE);
    this.#lastUsedAtByKeyHash.set(clientKey.caller.authKeyHash ?? '', this.options.clock.now());
    return clientKey.caller;
  }

  /**
   * Returns the last use and the expiry of each client key for the metrics, including expired keys. Times are in ms
   * since 1970. `keyLastUsedAt` is null if the key has not been used since the gateway started. `expiresAt` is null if
   * the key does not expire.
   */
  clientKeyUsage() {
    return (this.#clientKeysFile?.value.allClientKeys ?? []).map(({ caller, label }) => ({
      client: caller.id.replace(/^service:/, ''),
      label,
      keyLastUsedAt: this.#lastUsedAtByKeyHash.get(caller.authKeyHash ?? '') ?? null,
      expiresAt: caller.expiresAt,
    }));
  }

  /** Whether a key has expired. If so, logs its use, at most once a minute for each key. */
  #isExpired({ caller, label }: ClientKey): boolean {
    const now = this.options.clock.now();
    if (caller.expiresAt === null || caller.expiresAt > now) return false;
    const { authKeyHash = '' } = caller;
    if (now - (this.#expiryLoggedAtByKeyHash.get(authKeyHash) ?? -Infinity) >= EXPIRED_KEY_LOG_INTERVAL_MS) {
      this.#expiryLoggedAtByKeyHash.set(authKeyHash, now);
      this.options.log.warn(
        { event: 'client_key_expired', caller: caller.id, label },
        'rejected a client key that has expired; the client needs a new key',
      );
    }
    return true;
  }

  /**
   * Whether the credentials that authenticated a caller are still accepted. False if
   * - the credentials have expired (unlike authenticate(), this check gives a token no leeway),
   * - the client key was removed, or its id, scopes, channels or expiry changed,
   * - the public key that verified the token is no longer in the issuer's key set, or that key set is too old.
   */
  areCredentialsStillValid(caller: Caller): boolean {
    if (caller.expiresAt !== null && caller.expiresAt <= this.options.clock.now()) return false;
    if (caller.kind === 'frontend')
      return this.#jwtVerifier?.issuerKeys.hasThumbprint(caller.authKeyHash ?? '') ?? false;
    return caller.kind !== 'service' || (this.#clientKeysFile?.value.isStillListed(caller) ?? false);
  }

  close(): void {
    this.#clientKeysFile?.close();
  }
}
