import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { SCOPES } from '../../access/caller';
import { ClientKeys, newClientKey } from '../../access/client-keys';
import { parseJson, textOfFile } from '../../json-text';
import { faultOfFile } from '../../watched-file';
import { EXIT, InputError, UsageError, type Context } from '../context';

const listed = (text: string): string[] => text.split(',').map((part) => part.trim());

function entriesOf(file: string): unknown[] {
  if (!existsSync(file)) return [];
  const entries = parseJson(textOfFile(readFileSync(file)));
  if (!Array.isArray(entries)) throw new InputError(`${file} holds no JSON array.`);
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
  scopes?: string;
  channels?: string;
  file?: string;
}

/** What a new client may do, in the form of CLIENT_KEYS_FILE. */
function newRights(id: string, { scopes, channels = '*', file }: Options): object {
  if (file !== undefined && entriesOf(file).some((entry) => hasId(entry, id)))
    throw new InputError(`${file} has a client of this id already: rotate gives it another key.`);
  // The full scopes are among them, so the `:own` ones would add nothing.
  const usual = Object.keys(SCOPES).filter((scope) => scope !== 'cards:direct' && !scope.endsWith(':own'));
  return { scopes: scopes === undefined ? usual : listed(scopes), channels: listed(channels) };
}

/** What a client may do that has a key already. */
function rightsAgain(id: string, file: string): object {
  const entry = entriesOf(file).findLast((other) => hasId(other, id));
  if (!entry) throw new InputError(`${file} has no client of this id.`);
  return entry as object;
}

/** Makes a key with these rights and prints it, once it stands in the file, where one is named. */
function make({ terminal }: Context, id: string, rights: object, file: string | undefined): number {
  const made = newClientKey(id);
  const entry = { ...rights, ...made.entry };
  // The gateway's own rules, so that no entry is made that it would refuse.
  new ClientKeys(JSON.stringify([entry]));
  if (file !== undefined) add(file, entry);
  const where =
    file === undefined
      ? `Entry for CLIENT_KEYS_FILE:\n${JSON.stringify(entry, null, 2)}`
      : `The entry was added to ${file}.`;
  terminal.print(`Key of ${id}, shown this once:\n${made.key}\n\n${where}`);
  return EXIT.done;
}

/** Says of a file what is wrong with it, and never what is in it. */
function orInputError(work: () => number): number {
  try {
    return work();
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(faultOfFile(error));
  }
}

/** `paygraph client-key new`. Throws an InputError where the rights or the file cannot be used. */
export function newKey(context: Context, [id = '', ...more]: readonly string[], options: Options): number {
  if (more.length > 0)
    throw new UsageError('One client at a time; lists are separated by commas, without blanks.');
  return orInputError(() => make(context, id, newRights(id, options), options.file));
}

/** `paygraph client-key rotate`. Throws an InputError where the client does not stand in the file. */
export function rotateKey(context: Context, id: string, file: string): number {
  return orInputError(() => make(context, id, rightsAgain(id, file), file));
}
