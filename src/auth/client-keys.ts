import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../shared/json-text';
import { SCOPES, channelsOf, isScope, type Caller, type Scope } from './caller';

/** An entry of CLIENT_KEYS_FILE, checked. */
export interface ClientKey {
  digest: Buffer;
  /** Its expiresAt is that of the key. */
  caller: Caller;
  /** Names the key among those of its client: 1 to 64 characters. Without a label in the file, the digest's first 8 digits. */
  label: string;
  /** In milliseconds since 1970; null where the file does not say. */
  createdAt: number | null;
}

const REQUIRED_FIELDS = ['id', 'keySha256', 'scopes', 'channels'];
const ENTRY_FIELDS = [...REQUIRED_FIELDS, 'label', 'createdAt', 'expiresAt'];

/** The form of client ids and of labels. */
const NAME = /^[\w.-]{1,64}$/;
const NAME_RULE = 'expected 1 to 64 letters, digits, dots, dashes or underscores';

/** A point in time with its offset (RFC 3339). */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const isText = (value: unknown): value is string => typeof value === 'string';

function scopesOf(value: unknown): Set<Scope> | undefined {
  return Array.isArray(value) && value.every(isText) && value.every(isScope) ? new Set(value) : undefined;
}

/** A time in milliseconds since 1970; null where there is none. Undefined for anything else. */
function timeOf(value: unknown): number | null | undefined {
  if (value === undefined) return null;
  const time = isText(value) && TIME.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Reads one entry. Throws an Error that names the field and the rule, never a value. */
function readEntry(entry: unknown, place: number): ClientKey {
  const fault = (says: string): Error => new Error(`entry ${place + 1}: ${says}`);
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    throw fault('expected an object with id, keySha256, scopes and channels');
  const { id, keySha256, scopes, channels, label, ...times } = entry as Record<string, unknown>;
  if (!isText(id) || !NAME.test(id)) throw fault(`id: ${NAME_RULE}`);
  if (!isText(keySha256) || !/^[0-9a-f]{64}$/i.test(keySha256))
    throw fault('keySha256: expected the SHA-256 of the key as 64 hexadecimal digits');
  const granted = scopesOf(scopes);
  if (!granted) throw fault(`scopes: expected a list of scopes, of ${Object.keys(SCOPES).join(', ')}`);
  const usable = channelsOf(channels);
  if (!usable) throw fault('channels: expected ["*"] or a list of UUIDs');
  if (label !== undefined && (!isText(label) || !NAME.test(label))) throw fault(`label: ${NAME_RULE}`);
  const [createdAt, expiresAt] = ['createdAt', 'expiresAt'].map((name) => {
    const time = timeOf(times[name]);
    if (time === undefined) throw fault(`${name}: expected a time such as 2027-01-31T12:00:00Z`);
    return time;
  });
  if (Object.keys(entry).some((name) => !ENTRY_FIELDS.includes(name)))
    throw fault(`holds more than ${ENTRY_FIELDS.join(', ')}`);
  const caller: Caller = {
    kind: 'service',
    id: `service:${id}`,
    scopes: granted,
    channels: usable,
    credential: keySha256.toLowerCase(),
    expiresAt: expiresAt ?? null,
  };
  const digest = Buffer.from(keySha256, 'hex');
  return { digest, caller, label: label ?? defaultLabel(digest), createdAt: createdAt ?? null };
}

const defaultLabel = (digest: Buffer): string => digest.toString('hex', 0, 4);

/** The keys of internal services, of which only the SHA-256 is known. */
export class ApiKeyStore {
  /** In the order of the file. */
  readonly all: readonly ClientKey[];
  /** Of callers that were found before, whether they would be found now: asked for every second. */
  readonly #held = new WeakMap<Caller, boolean>();

  /** Reads the text of CLIENT_KEYS_FILE. Throws an Error that says what is wrong, or a SyntaxError where it is not JSON. */
  constructor(text: string) {
    const entries: unknown = parseJson(text);
    if (!Array.isArray(entries)) throw new Error('expected a JSON array of clients');
    this.all = entries.map(readEntry);
    const digests = this.all.map(({ digest }) => digest.toString('hex'));
    if (new Set(digests).size < digests.length) throw new Error('two entries have the same key');
    const names = this.all.map(({ caller, label }) => `${caller.id} ${label}`);
    if (new Set(names).size < names.length) throw new Error('two keys of a client have the same label');
  }

  /** The entry of a key, also of an expired one. Takes equally long whatever is presented. */
  find(key: string): ClientKey | undefined {
    const presented = sha256(key);
    return this.all.reduce<ClientKey | undefined>(
      (found, entry) => (timingSafeEqual(entry.digest, presented) ? entry : found),
      undefined,
    );
  }

  /** Whether a caller that was found before would be found now, with the same rights. */
  isStillValid(caller: Caller): boolean {
    const known = this.#held.get(caller);
    if (known !== undefined) return known;
    const holds = this.all.some(
      ({ caller: now }) => now.credential === caller.credential && isSame(now, caller),
    );
    this.#held.set(caller, holds);
    return holds;
  }
}

const textOf = (set: '*' | ReadonlySet<string>): string => (set === '*' ? set : [...set].sort().join());

const isSame = (a: Caller, b: Caller): boolean =>
  a.id === b.id &&
  a.expiresAt === b.expiresAt &&
  textOf(a.scopes) === textOf(b.scopes) &&
  textOf(a.channels) === textOf(b.channels);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** A new key of 256 random bits, and its entry for CLIENT_KEYS_FILE without the rights. */
export function newClientKey(id: string): { key: string; entry: { id: string; keySha256: string } } {
  const key = `pgk_${randomBytes(32).toString('base64url')}`;
  return { key, entry: { id, keySha256: sha256(key).toString('hex') } };
}
