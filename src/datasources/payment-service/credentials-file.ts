import { errorCode } from '../../shared/error-code';
import { parseStrictJson } from '../../shared/json-text';
import { isUuid } from '../../shared/uuid';
import { isObject } from '../../shared/wire-object';
import { Secret } from '../../shared/secret';

/** Credentials of one channel, or the default ones. `secretKeys` has one key, or two while the key is rotated. */
export interface CredentialEntry {
  apiKey: Secret;
  secretKeys: readonly Secret[];
}

/** The validated content of SERVICE_CREDENTIALS_FILE. */
export interface CredentialTable {
  /** Credentials for channels without an entry; undefined if the file has no `default`. */
  default: CredentialEntry | undefined;
  /** Entries by channel id in lower case. */
  entryByChannel: ReadonlyMap<string, CredentialEntry>;
}

/** Returns the content of a file that the credentials file names, for example in `apiKeyFile`. */
type ReadFile = (path: string) => string;

const ENTRY_DESCRIPTION = 'an object with apiKey or apiKeyFile, and secretKeys or secretKeyFiles';
const ENTRY_FIELD_NAMES = ['apiKey', 'apiKeyFile', 'secretKeys', 'secretKeyFiles'];

/** Matches API keys and secret keys. API keys are sent in an HTTP header, which allows only printable ASCII. */
const CREDENTIAL_PATTERN = /^[\x21-\x7e]{1,1024}$/;
const CREDENTIAL_DESCRIPTION = '1 to 1024 printable ASCII characters without spaces';

/**
 * A field of an entry, or an element of a field that is a list. `location` is its place in the file, for messages.
 * `value` is a credential or a list of credentials. If `readFile` is defined, `value` is instead the path of a file
 * that contains a credential, or a list of such paths.
 */
interface CredentialField {
  location: string;
  value: unknown;
  readFile: ReadFile | undefined;
}

function readCredential({ location, value, readFile }: CredentialField): Secret {
  const text = readFile ? readCredentialFile(location, value, readFile) : value;
  if (typeof text !== 'string' || !CREDENTIAL_PATTERN.test(text))
    throw new Error(`${location}: expected ${readFile ? 'a file of ' : ''}${CREDENTIAL_DESCRIPTION}`);
  return new Secret(text);
}

function readCredentialFile(location: string, path: unknown, readFile: ReadFile): string {
  if (typeof path !== 'string' || path === '') throw new Error(`${location}: expected the path of a file`);
  try {
    return readFile(path).replace(/\r?\n$/, '');
  } catch (error) {
    throw new Error(`${location}: expected a readable file (${errorCode(error)})`, { cause: error });
  }
}

function readSecretKeys({ location, value, readFile }: CredentialField): Secret[] {
  if (!Array.isArray(value) || value.length < 1 || value.length > 2)
    throw new Error(`${location}: expected a list of one key, or of two while the key is being rotated`);
  const secretKeys = value.map((item: unknown, index) =>
    readCredential({ location: `${location}[${index}]`, value: item, readFile }),
  );
  if (new Set(secretKeys.map((secretKey) => secretKey.reveal())).size < secretKeys.length)
    throw new Error(`${location}: the two keys are the same`);
  return secretKeys;
}

function readEntry(entryName: string, json: unknown, readFile: ReadFile): CredentialEntry {
  if (!isObject(json)) throw new Error(`${entryName}: expected ${ENTRY_DESCRIPTION}`);
  if (Object.keys(json).some((fieldName) => !ENTRY_FIELD_NAMES.includes(fieldName)))
    throw new Error(`${entryName}: has an unknown field; expected ${ENTRY_DESCRIPTION}`);
  const chooseField = (inlineField: string, fileField: string): CredentialField => {
    const [field, otherField] = [inlineField, fileField].filter((name) => Object.hasOwn(json, name));
    if (field === undefined || otherField !== undefined)
      throw new Error(`${entryName}: expected either ${inlineField} or ${fileField}`);
    const fileReader = field === fileField ? readFile : undefined;
    return { location: `${entryName}: ${field}`, value: json[field], readFile: fileReader };
  };
  return {
    apiKey: readCredential(chooseField('apiKey', 'apiKeyFile')),
    secretKeys: readSecretKeys(chooseField('secretKeys', 'secretKeyFiles')),
  };
}

function readChannels(channelsJson: unknown, readFile: ReadFile): Map<string, CredentialEntry> {
  if (!isObject(channelsJson)) throw new Error('channels: expected an object with an entry for each channel');
  const entryByChannel = new Map<string, CredentialEntry>();
  Object.entries(channelsJson).forEach(([name, entryJson], index) => {
    // Do not show the name in the message: it may be a misplaced secret.
    if (!isUuid(name))
      throw new Error(`channels: entry ${index + 1}: its name must be the UUID of a channel`);
    const channel = name.toLowerCase();
    if (entryByChannel.has(channel))
      throw new Error(`channels.${channel}: appears twice, in upper and lower case`);
    entryByChannel.set(channel, readEntry(`channels.${channel}`, entryJson, readFile));
  });
  return entryByChannel;
}

/**
 * Parses the text of SERVICE_CREDENTIALS_FILE.
 * @throws SyntaxError if the text is not JSON; its message may quote credentials
 * @throws Error if the content is invalid; its message contains no credentials
 */
export function parseCredentialsFile(text: string, readFile: ReadFile): CredentialTable {
  const root = parseStrictJson(text);
  if (!isObject(root))
    throw new Error('expected a JSON object with the field "default", the field "channels", or both');
  if (Object.keys(root).some((fieldName) => fieldName !== 'default' && fieldName !== 'channels'))
    throw new Error('has an unknown field; expected only "default" and "channels"');
  return {
    default: Object.hasOwn(root, 'default') ? readEntry('default', root['default'], readFile) : undefined,
    entryByChannel: Object.hasOwn(root, 'channels') ? readChannels(root['channels'], readFile) : new Map(),
  };
}
