import { readFileSync } from 'node:fs';
import { importJWK, type JWK } from 'jose';
import { textOfFile } from '../../json-text';
import { ClientKeys } from '../../access/client-keys';
import { fetchKeys } from '../../access/token-keys';
import { ALGORITHMS } from '../../access/tokens';
import { faultOfFile } from '../../watched-file';
import { failed, ok, skipped, warning, wordOf, type Check, type Finding } from './check';

const LOADING_MS = 5_000;

/** Whether the file of client keys can be read and understood. Its keys do not expire; a change of keys that was not ended shows. */
export const clientKeys: Check = {
  name: 'client keys',
  run: ({ config }) => {
    const file = config.access.clientKeysFile;
    if (file === null) return [skipped('CLIENT_KEYS_FILE is not set: no caller has a key.')];
    try {
      const text = textOfFile(readFileSync(file));
      new ClientKeys(text);
      return judgeIds((JSON.parse(text) as { id: string }[]).map(({ id }) => id));
    } catch (error) {
      return [
        failed(
          `CLIENT_KEYS_FILE: ${faultOfFile(error)}.`,
          'docs/security.md says how the file looks, paygraph client-key new makes entries. A gateway that runs keeps the keys before; one that starts does not start.',
        ),
      ];
    }
  },
};

function judgeIds(ids: readonly string[]): Finding[] {
  const clients = new Set(ids);
  if (clients.size === 0)
    return [
      warning('CLIENT_KEYS_FILE holds no key.', 'paygraph client-key new <id> --file <file> adds one.'),
    ];
  const twice = [...clients].filter((id) => ids.indexOf(id) !== ids.lastIndexOf(id));
  const good = ok(`Keys of internal services: ${ids.length}, of ${clients.size} clients.`);
  if (twice.length === 0) return [good];
  const says = `Clients with several keys: ${twice.join(', ')}.`;
  return [
    good,
    warning(says, 'When the new key is in use, take the entry of the old one out of CLIENT_KEYS_FILE.'),
  ];
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
