import { SCOPES } from '../../auth/caller';
import { ApiKeyStore, newClientKey } from '../../auth/client-keys';
import { entriesOfClient, orInputError, readEntries, writeEntries, type KeyEntry } from '../client-keys-file';
import { EXIT, InputError, UsageError, type Context } from '../context';
import { readDuration } from '../duration';

const listed = (text: string): string[] => text.split(',').map((part) => part.trim());

const timeText = (ms: number): string => new Date(ms).toISOString();

/** Options that new and rotate share. */
interface Naming {
  label?: string;
  /** The lifetime of the key, such as 90d. */
  expiresIn?: string;
}

interface NewOptions extends Naming {
  scopes?: string;
  channels?: string;
  file?: string;
}

interface RotateOptions extends Naming {
  file: string;
  /** The remaining lifetime of the client's other keys, such as 7d. */
  oldExpiresIn?: string;
}

interface RevokeOptions {
  file: string;
  /** The label of the key. */
  key?: string;
  all?: boolean;
}

/** What a new client may do, in the form of CLIENT_KEYS_FILE. */
function newRights({ scopes, channels = '*' }: NewOptions): object {
  // The full scopes are among them, so the `:own` ones would add nothing.
  const usual = Object.keys(SCOPES).filter((scope) => scope !== 'cards:direct' && !scope.endsWith(':own'));
  return { scopes: scopes === undefined ? usual : listed(scopes), channels: listed(channels) };
}

interface MadeKey {
  key: string;
  entry: object;
}

/** Makes a key with these rights. Throws what the gateway would say of its entry. */
function makeKey(id: string, rights: object, { label, expiresIn }: Naming): MadeKey {
  const now = Date.now();
  const lifetime = expiresIn === undefined ? undefined : readDuration('--expires-in', expiresIn);
  if (lifetime !== undefined && lifetime <= 0)
    throw new InputError('--expires-in: expected more than nothing.');
  const { key, entry } = newClientKey(id);
  const made = {
    ...rights,
    ...entry,
    ...(label !== undefined && { label }),
    createdAt: timeText(now),
    ...(lifetime !== undefined && { expiresAt: timeText(now + lifetime) }),
  };
  new ApiKeyStore(JSON.stringify([made]));
  return { key, entry: made };
}

function printKey({ terminal }: Context, id: string, { key }: MadeKey, where: string): number {
  terminal.print(`Key of ${id}, shown this once:\n${key}\n\n${where}`);
  return EXIT.done;
}

/** `paygraph client-key new`. Throws an InputError where the rights or the file cannot be used. */
export function newKey(context: Context, [id = '', ...more]: readonly string[], options: NewOptions): number {
  if (more.length > 0)
    throw new UsageError('One client at a time; lists are separated by commas, without blanks.');
  const { file } = options;
  return orInputError(() => {
    const entries = file === undefined ? [] : readEntries(file);
    if (entries.some((entry) => entry.id === id))
      throw new InputError(`${file} has a client of this id already: rotate gives it another key.`);
    const made = makeKey(id, newRights(options), options);
    if (file === undefined)
      return printKey(
        context,
        id,
        made,
        `Entry for CLIENT_KEYS_FILE:\n${JSON.stringify(made.entry, null, 2)}`,
      );
    writeEntries(file, [...entries.map(({ entry }) => entry), made.entry]);
    return printKey(context, id, made, `The entry was added to ${file}.`);
  });
}

/** The rights of an entry, and the default lifetime of its successor in ms; null when keys do not expire. */
function inherited({ key, entry }: KeyEntry): { rights: object; lifetimeMs: number | null } {
  const { scopes, channels } = entry as { scopes: unknown; channels: unknown };
  const { createdAt, caller } = key;
  const lifetimeMs = createdAt === null || caller.expiresAt === null ? null : caller.expiresAt - createdAt;
  return { rights: { scopes, channels }, lifetimeMs };
}

/** The entry with an earlier end, or as it is where it ends sooner. */
function endingBy({ entry, key }: KeyEntry, end: number): object {
  const ends = key.caller.expiresAt;
  return ends !== null && ends <= end ? entry : { ...entry, expiresAt: timeText(end) };
}

/** `paygraph client-key rotate`. Throws an InputError where the client does not stand in the file. */
export function rotateKey(context: Context, id: string, options: RotateOptions): number {
  const { file, oldExpiresIn } = options;
  return orInputError(() => {
    const entries = readEntries(file);
    const newest = entriesOfClient(entries, id, file).at(-1) as KeyEntry;
    const { rights, lifetimeMs } = inherited(newest);
    // A client whose keys expire does not get one that never does by a forgotten option.
    const kept = lifetimeMs !== null && lifetimeMs >= 1000 ? `${Math.floor(lifetimeMs / 1000)}s` : undefined;
    const made = makeKey(id, rights, { ...options, expiresIn: options.expiresIn ?? kept });
    const oldMs = oldExpiresIn === undefined ? null : readDuration('--old-expires-in', oldExpiresIn);
    if (oldMs !== null && oldMs < 0)
      throw new InputError('--old-expires-in: expected 0s or more. 0s ends the other keys at once.');
    const end = oldMs === null ? null : Date.now() + oldMs;
    const old = entries.map((entry) =>
      entry.id === id && end !== null ? endingBy(entry, end) : entry.entry,
    );
    writeEntries(file, [...old, made.entry]);
    const until = end === null ? '' : ` Its other keys expire at ${timeText(end)} at the latest.`;
    return printKey(context, id, made, `The entry was added to ${file}.${until}`);
  });
}

/** `paygraph client-key revoke`. Throws an InputError where it is not clear which key is meant. */
export function revokeKey({ terminal }: Context, id: string, { file, key, all }: RevokeOptions): number {
  return orInputError(() => {
    const entries = readEntries(file);
    const own = entriesOfClient(entries, id, file);
    const chosen = key === undefined ? own : own.filter((entry) => entry.key.label === key);
    const labels = own.map((entry) => entry.key.label).join(', ');
    if (chosen.length === 0) throw new InputError(`${id} has no key of this label; it has: ${labels}.`);
    if (chosen.length > 1 && !all)
      throw new InputError(
        `${id} has several keys: name one with --key (${labels}), or all of them with --all.`,
      );
    writeEntries(
      file,
      entries.filter((entry) => !chosen.includes(entry)).map(({ entry }) => entry),
    );
    const revoked = chosen.map((entry) => entry.key.label).join(', ');
    const left = own.length - chosen.length;
    terminal.print(
      `Revoked of ${id}: ${revoked}. ${left === 0 ? 'The client has no key left' : `Keys left: ${left}`}. A gateway that runs on ${file} refuses the key within seconds.`,
    );
    return EXIT.done;
  });
}
