import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../json-text';
import { SCOPES, channelsOf, isScope, type Caller, type Scope } from './caller';

/** An entry of CLIENT_KEYS_FILE, checked. */
interface ClientKey {
  digest: Buffer;
  caller: Caller;
}

const ENTRY_FIELDS = ['id', 'keySha256', 'scopes', 'channels'];

const isText = (value: unknown): value is string => typeof value === 'string';

function scopesOf(value: unknown): Set<Scope> | undefined {
  return Array.isArray(value) && value.every(isText) && value.every(isScope) ? new Set(value) : undefined;
}

/** Reads one entry. Throws an Error that names the field and the rule, never a value. */
function readEntry(entry: unknown, place: number): ClientKey {
  const fault = (says: string): Error => new Error(`entry ${place + 1}: ${says}`);
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw fault('expected an object with id, keySha256, scopes and channels');
  const { id, keySha256, scopes, channels } = entry as Record<string, unknown>;
  if (!isText(id) || !/^[\w.-]{1,64}$/.test(id))
    throw fault('id: expected 1 to 64 letters, digits, dots, dashes or underscores');
  if (!isText(keySha256) || !/^[0-9a-f]{64}$/i.test(keySha256))
    throw fault('keySha256: expected the SHA-256 of the key as 64 hexadecimal digits');
  const granted = scopesOf(scopes);
  if (!granted) throw fault(`scopes: expected a list of scopes, of ${Object.keys(SCOPES).join(', ')}`);
  const usable = channelsOf(channels);
  if (!usable) throw fault('channels: expected ["*"] or a list of UUIDs');
  if (Object.keys(entry).some((name) => !ENTRY_FIELDS.includes(name)))
    throw fault('holds more than id, keySha256, scopes and channels');
  const caller: Caller = {
    kind: 'service',
    id: `service:${id}`,
    scopes: granted,
    channels: usable,
    credential: keySha256.toLowerCase(),
    expiresAt: null,
  };
  return { digest: Buffer.from(keySha256, 'hex'), caller };
}

/** The keys of internal services, of which only the SHA-256 is known. */
export class ClientKeys {
  readonly #keys: readonly ClientKey[];
  /** Of callers that were found before, whether they would be found now: asked for every second. */
  readonly #held = new WeakMap<Caller, boolean>();

  /** Reads the text of CLIENT_KEYS_FILE. Throws an Error that says what is wrong, or a SyntaxError where it is not JSON. */
  constructor(text: string) {
    const entries: unknown = parseJson(text);
    if (!Array.isArray(entries)) throw new Error('expected a JSON array of clients');
    this.#keys = entries.map(readEntry);
    const digests = this.#keys.map(({ digest }) => digest.toString('hex'));
    if (new Set(digests).size < digests.length) throw new Error('two entries have the same key');
  }

  /** Who has the key. Takes equally long whatever is presented. */
  find(key: string): Caller | undefined {
    const presented = sha256(key);
    return this.#keys.reduce<Caller | undefined>(
      (found, { digest, caller }) => (timingSafeEqual(digest, presented) ? caller : found),
      undefined,
    );
  }

  /** Whether a caller that was found before would be found now, with the same rights. */
  holds(caller: Caller): boolean {
    const known = this.#held.get(caller);
    if (known !== undefined) return known;
    const holds = this.#keys.some(
      ({ caller: now }) => now.credential === caller.credential && isSame(now, caller),
    );
    this.#held.set(caller, holds);
    return holds;
  }
}

const textOf = (set: '*' | ReadonlySet<string>): string => (set === '*' ? set : [...set].sort().join());

const isSame = (a: Caller, b: Caller): boolean =>
  a.id === b.id && textOf(a.scopes) === textOf(b.scopes) && textOf(a.channels) === textOf(b.channels);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** A new key of 256 random bits, and its entry for CLIENT_KEYS_FILE without the rights. */
export function newClientKey(id: string): { key: string; entry: { id: string; keySha256: string } } {
  const key = `pgk_${randomBytes(32).toString('base64url')}`;
  return { key, entry: { id, keySha256: sha256(key).toString('hex') } };
}
