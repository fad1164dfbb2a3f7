import { importJWK, type JWK } from 'jose';
import { readTextFile } from '../../shared/json-text';
import { ClientKeyStore, type ClientKey } from '../../auth/client-keys';
import { describeJwksError, fetchJwks } from '../../auth/token-keys';
import { ACCEPTED_ALGORITHMS } from '../../auth/tokens';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { findingOf, type CheckContext, type Finding } from './check';

const JWKS_TIMEOUT_MS = 5_000;
const KEY_EXPIRY_WARNING_MS = 14 * 24 * 60 * 60 * 1000;

/** Checks that CLIENT_KEYS_FILE is valid and has keys. Reports keys that have expired or expire soon. */
export function checkClientKeys({ config, now }: CheckContext): Finding[] {
  const keysPath = config.access.clientKeysFile;
  if (keysPath === null) return [findingOf.skipped('CLIENT_KEYS_FILE is not set: no caller has a key.')];
  try {
    return checkKeyExpiry(new ClientKeyStore(readTextFile(keysPath)).allClientKeys, now());
  } catch (error) {
    return [findingOf.failed('client_keys_invalid', `CLIENT_KEYS_FILE: ${describeFileError(error)}.`)];
  }
}

function checkKeyExpiry(clientKeys: readonly ClientKey[], now: number): Finding[] {
  if (clientKeys.length === 0) return [findingOf.warning('no_keys', 'CLIENT_KEYS_FILE contains no keys.')];
  const expiryMsOf = ({ caller }: ClientKey): number => caller.expiresAt ?? Infinity;
  const describeKeys = (selectedKeys: readonly ClientKey[]): string =>
    selectedKeys.map(({ caller, label }) => `${caller.id.replace(/^service:/, '')} (${label})`).join(', ');
  const expiredKeys = clientKeys.filter((clientKey) => expiryMsOf(clientKey) <= now);
  const expiringKeys = clientKeys.filter(
    (clientKey) => expiryMsOf(clientKey) > now && expiryMsOf(clientKey) <= now + KEY_EXPIRY_WARNING_MS,
  );
  const findings = [findingOf.ok(`CLIENT_KEYS_FILE has ${clientKeys.length} keys.`)];
  if (expiredKeys.length > 0)
    findings.push(findingOf.warning('key_expired', `Expired keys: ${describeKeys(expiredKeys)}.`));
  if (expiringKeys.length > 0)
    findings.push(
      findingOf.warning('key_expires', `Keys that expire within 14 days: ${describeKeys(expiringKeys)}.`),
    );
  return findings;
}

/** Checks that the public keys of the token issuer can be loaded and that the gateway can use at least one of them. */
export async function checkTokenKeys({ config }: CheckContext): Promise<Finding[]> {
  const { jwtOptions } = config.access;
  if (jwtOptions === null) return [findingOf.skipped('AUTH_JWKS_URL is not set: tokens are not accepted.')];
  try {
    const { keys } = await fetchJwks(jwtOptions.jwksUrl, AbortSignal.timeout(JWKS_TIMEOUT_MS));
    const usableKeyCount = (await Promise.all(keys.map(isUsableJwk))).filter(Boolean).length;
    if (usableKeyCount > 0)
      return [findingOf.ok(`AUTH_JWKS_URL: ${usableKeyCount} of ${keys.length} keys are usable.`)];
    return [findingOf.failed('token_keys_unusable', `AUTH_JWKS_URL: none of ${keys.length} keys is usable.`)];
  } catch (error) {
    const message = `The public keys at AUTH_JWKS_URL cannot be loaded (${describeJwksError(error)}).`;
    return [findingOf.failed('token_keys_unavailable', message)];
  }
}

async function isUsableJwk(jwk: JWK): Promise<boolean> {
  if (jwk.kty === 'oct' || (jwk.use !== undefined && jwk.use !== 'sig')) return false;
  const algorithms = ACCEPTED_ALGORITHMS.filter(
    (algorithm) => jwk.alg === undefined || jwk.alg === algorithm,
  );
  const importResults = await Promise.allSettled(algorithms.map((algorithm) => importJWK(jwk, algorithm)));
  return importResults.some(({ status }) => status === 'fulfilled');
}
