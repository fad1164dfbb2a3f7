import { parseJson } from '../../shared/json-text';
import { isUuid } from '../../schema/scalars';
import { isWireObject, type WireObject } from '../../shared/wire-object';
import { Secret } from '../../shared/secret';
import { systemWord } from '../../shared/hot-reloaded-file';

/** What calls are signed with: an API key, and one secret key, or two while it is being changed. */
export interface CredentialEntry {
  apiKey: Secret;
  secretKeys: readonly Secret[];
}

/** What SERVICE_CREDENTIALS_FILE says, checked. */
export interface CredentialTable {
  /** For the channels that have no entry of their own. */
  default: CredentialEntry | undefined;
  /** By channel, in lower case. */
  channels: ReadonlyMap<string, CredentialEntry>;
}

const ENTRY_SHAPE = 'an object with apiKey or apiKeyFile, and secretKeys or secretKeyFiles';
const ENTRY_FIELDS = ['apiKey', 'apiKeyFile', 'secretKeys', 'secretKeyFiles'];

/** A credential goes into a header or a key. */
const CREDENTIAL = /^[\x21-\x7e]{1,1024}$/;
const EXPECTED = 'printable ASCII characters without blanks, 1024 at most';

/** One entry of the file. Throws an Error that names the entry, the field and the rule, never a value. */
class EntryReader {
  readonly #name: string;
  readonly #readFile: (path: string) => string;

  constructor(name: string, readFile: (path: string) => string) {
    this.#name = name;
    this.#readFile = readFile;
  }

  read(entry: unknown): CredentialEntry {
    if (!isWireObject(entry)) throw this.#fault(`expected ${ENTRY_SHAPE}`);
    if (Object.keys(entry).some((field) => !ENTRY_FIELDS.includes(field)))
      throw this.#fault(`holds more than ${ENTRY_SHAPE}`);
    const apiKey = this.#choose(entry, 'apiKey', 'apiKeyFile');
    const secretKeys = this.#choose(entry, 'secretKeys', 'secretKeyFiles');
    return {
      apiKey: this.#credential(apiKey.field, apiKey.value, apiKey.byFile),
      secretKeys: this.#list(secretKeys.field, secretKeys.value, secretKeys.byFile),
    };
  }

  #fault(says: string): Error {
    return new Error(`${this.#name}: ${says}`);
  }

  /** The one of two fields that is there. */
  #choose(
    entry: WireObject,
    inline: string,
    file: string,
  ): { field: string; value: unknown; byFile: boolean } {
    const given = [inline, file].filter((field) => Object.hasOwn(entry, field));
    const [field] = given;
    if (field === undefined || given.length > 1) throw this.#fault(`expected one of ${inline} and ${file}`);
    return { field, value: entry[field], byFile: field === file };
  }

  #list(field: string, value: unknown, byFile: boolean): Secret[] {
    if (!Array.isArray(value) || value.length < 1 || value.length > 2)
      throw this.#fault(`${field}: expected a list of one, or of two while the key is being changed`);
    const secrets = value.map((one: unknown, place) => this.#credential(`${field}[${place}]`, one, byFile));
    if (new Set(secrets.map((secret) => secret.reveal())).size < secrets.length)
      throw this.#fault(`${field}: the two are the same`);
    return secrets;
  }

  #credential(field: string, value: unknown, byFile: boolean): Secret {
    const text = byFile ? this.#textOf(field, value) : value;
    if (typeof text !== 'string' || !CREDENTIAL.test(text))
      throw this.#fault(`${field}: expected ${byFile ? 'a file of ' : ''}${EXPECTED}`);
    return new Secret(text);
  }

  /** What the file at that path holds, without the newline that editors leave at its end. */
  #textOf(field: string, path: unknown): string {
    if (typeof path !== 'string' || path === '') throw this.#fault(`${field}: expected the path of a file`);
    try {
      return this.#readFile(path).replace(/\r?\n$/, '');
    } catch (error) {
      throw this.#fault(`${field}: expected a file that can be read (${systemWord(error) ?? 'unknown'})`);
    }
  }
}

function readChannels(
  channels: unknown,
  read: (name: string, entry: unknown) => CredentialEntry,
): Map<string, CredentialEntry> {
  if (!isWireObject(channels)) throw new Error('channels: expected an object with an entry for each channel');
  const entries = new Map<string, CredentialEntry>();
  Object.entries(channels).forEach(([name, entry], place) => {
    // What stands in the place of a channel may be anything, a secret too: it is not repeated.
    if (!isUuid(name)) throw new Error(`channels: entry ${place + 1}: expected the UUID of a channel`);
    const channel = name.toLowerCase();
    if (entries.has(channel))
      throw new Error(`channels.${channel}: stands there twice, in upper and lower case`);
    entries.set(channel, read(`channels.${channel}`, entry));
  });
  return entries;
}

/**
 * Reads the text of SERVICE_CREDENTIALS_FILE.
 * @param readFile reads a file that is named in it
 * @throws an Error that names the entry and the rule, never a value; a SyntaxError where it is not JSON
 */
export function readCredentialsFile(text: string, readFile: (path: string) => string): CredentialTable {
  const file = parseJson(text);
  if (!isWireObject(file)) throw new Error('expected a JSON object with default and channels');
  if (Object.keys(file).some((name) => name !== 'default' && name !== 'channels'))
    throw new Error('holds more than default and channels');
  const read = (name: string, entry: unknown): CredentialEntry => new EntryReader(name, readFile).read(entry);
  return {
    default: Object.hasOwn(file, 'default') ? read('default', file['default']) : undefined,
    channels: Object.hasOwn(file, 'channels') ? readChannels(file['channels'], read) : new Map(),
  };
}
