import { readFileSync } from 'node:fs';
import { importJWK, type JWK } from 'jose';
import { textOfFile } from '../../shared/json-text';
import { ApiKeyStore, type ClientKey } from '../../auth/client-keys';
import { fetchKeys } from '../../auth/token-keys';
import { ALGORITHMS } from '../../auth/tokens';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { failed, ok, skipped, warning, wordOf, type Check, type Finding } from './check';

const LOADING_MS = 5_000;

/** Whether the file of client keys can be read and understood; keys that expire soon, and rotations that were not ended, show. */
export const clientKeys: Check = {
  name: 'client keys',
  run: ({ config, now }) => {
    const file = config.access.clientKeysFile;
    if (file === null) return [skipped('CLIENT_KEYS_FILE is not set: no caller has a key.')];
    try {
      return judgeKeysOfClients(new ApiKeyStore(textOfFile(readFileSync(file))).all, now());
    } catch (error) {
      return [
        failed(
          `CLIENT_KEYS_FILE: ${describeFileError(error)}.`,
          'docs/security.md says how the file looks, paygraph client-key new makes entries. A gateway that runs keeps the keys before; one that starts does not start.',
        ),
      ];
    }
  },
};

/** How long before its expiry a key is reported. */
const EXPIRY_WARNING_MS = 14 * 24 * 60 * 60 * 1000;

const clientOf = ({ caller }: ClientKey): string => caller.id.replace(/^service:/, '');
const named = (keys: readonly ClientKey[]): string =>
  keys.map((key) => `${clientOf(key)} (${key.label})`).join(', ');

function judgeKeysOfClients(keys: readonly ClientKey[], now: number): Finding[] {
  const clients = new Set(keys.map(clientOf));
  if (clients.size === 0)
    return [
      warning('CLIENT_KEYS_FILE holds no key.', 'paygraph client-key new <id> --file <file> adds one.'),
    ];
  const endsBy = (time: number) => keys.filter(({ caller }) => (caller.expiresAt ?? Infinity) <= time);
  const expired = endsBy(now);
  const expiring = endsBy(now + EXPIRY_WARNING_MS).filter((key) => !expired.includes(key));
  const unlimited = keys.filter(({ caller }) => caller.expiresAt === null).map(clientOf);
  const twice = [...clients].filter((id) => unlimited.indexOf(id) !== unlimited.lastIndexOf(id));
  const findings = [
    ok(`Keys of internal services: ${keys.length}, of ${clients.size} clients.`),
    expired.length > 0 &&
      warning(
        `Keys that have expired: ${named(expired)}.`,
        'paygraph client-key revoke takes them out of the file; rotate makes a new one.',
      ),
    expiring.length > 0 &&
      warning(
        `Keys that expire within 14 days: ${named(expiring)}.`,
        'paygraph client-key rotate makes another key of the client; hand it over before then.',
      ),
    twice.length > 0 &&
      warning(
        `Clients with several keys that do not expire: ${twice.join(', ')}.`,
        'When the new key is in use, take the old one out of the file: paygraph client-key revoke.',
      ),
  ];
  return findings.filter((finding) => finding !== false);
}

/** Whether the public keys of the issuer of tokens can be loaded, and one of them is of use. */
export const tokenKeys: Check = {
  name: 'token keys',
  run: async ({ config }) => {
    const { tokens } = config.access;
    if (tokens === null) return [skipped('AUTH_JWKS_URL is not set: tokens are not accepted.')];
    try {
      const { keys } = await fetchKeys(tokens.jwksUrl, AbortSignal.timeout(LOADING_MS));
      const usable = (await Promise.all(keys.map(isUsable))).filter(Boolean).length;
      return [judgeKeys(usable, keys.length)];
    } catch (error) {
      return [
        failed(
          `The public keys at AUTH_JWKS_URL cannot be loaded (${whyNot(error)}).`,
          'Check the address and that this machine reaches the identity provider. Until then no token is accepted by a gateway that starts; one that runs keeps the keys before.',
        ),
      ];
    }
  },
};

const whyNot = (error: unknown): string => {
  if (error instanceof SyntaxError) return 'no JSON';
  if (error instanceof Error && /^status \d{3}$/.test(error.message)) return error.message;
  return error instanceof Error && error.name === 'TimeoutError' ? 'TIMEOUT' : wordOf(error);
};

function judgeKeys(usable: number, all: number): Finding {
  if (usable > 0)
    return ok(`Public keys at AUTH_JWKS_URL that tokens can be checked with: ${usable} of ${all}.`);
  return failed(
    `None of the ${all} public keys at AUTH_JWKS_URL can be used.`,
    `Have the issuer sign with one of ${ALGORITHMS.join(', ')}.`,
  );
}

/** What a key signs with where it does not say so itself. */
const ALGORITHM_OF: Readonly<Record<string, string>> = {
  RSA: 'RS256',
  'EC P-256': 'ES256',
  'OKP Ed25519': 'EdDSA',
};

async function isUsable(key: JWK): Promise<boolean> {
  const alg = ALGORITHM_OF[[key.kty, key.crv].filter(Boolean).join(' ')];
  const isForIt =
    alg !== undefined && [alg, undefined].includes(key.alg) && ['sig', undefined].includes(key.use);
  return (
    isForIt &&
    importJWK(key, alg).then(
      () => true,
      () => false,
    )
  );
}
