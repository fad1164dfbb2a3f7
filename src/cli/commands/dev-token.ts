import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {
  SignJWT,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type CryptoKey,
  type JWK,
} from 'jose';
import { channelsOf, isScope, SCOPES } from '../../auth/caller';
import {
  DEV_AUDIENCE,
  DEV_ISSUER,
  DEV_JWKS_FILE,
  DEV_JWKS_PATH,
  DEV_KEY_FILE,
} from '../../shared/dev-issuer';
import { readToolConfig } from '../../config';
import { EXIT, InputError, type Context } from '../context';
import { readDuration } from '../duration';

interface DevTokenOptions {
  sub: string;
  /** Separated by blanks or commas. */
  scope: string;
  /** UUIDs separated by commas, or an asterisk. */
  channels: string;
  /** A lifetime such as 1h; negative for a token that has expired. */
  expiresIn: string;
}

const ALGORITHM = 'ES256';
/** The default of AUTH_MAX_TOKEN_LIFETIME_SECONDS. */
const MAX_LIFETIME_MS = 86_400_000;

interface SigningKey {
  kid: string;
  privateKey: CryptoKey;
}

/** Makes a private key that only this user can read. */
async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  const jwk = await exportJWK(privateKey);
  mkdirSync(path.dirname(DEV_KEY_FILE), { recursive: true, mode: 0o700 });
  writeFileSync(DEV_KEY_FILE, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: 'wx' });
  return jwk;
}

function writeJwks(jwk: JWK): void {
  const draft = `${DEV_JWKS_FILE}.${process.pid}.new`;
  writeFileSync(draft, `${JSON.stringify({ keys: [jwk] }, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, DEV_JWKS_FILE);
}

/** The private key, made at the first use, with its public half in DEV_JWKS_FILE. */
async function signingKey(): Promise<SigningKey> {
  try {
    const jwk = existsSync(DEV_KEY_FILE)
      ? (JSON.parse(readFileSync(DEV_KEY_FILE, 'utf8')) as JWK)
      : await makeKey();
    const privateKey = (await importJWK(jwk, ALGORITHM)) as CryptoKey;
    const kid = await calculateJwkThumbprint(jwk);
    const { kty, crv, x, y } = jwk;
    writeJwks({ kty, crv, x, y, kid, alg: ALGORITHM, use: 'sig' } as JWK);
    return { kid, privateKey };
  } catch (error) {
    const { code } = error as { code?: string };
    throw new InputError(
      `${DEV_KEY_FILE} cannot be used${code ? ` (${code})` : ''}. Remove data/dev-token: the command makes a new key.`,
    );
  }
}

/** The claims about the caller. Throws an InputError that names the option. */
function grants({ sub, scope, channels }: DevTokenOptions) {
  if (!/^[\x21-\x7e]{1,255}$/.test(sub))
    throw new InputError('--sub: expected 1 to 255 printable ASCII characters without blanks.');
  const scopes = scope.split(/[\s,]+/).filter((word) => word !== '');
  if (!scopes.every(isScope))
    throw new InputError(`--scope: expected scopes of ${Object.keys(SCOPES).join(', ')}.`);
  const list = channels.split(',').map((part) => part.trim());
  if (!channelsOf(list)) throw new InputError('--channels: expected * or UUIDs, separated by commas.');
  return { sub, scope: scopes.join(' '), channels: list };
}

/** `paygraph dev-token`. Throws an InputError where an option is wrong, or SERVICE_BASE_URL is set. */
export async function devToken({ terminal, env }: Context, options: DevTokenOptions): Promise<number> {
  const { serviceBaseUrl, sandboxPort } = readToolConfig(env);
  if (serviceBaseUrl !== null)
    throw new InputError('SERVICE_BASE_URL is set: these tokens are for the embedded sandbox only.');
  if (sandboxPort === 0) throw new InputError('SANDBOX_PORT: expected a port of its own, not 0.');
  const claims = grants(options);
  const lifetimeMs = readDuration('--expires-in', options.expiresIn);
  if (lifetimeMs > MAX_LIFETIME_MS)
    throw new InputError(
      '--expires-in: expected at most 24h, the longest lifetime that the gateway accepts.',
    );
  const now = Math.floor(Date.now() / 1000);
  const expiresAt = now + Math.floor(lifetimeMs / 1000);
  const { kid, privateKey } = await signingKey();
  const token = await new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'at+jwt', kid })
    .setIssuer(DEV_ISSUER)
    .setAudience(DEV_AUDIENCE)
    // Before its end, also where that is in the past, and no longer before it than the gateway accepts.
    .setIssuedAt(Math.min(now, expiresAt))
    .setExpirationTime(expiresAt)
    .sign(privateKey);
  terminal.say(`Start the gateway, with the embedded sandbox, in this folder with:

  AUTH_JWKS_URL=http://127.0.0.1:${sandboxPort}${DEV_JWKS_PATH}
  AUTH_ISSUER=${DEV_ISSUER}
  AUTH_AUDIENCE=${DEV_AUDIENCE}
`);
  terminal.print(token);
  return EXIT.done;
}
