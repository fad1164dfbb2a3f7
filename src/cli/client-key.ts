import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import process from 'node:process';
import { SCOPES } from '../access/caller';
import { ClientKeys, newClientKey } from '../access/client-keys';
import { faultOfFile } from '../watched-file';

const USAGE = `Makes a key for an internal service.

  npm run client-key -- new <id> [--scopes <scope,…>] [--channels <uuid,…>] [--file <clients.json>]
  npm run client-key -- rotate <id> --file <clients.json>

<id>        names the service: letters, digits, dots, dashes, underscores
--scopes    what it may do; without this everything but cards:direct. The scopes are:
${Object.entries(SCOPES)
  .map(([scope, about]) => `              ${scope.padEnd(17)} ${about}`)
  .join('\n')}
--channels  the merchant channels it may act on; without this all of them
--file      adds the entry to this CLIENT_KEYS_FILE, which is made where it is missing; a running gateway reads it again

rotate      adds a second key with the rights of the first: the client stays the same, and keeps its idempotency keys.
            Take the old entry out of the file when the new key is in use.

The key is printed once and kept nowhere: the file holds its SHA-256 only.
`;

/** What was typed cannot be done; the message is for the person who typed it. */
class UsageError extends Error {}

const listed = (text: string): string[] => text.split(',').map((part) => part.trim());

function entriesOf(file: string): unknown[] {
  if (!existsSync(file)) return [];
  const entries: unknown = JSON.parse(readFileSync(file, 'utf8'));
  if (!Array.isArray(entries)) throw new UsageError(`${file} holds no JSON array.`);
  return entries;
}

const hasId = (entry: unknown, id: string): boolean => (Object(entry) as { id?: unknown }).id === id;

/** Adds the entry in one step: a gateway that reads the file meanwhile finds the old one or the new one. */
function add(file: string, entry: object): void {
  const text = `${JSON.stringify([...entriesOf(file), entry], null, 2)}\n`;
  new ClientKeys(text);
  const draft = `${file}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
}

interface Options {
  scopes?: string | undefined;
  channels?: string | undefined;
  file?: string | undefined;
}

/** What a new client may do, in the form of CLIENT_KEYS_FILE. */
function newRights(id: string, { scopes, channels = '*', file }: Options): object {
  if (file !== undefined && entriesOf(file).some((entry) => hasId(entry, id)))
    throw new UsageError(`${file} has a client of this id already: rotate gives it another key.`);
  const allButCards = Object.keys(SCOPES).filter((scope) => scope !== 'cards:direct');
  return { scopes: scopes === undefined ? allButCards : listed(scopes), channels: listed(channels) };
}

/** What a client may do that has a key already. */
function rightsAgain(id: string, { scopes, channels, file }: Options): object {
  if (file === undefined || scopes !== undefined || channels !== undefined)
    throw new UsageError('rotate takes the rights from the file: give --file, and nothing else.');
  const entry = entriesOf(file).findLast((other) => hasId(other, id));
  if (!entry) throw new UsageError(`${file} has no client of this id.`);
  return entry;
}

const COMMANDS: Readonly<Record<string, typeof newRights>> = { new: newRights, rotate: rightsAgain };

function run(): string {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      scopes: { type: 'string' },
      channels: { type: 'string' },
      file: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return USAGE;
  const [command = '', id, ...more] = positionals;
  const rights = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
  if (!rights || id === undefined) throw new UsageError('Which client shall have a new key?');
  // What was meant for a list, but stands behind a blank, is not dropped silently.
  if (more.length > 0)
    throw new UsageError('One client at a time; lists are separated by commas, without blanks.');
  const made = newClientKey(id);
  const entry = { ...rights(id, values), ...made.entry };
  // The gateway's own rules, so that no entry is made that it would refuse.
  new ClientKeys(JSON.stringify([entry]));
  if (values.file !== undefined) add(values.file, entry);
  const where =
    values.file === undefined
      ? `Entry for CLIENT_KEYS_FILE:\n${JSON.stringify(entry, null, 2)}`
      : `The entry was added to ${values.file}.`;
  return `Key of ${id}, shown this once:\n${made.key}\n\n${where}\n`;
}

/** `npm run client-key`: exit code 0 when a key was made, 2 when it could not be. */
export function main(): void {
  try {
    process.stdout.write(run());
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    const says = isUsage ? error.message : faultOfFile(error);
    process.stderr.write(`${says}\n${isUsage ? `\n${USAGE}` : ''}`);
    process.exitCode = 2;
  }
}
