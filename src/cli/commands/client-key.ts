import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { DESCRIPTION_BY_SCOPE } from '../../auth/caller';
import { ClientKeyStore, newClientKey, type ClientKey } from '../../auth/client-keys';
import { readCommandConfig } from '../../config';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseJson, readTextFile } from '../../shared/json-text';
import { InputError, UsageError, type CommandContext } from '../context';
import { errorOrCauseCode } from '../../shared/error-code';
import { replaceFile } from '../options';
import { fieldLabel, isoTimeOrNull, isoTime } from '../terminal';

/** An entry of CLIENT_KEYS_FILE. `fileEntry`: as in the file. `clientKey`: the same entry, validated and parsed. */
interface KeyEntry {
  fileEntry: { id: string; scopes: string[]; channels: string[] };
  clientKey: ClientKey;
}

/** Reads CLIENT_KEYS_FILE; returns no entries if it does not exist. @throws InputError if it is invalid */
function readKeyEntries(file: string): KeyEntry[] {
  if (!existsSync(file)) return [];
  try {
    const text = readTextFile(file);
    const keys = new ClientKeyStore(text).allClientKeys;
    const fileEntries = parseJson(text) as KeyEntry['fileEntry'][];
    return fileEntries.map((fileEntry, index) => ({ fileEntry, clientKey: keys[index] as ClientKey }));
  } catch (error) {
    throw new InputError(`${file}: ${describeFileError(error)}.`);
  }
}

/** Validates entries by the rules of the gateway. @throws InputError if one is invalid */
function validateKeyEntries(entries: readonly object[]): void {
  try {
    new ClientKeyStore(JSON.stringify(entries));
  } catch (error) {
    throw new InputError(describeFileError(error));
  }
}

function writeKeyEntries(file: string, entries: readonly object[]): void {
  validateKeyEntries(entries);
  replaceFile(file, `${JSON.stringify(entries, null, 2)}\n`, 0o600);
}

/** Returns the entries of a client, in the order of the file. @throws InputError if there are none */
function entriesOfClient(entries: readonly KeyEntry[], clientId: string, file: string): KeyEntry[] {
  const clientEntries = entries.filter(({ fileEntry }) => fileEntry.id === clientId);
  if (clientEntries.length === 0) throw new InputError(`${file} has no client with this id.`);
  return clientEntries;
}

interface KeyOptions {
  label?: string;
  /** Lifetime of the key in ms. Undefined: `new` sets no expiry, `rotate` uses the lifetime of the newest key. */
  expiresIn?: number | undefined;
}

/**
 * Creates a key and its entry for CLIENT_KEYS_FILE, but writes no file.
 * @param rights the fields `scopes` and `channels` of the entry
 * @throws InputError if the entry is invalid
 */
function createKey(clientId: string, rights: object, { label, expiresIn }: KeyOptions) {
  const now = Date.now();
  const { key, entry } = newClientKey(clientId);
  // If `label` or `expiresAt` is undefined, JSON.stringify() omits the field.
  const expiresAt = expiresIn === undefined ? undefined : isoTime(now + expiresIn);
  const newEntry = { ...rights, ...entry, label, createdAt: isoTime(now), expiresAt };
  validateKeyEntries([newEntry]);
  return { key, entry: newEntry };
}

const newKeyMessage = (clientId: string, key: string): string =>
  `Key of ${clientId} (it is not shown again):\n${key}\n\n`;

/** Runs `paygraph client-key new`. */
export async function issueKey(
  { terminal }: CommandContext,
  clientId: string,
  options: KeyOptions & { scopes?: string[]; channels?: string[]; file?: string },
  { args }: Command,
): Promise<void> {
  if (args.length > 1)
    throw new UsageError(
      'client-key new: more than one client id. Separate scopes and channels by commas, without spaces.',
    );
  const { channels = ['*'], file } = options;
  const entries = file === undefined ? [] : readKeyEntries(file);
  if (entries.some(({ fileEntry }) => fileEntry.id === clientId))
    throw new InputError(`${file} already has a client with this id: use client-key rotate.`);
  // Default: all scopes except cards:direct. Scopes that end in `:own` are omitted too, because the scopes without
  // `:own` include them.
  const isDefaultScope = (scope: string): boolean => scope !== 'cards:direct' && !scope.endsWith(':own');
  const scopes = options.scopes ?? Object.keys(DESCRIPTION_BY_SCOPE).filter(isDefaultScope);
  const { key, entry } = createKey(clientId, { scopes, channels }, options);
  const keyMessage = newKeyMessage(clientId, key);
  if (file === undefined)
    terminal.print(`${keyMessage}Entry for CLIENT_KEYS_FILE:\n${JSON.stringify(entry, null, 2)}`);
  else {
    writeKeyEntries(file, [...entries.map(({ fileEntry }) => fileEntry), entry]);
    terminal.print(`${keyMessage}The entry was added to ${file}.`);
  }
}

/**
 * Returns the time in ms from the creation of a key to its expiry. Returns undefined if one of the two times is not
 * set, or if the expiry is not after the creation.
 */
function keyLifetimeMs({ createdAt, caller: { expiresAt } }: ClientKey): number | undefined {
  if (createdAt === null || expiresAt === null || expiresAt <= createdAt) return undefined;
  return expiresAt - createdAt;
}

/** Runs `paygraph client-key rotate`. */
export async function rotateKey(
  { terminal }: CommandContext,
  clientId: string,
  options: KeyOptions & { file: string; oldExpiresIn?: number },
): Promise<void> {
  const { file, oldExpiresIn: oldExpiresInMs = Infinity } = options;
  const entries = readKeyEntries(file);
  const newestEntry = entriesOfClient(entries, clientId, file).at(-1) as KeyEntry;
  const { scopes, channels } = newestEntry.fileEntry;
  const expiresIn = options.expiresIn ?? keyLifetimeMs(newestEntry.clientKey);
  const { key, entry } = createKey(clientId, { scopes, channels }, { label: options.label, expiresIn });
  if (oldExpiresInMs < 0) throw new InputError('--old-expires-in: expected 0s (expire immediately) or more.');
  const oldExpiresAt = Date.now() + oldExpiresInMs;
  const updatedEntries = entries.map((existing) =>
    existing.fileEntry.id === clientId && (existing.clientKey.caller.expiresAt ?? Infinity) > oldExpiresAt
      ? { ...existing.fileEntry, expiresAt: isoTime(oldExpiresAt) }
      : existing.fileEntry,
  );
  writeKeyEntries(file, [...updatedEntries, entry]);
  const expiryNote =
    oldExpiresInMs === Infinity ? '' : ` The other keys expire at ${isoTime(oldExpiresAt)} or earlier.`;
  terminal.print(`${newKeyMessage(clientId, key)}The entry was added to ${file}.${expiryNote}`);
}

/** Runs `paygraph client-key revoke`. */
export async function revokeKey(
  { terminal }: CommandContext,
  clientId: string,
  { file, key: label, all }: { file: string; key?: string; all?: boolean },
): Promise<void> {
  const entries = readKeyEntries(file);
  const clientEntries = entriesOfClient(entries, clientId, file);
  const revokedEntries =
    label === undefined ? clientEntries : clientEntries.filter(({ clientKey }) => clientKey.label === label);
  const labelsOf = (keyEntries: readonly KeyEntry[]): string =>
    keyEntries.map(({ clientKey }) => clientKey.label).join(', ');
  if (revokedEntries.length === 0)
    throw new InputError(`${clientId} has no key with this label. Its keys: ${labelsOf(clientEntries)}.`);
  if (revokedEntries.length > 1 && !all)
    throw new InputError(`${clientId} has several keys: use --key (${labelsOf(clientEntries)}) or --all.`);
  const remaining = entries.flatMap((entry) => (revokedEntries.includes(entry) ? [] : [entry.fileEntry]));
  writeKeyEntries(file, remaining);
  terminal.print(
    `Revoked keys of ${clientId}: ${labelsOf(revokedEntries)}. Keys left: ${clientEntries.length - revokedEntries.length}. Gateways that use ${file} reject the revoked keys within seconds.`,
  );
}

const METRICS_TIMEOUT_MS = 10_000;
const LAST_USE_PATTERN =
  /^paygraph_client_key_last_used_timestamp_seconds\{client="([\w.-]+)",key="([\w.-]+)"\} ([\d.e+]+)$/gm;

async function readMetrics(url: string, headers: { authorization?: string }): Promise<string> {
  if (!URL.canParse(url)) throw new InputError('--metrics: expected the URL of /metrics of an instance.');
  const { origin, pathname } = new URL(url);
  let reason: string;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    if (response.ok) return await response.text();
    reason = `HTTP ${response.status}`;
  } catch (error) {
    reason = errorOrCauseCode(error);
  }
  throw new Error(`--metrics: ${origin}${pathname} cannot be read (${reason}).`);
}

/**
 * Returns the latest use of each key at any of the instances, in ms since 1970. The map has no entry for a key that was
 * not used. Map key: `<client id> <label>`.
 */
async function readLastUses(urls: readonly string[], { env }: CommandContext): Promise<Map<string, number>> {
  const token = readCommandConfig(env).metricsToken?.reveal();
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const metricsTexts = await Promise.all(urls.map((url) => readMetrics(url, headers)));
  const lastUses = new Map<string, number>();
  for (const [, client, label, seconds] of metricsTexts.join('\n').matchAll(LAST_USE_PATTERN)) {
    const clientAndLabel = `${client} ${label}`;
    lastUses.set(clientAndLabel, Math.max(lastUses.get(clientAndLabel) ?? 0, Number(seconds) * 1000));
  }
  return lastUses;
}

/** Formats objects as a table with aligned columns. All objects must have the same fields. */
function formatTable(objects: readonly Readonly<Record<string, unknown>>[]): string {
  const fieldNames = Object.keys(objects[0] ?? {});
  const rows = objects.map((object) => fieldNames.map((name) => String(object[name] ?? '-')));
  const lines = [fieldNames.map((name) => fieldLabel(name).toUpperCase()), ...rows];
  const widths = fieldNames.map((_, index) => Math.max(...lines.map((cells) => cells[index]?.length ?? 0)));
  const padded = lines.map((cells) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)));
  return padded.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

/** Runs `paygraph client-key list`. `metrics`: URLs of /metrics, one for each instance. */
export async function listKeys(
  context: CommandContext,
  { file, metrics, json }: { file: string; metrics?: readonly string[]; json?: boolean },
): Promise<void> {
  const entries = readKeyEntries(file);
  const lastUses = metrics && (await readLastUses(metrics, context));
  const keys = entries.map(
    ({ fileEntry: { id, scopes, channels }, clientKey: { label, createdAt, caller } }) => ({
      client: id,
      key: label,
      createdAt: isoTimeOrNull(createdAt),
      expiresAt: isoTimeOrNull(caller.expiresAt),
      isExpired: (caller.expiresAt ?? Infinity) <= Date.now(),
      ...(lastUses && { lastUsedAt: isoTimeOrNull(lastUses.get(`${id} ${label}`)) }),
      scopes,
      channels,
    }),
  );
  if (json) context.terminal.printJson(keys);
  else context.terminal.print(keys.length === 0 ? 'There are no keys.' : formatTable(keys));
}
