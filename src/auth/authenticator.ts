import type { Logger } from 'pino';
import type { Clock } from '../shared/clock';
import { ANYONE, AccessError, type Caller } from './caller';
import { ApiKeyStore, type ClientKey } from './client-keys';
import { JwtVerifier, type TokensOptions } from './tokens';
import { HotReloadedFile } from '../shared/hot-reloaded-file';

interface AuthenticatorOptions {
  /** Null: API keys are not accepted. */
  clientKeysFile: string | null;
  /** Null: tokens are not accepted. */
  tokens: Omit<TokensOptions, 'clock' | 'warn'> | null;
  clock: Pick<Clock, 'now' | 'monotonic' | 'after'>;
  log: Logger;
}

/** The minimum interval between two log lines about the same expired key. */
const LOG_EXPIRED_EVERY_MS = 60_000;

const BAD_KEY = 'The credentials are not accepted.';
const NONE = 'Credentials are required: Authorization: Bearer <key or token>.';

/** Authenticates callers by API key or token. */
export class Authenticator {
  readonly #keys: HotReloadedFile<ApiKeyStore> | undefined;
  readonly #tokens: JwtVerifier | undefined;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #log: Logger;
  /** By the SHA-256 of the key, because the file may be reloaded. */
  readonly #lastUses = new Map<string, number>();
  readonly #expiredLoggedAt = new Map<string, number>();

  /** Throws when the file of client keys is invalid. */
  constructor({ clientKeysFile, tokens, clock, log }: AuthenticatorOptions) {
    this.#clock = clock;
    this.#log = log;
    if (clientKeysFile !== null) {
      this.#keys = new HotReloadedFile({
        path: clientKeysFile,
        read: (text) => new ApiKeyStore(text),
        onReload: (event) =>
          event.taken
            ? log.info({ event: 'client_keys_reloaded' }, 'CLIENT_KEYS_FILE reloaded')
            : log.error(
                { event: 'client_keys_unusable', why: event.why },
                'CLIENT_KEYS_FILE changed and is invalid: the previous keys stay in force',
              ),
      });
    }
    if (tokens)
      this.#tokens = new JwtVerifier({
        ...tokens,
        clock,
        warn: (message) => log.warn({ event: 'token_keys_unavailable' }, message),
      });
  }

  /** Whether authentication is off. */
  get isOpen(): boolean {
    return !this.#keys && !this.#tokens;
  }

  /**
   * Authenticates a caller: synchronously for a key, asynchronously for a token.
   * @param authorization the Authorization header, or the same from the payload of connection_init
   * @throws AccessError when the credentials are missing or invalid
   */
  identify(authorization: string | undefined): Caller | Promise<Caller> {
    if (this.isOpen) return ANYONE;
    if (authorization === undefined || authorization === '') throw new AccessError('NO_CREDENTIALS', NONE);
    const [, credentials] = /^Bearer +([\x21-\x7e]{1,8192})$/i.exec(authorization) ?? [];
    if (credentials === undefined) throw new AccessError('BAD_CREDENTIALS', NONE);
    if (this.#tokens && JwtVerifier.isJwt(credentials)) return this.#tokens.verify(credentials);
    const key = this.#keys?.value.find(credentials);
    if (!key || this.#isExpired(key)) throw new AccessError('BAD_CREDENTIALS', BAD_KEY);
    this.#lastUses.set(key.caller.credential ?? '', this.#clock.now());
    return key.caller;
  }

  /** The client keys in use, for the metrics. */
  clientKeys() {
    return (this.#keys?.value.all ?? []).map(({ caller, label }) => ({
      client: caller.id.replace(/^service:/, ''),
      label,
      lastUsedAt: this.#lastUses.get(caller.credential ?? '') ?? null,
      expiresAt: caller.expiresAt,
    }));
  }

  #isExpired({ caller, label }: ClientKey): boolean {
    const now = this.#clock.now();
    if (caller.expiresAt === null || caller.expiresAt > now) return false;
    const { credential = '' } = caller;
    if (now - (this.#expiredLoggedAt.get(credential) ?? -Infinity) >= LOG_EXPIRED_EVERY_MS) {
      this.#expiredLoggedAt.set(credential, now);
      this.#log.warn(
        { event: 'client_key_expired', caller: caller.id, label },
        'expired client key rejected',
      );
    }
    return true;
  }

  /** Whether the credentials of an authenticated caller have neither expired nor been revoked or changed. */
  isCurrent(caller: Caller): boolean {
    if (caller.expiresAt !== null && caller.expiresAt <= this.#clock.now()) return false;
    if (caller.kind === 'frontend') return this.#tokens?.holds(caller) ?? false;
    return caller.kind !== 'service' || (this.#keys?.value.isStillValid(caller) ?? false);
  }

  close(): void {
    this.#keys?.close();
  }
}
