import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { parseCalendarTime } from '../shared/calendar-time';
import { parseStrictJson } from '../shared/json-text';
import { isObject } from '../shared/wire-object';
import { DESCRIPTION_BY_SCOPE, isScope, parseChannels, type Caller, type Scope } from './caller';

/** A validated entry of CLIENT_KEYS_FILE. */
export interface ClientKey {
  /** SHA-256 of the key. */
  keyDigest: Buffer;
  /** The caller that the key authenticates; its `expiresAt` is the expiry of the key. */
  caller: Caller;
  /** Name of the key, unique among the keys of a client. Default: the first 8 hexadecimal digits of the digest. */
  label: string;
  /** Creation time in milliseconds since 1970; null if the entry has none. */
  createdAt: number | null;
}

const ENTRY_FIELD_NAMES = ['id', 'keySha256', 'scopes', 'channels', 'label', 'createdAt', 'expiresAt'];

const ID_OR_LABEL_PATTERN = /^[\w.-]{1,64}$/;
const ID_OR_LABEL_RULE_MESSAGE = 'expected 1 to 64 letters, digits, dots, dashes or underscores';

/** Matches an RFC 3339 time with a UTC offset or Z. The seconds may have up to nine decimals. */
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const isString = (value: unknown): value is string => typeof value === 'string';

const isScopeList = (value: unknown): value is Scope[] =>
  Array.isArray(value) && value.every(isString) && value.every(isScope);

/** Parses an entry of the file. Throws an Error that names the violated rule and quotes no value of the entry. */
function parseEntry(entry: unknown, index: number): ClientKey {
  const entryError = (message: string): Error => new Error(`entry ${index + 1}: ${message}`);
  if (!isObject(entry)) throw entryError('expected an object with id, keySha256, scopes and channels');
  const { id, keySha256, scopes, channels, label, ...timeFields } = entry;
  if (!isString(id) || !ID_OR_LABEL_PATTERN.test(id)) throw entryError(`id: ${ID_OR_LABEL_RULE_MESSAGE}`);
  if (!isString(keySha256) || !/^[0-9a-f]{64}$/i.test(keySha256))
    throw entryError('keySha256: expected the SHA-256 of the key as 64 hexadecimal digits');
  if (!isScopeList(scopes))
    throw entryError(`scopes: expected a list with any of ${Object.keys(DESCRIPTION_BY_SCOPE).join(', ')}`);
  const parsedChannels = parseChannels(channels);
  if (!parsedChannels) throw entryError('channels: expected ["*"] or a list of UUIDs');
  if (label !== undefined && (!isString(label) || !ID_OR_LABEL_PATTERN.test(label)))
    throw entryError(`label: ${ID_OR_LABEL_RULE_MESSAGE}`);
  const [createdAt, expiresAt] = ['createdAt', 'expiresAt'].map((name) => {
    const timeText = timeFields[name];
    if (timeText === undefined) return null;
    const time = isString(timeText) && TIME_PATTERN.test(timeText) ? parseCalendarTime(timeText) : NaN;
    if (Number.isNaN(time)) throw entryError(`${name}: expected a time such as 2027-01-31T12:00:00Z`);
    return time;
  });
  if (Object.keys(entry).some((name) => !ENTRY_FIELD_NAMES.includes(name)))
    throw entryError(`unknown field; the allowed fields are ${ENTRY_FIELD_NAMES.join(', ')}`);
  const caller: Caller = {
    kind: 'service',
    id: `service:${id}`,
    scopes: new Set(scopes),
    channels: parsedChannels,
    authKeyHash: keySha256.toLowerCase(),
    expiresAt: expiresAt ?? null,
  };
  const keyDigest = Buffer.from(keySha256, 'hex');
  return { keyDigest, caller, label: label ?? keyDigest.toString('hex', 0, 4), createdAt: createdAt ?? null };
}

/** The client keys (API keys) of internal services. CLIENT_KEYS_FILE contains the SHA-256 of each key, not the key. */
export class ClientKeyStore {
  readonly allClientKeys: readonly ClientKey[];
  /** Cached results of isStillListed(), which runs every second for each subscription. */
  readonly #isListedCache = new WeakMap<Caller, boolean>();

  /** Parses the text of CLIENT_KEYS_FILE. Throws an Error if the text is invalid: a SyntaxError if it is not JSON. */
  constructor(fileText: string) {
    const entries: unknown = parseStrictJson(fileText);
    if (!Array.isArray(entries)) throw new Error('expected a JSON array of client keys');
    this.allClientKeys = entries.map(parseEntry);
    const hexDigests = this.allClientKeys.map(({ keyDigest }) => keyDigest.toString('hex'));
    if (new Set(hexDigests).size < hexDigests.length)
      throw new Error('two entries have the same keySha256: remove one of them');
    const idLabelPairs = this.allClientKeys.map(({ caller, label }) => `${caller.id} ${label}`);
    if (new Set(idLabelPairs).size < idLabelPairs.length)
      throw new Error('two entries have the same id and label: give each key of a client its own label');
  }

  /** Returns a key's entry, even if expired; undefined if the file has none. Compares digests in constant time. */
  find(key: string): ClientKey | undefined {
    const searchedDigest = sha256(key);
    return this.allClientKeys.filter(({ keyDigest }) => timingSafeEqual(keyDigest, searchedDigest))[0];
  }

  /** Whether the file still has the caller's client key, with the same id, scopes, channels and expiry. */
  isStillListed(caller: Caller): boolean {
    const cached = this.#isListedCache.get(caller);
    if (cached !== undefined) return cached;
    const isListed = this.allClientKeys.some((clientKey) => isDeepStrictEqual(clientKey.caller, caller));
    this.#isListedCache.set(caller, isListed);
    return isListed;
  }
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Generates a key with 256 random bits, and the fields `id` and `keySha256` of its entry in CLIENT_KEYS_FILE. */
export function newClientKey(id: string): { key: string; entry: { id: string; keySha256: string } } {
  const key = `pgk_${randomBytes(32).toString('base64url')}`;
  return { key, entry: { id, keySha256: sha256(key).toString('hex') } };
}
