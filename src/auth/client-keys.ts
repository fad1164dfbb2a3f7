import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseJson } from '../shared/json-text';
import { isObject } from '../shared/wire-object';
import { SCOPES, channelsOf, isScope, type Caller, type Scope } from './caller';

/** An entry of CLIENT_KEYS_FILE, checked. */
export interface ClientKey {
  digest: Buffer;
  /** Its expiresAt is that of the key. */
  caller: Caller;
  /** Unique among the keys of a client. By default the first 8 digits of the digest. */
  label: string;
  /** In milliseconds since 1970; null when absent. */
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

/** Parses an optional time to milliseconds since 1970; null when absent, undefined when invalid. */
function timeOf(value: unknown): number | null | undefined {
  if (value === undefined) return null;
  const time = isText(value) && TIME.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** Parses one entry. Throws an Error that names the field and the rule, never a value. */
function parseEntry(entry: unknown, index: number): ClientKey {
  const invalid = (message: string): Error => new Error(`entry ${index + 1}: ${message}`);
  if (!isObject(entry)) throw invalid('expected an object with id, keySha256, scopes and channels');
  const { id, keySha256, scopes, channels, label, ...times } = entry;
  if (!isText(id) || !NAME.test(id)) throw invalid(`id: ${NAME_RULE}`);
  if (!isText(keySha256) || !/^[0-9a-f]{64}$/i.test(keySha256))
    throw invalid('keySha256: expected the SHA-256 of the key as 64 hexadecimal digits');
  const parsedScopes = scopesOf(scopes);
  if (!parsedScopes) throw invalid(`scopes: expected a list of scopes, of ${Object.keys(SCOPES).join(', ')}`);
  const parsedChannels = channelsOf(channels);
  if (!parsedChannels) throw invalid('channels: expected ["*"] or a list of UUIDs');
  if (label !== undefined && (!isText(label) || !NAME.test(label))) throw invalid(`label: ${NAME_RULE}`);
  const [createdAt, expiresAt] = ['createdAt', 'expiresAt'].map((name) => {
    const time = timeOf(times[name]);
    if (time === undefined) throw invalid(`${name}: expected a time such as 2027-01-31T12:00:00Z`);
    return time;
  });
  if (Object.keys(entry).some((name) => !ENTRY_FIELDS.includes(name)))
    throw invalid(`holds more than ${ENTRY_FIELDS.join(', ')}`);
  const caller: Caller = {
    kind: 'service',
    id: `service:${id}`,
    scopes: parsedScopes,
    channels: parsedChannels,
    credential: keySha256.toLowerCase(),
    expiresAt: expiresAt ?? null,
  };
  const digest = Buffer.from(keySha256, 'hex');
  return { digest, caller, label: label ?? digest.toString('hex', 0, 4), createdAt: createdAt ?? null };
}

/** The API keys of internal services, stored as SHA-256. */
export class ApiKeyStore {
  readonly all: readonly ClientKey[];
  /** Results of isStillValid(), which runs every second for each subscription. */
  readonly #valid = new WeakMap<Caller, boolean>();

  /** Parses the text of CLIENT_KEYS_FILE. Throws an Error with the reason, or a SyntaxError when it is not JSON. */
  constructor(text: string) {
    const entries: unknown = parseJson(text);
    if (!Array.isArray(entries)) throw new Error('expected a JSON array of clients');
    this.all = entries.map(parseEntry);
    const digests = this.all.map(({ digest }) => digest.toString('hex'));
    if (new Set(digests).size < digests.length) throw new Error('two entries have the same key');
    const names = this.all.map(({ caller, label }) => `${caller.id} ${label}`);
    if (new Set(names).size < names.length) throw new Error('two keys of a client have the same label');
  }

  /** Finds the entry of a key, also an expired one. Takes the same time for every key. */
  find(key: string): ClientKey | undefined {
    const presented = sha256(key);
    return this.all.reduce<ClientKey | undefined>(
      (found, entry) => (timingSafeEqual(entry.digest, presented) ? entry : found),
      undefined,
    );
  }

  /** Whether the key of a caller that was found before is still in the file, with the same rights. */
  isStillValid(caller: Caller): boolean {
    const known = this.#valid.get(caller);
    if (known !== undefined) return known;
    const isValid = this.all.some((entry) => isSame(entry.caller, caller));
    this.#valid.set(caller, isValid);
    return isValid;
  }
}

const textOf = (set: '*' | ReadonlySet<string>): string => (set === '*' ? set : [...set].sort().join());

const isSame = (a: Caller, b: Caller): boolean =>
  a.credential === b.credential &&
  a.id === b.id &&
  a.expiresAt === b.expiresAt &&
  textOf(a.scopes) === textOf(b.scopes) &&
  textOf(a.channels) === textOf(b.channels);

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Creates a key of 256 random bits, and its entry for CLIENT_KEYS_FILE without scopes and channels. */
export function newClientKey(id: string): { key: string; entry: { id: string; keySha256: string } } {
  const key = `pgk_${randomBytes(32).toString('base64url')}`;
  return { key, entry: { id, keySha256: sha256(key).toString('hex') } };
}
