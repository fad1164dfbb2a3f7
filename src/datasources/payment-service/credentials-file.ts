import { errorCode } from '../../shared/error-code';
import { parseJson } from '../../shared/json-text';
import { isUuid } from '../../schema/scalars';
import { isObject, type WireObject } from '../../shared/wire-object';
import { Secret } from '../../shared/secret';

/** Credentials of a channel: two secret keys while the key is being rotated. */
export interface CredentialEntry {
  apiKey: Secret;
  secretKeys: readonly Secret[];
}

/** The validated content of SERVICE_CREDENTIALS_FILE. */
export interface CredentialTable {
  /** For channels without an entry. */
  default: CredentialEntry | undefined;
  /** By channel in lower case. */
  channels: ReadonlyMap<string, CredentialEntry>;
}

/** Reads a file that the credentials file names. */
type ReadFile = (path: string) => string;

const ENTRY_SHAPE = 'an object with apiKey or apiKeyFile, and secretKeys or secretKeyFiles';
const ENTRY_FIELDS = ['apiKey', 'apiKeyFile', 'secretKeys', 'secretKeyFiles'];

/** Valid in an HTTP header. */
const CREDENTIAL = /^[\x21-\x7e]{1,1024}$/;
const EXPECTED = 'at most 1024 printable ASCII characters without spaces';

/** A field of an entry, inline or as the path of a file. */
interface Field {
  /** For error messages. */
  name: string;
  value: unknown;
  isFile: boolean;
}

/** The one of two fields that an entry has. */
function chooseField(entryName: string, entry: WireObject, inline: string, file: string): Field {
  const given = [inline, file].filter((field) => Object.hasOwn(entry, field));
  const [field] = given;
  if (field === undefined || given.length > 1)
    throw new Error(`${entryName}: expected one of ${inline} and ${file}`);
  return { name: `${entryName}: ${field}`, value: entry[field], isFile: field === file };
}

function readCredential({ name, value, isFile }: Field, readFile: ReadFile): Secret {
  const text = isFile ? readCredentialFile(name, value, readFile) : value;
  if (typeof text !== 'string' || !CREDENTIAL.test(text))
    throw new Error(`${name}: expected ${isFile ? 'a file of ' : ''}${EXPECTED}`);
  return new Secret(text);
}

/** The content of a file without the newline that editors append. */
function readCredentialFile(name: string, path: unknown, readFile: ReadFile): string {
  if (typeof path !== 'string' || path === '') throw new Error(`${name}: expected the path of a file`);
  try {
    return readFile(path).replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`${name}: expected a readable file (${errorCode(error)})`, { cause: error });
  }
}

function readSecretKeys({ name, value, isFile }: Field, readFile: ReadFile): Secret[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > 2)
    throw new Error(`${name}: expected a list of one key, or of two while the key is being rotated`);
  const keys = value.map((each: unknown, index) =>
    readCredential({ name: `${name}[${index}]`, value: each, isFile }, readFile),
  );
  if (new Set(keys.map((key) => key.reveal())).size < keys.length)
    throw new Error(`${name}: the two keys are the same`);
  return keys;
}

function readEntry(name: string, entry: unknown, readFile: ReadFile): CredentialEntry {
  if (!isObject(entry)) throw new Error(`${name}: expected ${ENTRY_SHAPE}`);
  if (Object.keys(entry).some((field) => !ENTRY_FIELDS.includes(field)))
    throw new Error(`${name}: has more fields than ${ENTRY_SHAPE}`);
  return {
    apiKey: readCredential(chooseField(name, entry, 'apiKey', 'apiKeyFile'), readFile),
    secretKeys: readSecretKeys(chooseField(name, entry, 'secretKeys', 'secretKeyFiles'), readFile),
  };
}

function readChannels(channels: unknown, readFile: ReadFile): Map<string, CredentialEntry> {
  if (!isObject(channels)) throw new Error('channels: expected an object with an entry for each channel');
  const entries = new Map<string, CredentialEntry>();
  Object.entries(channels).forEach(([name, entry], index) => {
    // The name is not repeated: it may be a misplaced secret.
    if (!isUuid(name)) throw new Error(`channels: entry ${index + 1}: expected the UUID of a channel`);
    const channel = name.toLowerCase();
    if (entries.has(channel)) throw new Error(`channels.${channel}: appears twice, in upper and lower case`);
    entries.set(channel, readEntry(`channels.${channel}`, entry, readFile));
  });
  return entries;
}

/**
 * Parses SERVICE_CREDENTIALS_FILE.
 * @throws an Error that names the entry and the rule, never a value; a SyntaxError when it is not JSON
 */
export function readCredentialsFile(text: string, readFile: ReadFile): CredentialTable {
  const file = parseJson(text);
  if (!isObject(file)) throw new Error('expected a JSON object with default and channels');
  if (Object.keys(file).some((name) => name !== 'default' && name !== 'channels'))
    throw new Error('has more fields than default and channels');
  return {
    default: Object.hasOwn(file, 'default') ? readEntry('default', file['default'], readFile) : undefined,
    channels: Object.hasOwn(file, 'channels') ? readChannels(file['channels'], readFile) : new Map(),
  };
}
