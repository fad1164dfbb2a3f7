import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import { isScope, parseChannels, DESCRIPTION_BY_SCOPE } from '../../auth/caller';
import {
  DEV_AUDIENCE,
  DEV_ISSUER,
  DEV_JWKS_FILE_PATH,
  DEV_JWKS_URL_PATH,
  DEV_PRIVATE_KEY_FILE_PATH,
} from '../../shared/dev-issuer';
import { readCommandConfig } from '../../config';
import { InputError, type CommandContext } from '../context';
import { errorOrCauseCode } from '../../shared/error-code';
import { parseList, replaceFile } from '../options';

interface DevTokenOptions {
  sub: string;
  scope: string;
  channels: string;
  /** Lifetime of the token in ms; negative for a token that has expired. Default: 1 hour. */
  expiresIn?: number;
}

const SIGNING_ALGORITHM = 'ES256';
/** Maximum of --expires-in, in ms: the default of AUTH_MAX_TOKEN_LIFETIME_SECONDS. */
const MAX_TOKEN_LIFETIME_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Creates a private key and stores it in DEV_PRIVATE_KEY_FILE_PATH, readable only by this user. */
async function createSigningKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
  const privateJwk = await exportJWK(privateKey);
  mkdirSync(path.dirname(DEV_PRIVATE_KEY_FILE_PATH), { recursive: true, mode: 0o700 });
  writeFileSync(DEV_PRIVATE_KEY_FILE_PATH, `${JSON.stringify(privateJwk)}\n`, { mode: 0o600, flag: 'wx' });
  return privateJwk;
}

/** Reads the private key, or creates one. Writes its public key to DEV_JWKS_FILE_PATH. @throws InputError on failure */
async function prepareSigningKey() {
  try {
    const privateJwk = existsSync(DEV_PRIVATE_KEY_FILE_PATH)
      ? (JSON.parse(readFileSync(DEV_PRIVATE_KEY_FILE_PATH, 'utf8')) as JWK)
      : await createSigningKey();
    const privateKey = await importJWK(privateJwk, SIGNING_ALGORITHM);
    const kid = await calculateJwkThumbprint(privateJwk);
    const { kty, crv, x, y } = privateJwk;
    const publicKeys = [{ kty, crv, x, y, kid, alg: SIGNING_ALGORITHM, use: 'sig' }];
    replaceFile(DEV_JWKS_FILE_PATH, `${JSON.stringify({ keys: publicKeys }, null, 2)}\n`, 0o600);
    return { kid, privateKey };
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError(
      `${DEV_PRIVATE_KEY_FILE_PATH} cannot be used (${errorOrCauseCode(error)}). Remove data/dev-token to create a new key.`,
    );
  }
}

/** Returns the token's claims sub, scope and channels. @throws InputError if an option is invalid */
function claimsOf({ sub, scope, channels }: DevTokenOptions) {
  if (!/^[\x21-\x7e]{1,255}$/.test(sub))
    throw new InputError('--sub: expected 1 to 255 printable ASCII characters without spaces.');
  const scopes = scope.split(/[\s,]+/).filter((scopeName) => scopeName !== '');
  if (!scopes.every(isScope))
    throw new InputError(
      `--scope: unknown scope; expected some of ${Object.keys(DESCRIPTION_BY_SCOPE).join(', ')}.`,
    );
  const channelList = parseList(channels);
  if (!parseChannels(channelList))
    throw new InputError('--channels: expected *, or UUIDs separated by commas.');
  return { sub, scope: scopes.join(' '), channels: channelList };
}

/**
 * Runs `paygraph dev-token`. @throws InputError if an option or the key file cannot be used, or without the embedded
 * sandbox; ConfigError if a setting is invalid
 */
export async function createDevToken(
  { terminal, env }: CommandContext,
  options: DevTokenOptions,
): Promise<void> {
  const { serviceBaseUrl, sandboxPort } = readCommandConfig(env);
  if (serviceBaseUrl !== null)
    throw new InputError('Unset SERVICE_BASE_URL: these tokens are for the embedded sandbox only.');
  if (sandboxPort === 0) throw new InputError('SANDBOX_PORT: expected a fixed port, not 0.');
  const claims = claimsOf(options);
  const { expiresIn: lifetimeMs = HOUR_MS } = options;
  if (lifetimeMs > MAX_TOKEN_LIFETIME_MS)
    throw new InputError(
      '--expires-in: expected at most 24h. By default, gateways reject longer lifetimes (AUTH_MAX_TOKEN_LIFETIME_SECONDS).',
    );
  const nowSeconds = Math.floor(Date.now() / 1000);
  const expiresAtSeconds = nowSeconds + Math.floor(lifetimeMs / 1000);
  const { kid, privateKey } = await prepareSigningKey();
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: SIGNING_ALGORITHM, typ: 'at+jwt', kid })
    .setIssuer(DEV_ISSUER)
    .setAudience(DEV_AUDIENCE)
    // A negative --expires-in sets an expiry in the past. The time of issue must not be later than the expiry.
    .setIssuedAt(Math.min(nowSeconds, expiresAtSeconds))
    .setExpirationTime(expiresAtSeconds)
    .sign(privateKey);
  terminal.printMessage(`Start the gateway with the embedded sandbox in this folder with these settings:

  AUTH_JWKS_URL=http://127.0.0.1:${sandboxPort}${DEV_JWKS_URL_PATH}
  AUTH_ISSUER=${DEV_ISSUER}
  AUTH_AUDIENCE=${DEV_AUDIENCE}
`);
  terminal.print(token);
}
