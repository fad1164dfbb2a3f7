import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { DESCRIPTION_BY_SCOPE } from '../../auth/caller';
import { ClientKeyStore, newClientKey, type ClientKey } from '../../auth/client-keys';
import { readCommandConfig } from '../../config';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseStrictJson, readTextFile } from '../../shared/json-text';
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
function readKeyEntries(keysPath: string): KeyEntry[] {
  if (!existsSync(keysPath)) return [];
  try {
    const fileText = readTextFile(keysPath);
    const clientKeys = new ClientKeyStore(fileText).allClientKeys;
    const fileEntries = parseStrictJson(fileText) as KeyEntry['fileEntry'][];
    return fileEntries.map((fileEntry, index) => ({ fileEntry, clientKey: clientKeys[index] as ClientKey }));
  } catch (error) {
    throw new InputError(`${keysPath}: ${describeFileError(error)}.`);
  }
}

/** Validates entries by the rules of the gateway. @throws InputError if one is invalid */
function validateFileEntries(fileEntries: readonly object[]): void {
  try {
    new ClientKeyStore(JSON.stringify(fileEntries));
  } catch (error) {
    throw new InputError(describeFileError(error));
  }
}

function writeFileEntries(keysPath: string, fileEntries: readonly object[]): void {
  validateFileEntries(fileEntries);
  replaceFile(keysPath, `${JSON.stringify(fileEntries, null, 2)}\n`, 0o600);
}

/** Returns the entries of a client, in the order of the file. @throws InputError if there are none */
function keyEntriesOfClient(keyEntries: readonly KeyEntry[], clientId: string, keysPath: string): KeyEntry[] {
  const clientEntries = keyEntries.filter(({ fileEntry }) => fileEntry.id === clientId);
  if (clientEntries.length === 0) throw new InputError(`${keysPath} has no client with this id.`);
  return clientEntries;
}

interface NewKeyOptions {
  label?: string;
  /** Lifetime of the key in ms. Undefined: `new` sets no expiry, `rotate` uses the lifetime of the newest key. */
  expiresIn?: number | undefined;
}

/**
 * Creates a key and its entry for CLIENT_KEYS_FILE, but writes no file.
 * @param scopesAndChannels the fields `scopes` and `channels` of the entry
 * @throws InputError if the entry is invalid
 */
function createKey(clientId: string, scopesAndChannels: object, { label, expiresIn }: NewKeyOptions) {
  const now = Date.now();
  const { key, entry } = newClientKey(clientId);
  // If `label` or `expiresAt` is undefined, JSON.stringify() omits the field.
  const isoExpiry = expiresIn === undefined ? undefined : isoTime(now + expiresIn);
  const fileEntry = { ...scopesAndChannels, ...entry, label, createdAt: isoTime(now), expiresAt: isoExpiry };
  validateFileEntries([fileEntry]);
  return { key, entry: fileEntry };
}

const newKeyMessage = (clientId: string, plainKey: string): string =>
  `Key of ${clientId} (it is not shown again):\n${plainKey}\n\n`;

/** Runs `paygraph client-key new`. */
export async function issueKey(
  { terminal }: CommandContext,
  clientId: string,
  options: NewKeyOptions & { scopes?: string[]; channels?: string[]; file?: string },
  { args }: Command,
): Promise<void> {
  if (args.length > 1)
    throw new UsageError(
      'client-key new: more than one client id. Separate scopes and channels by commas, without spaces.',
    );
  const { channels = ['*'], file: keysPath } = options;
  const keyEntries = keysPath === undefined ? [] : readKeyEntries(keysPath);
  if (keyEntries.some(({ fileEntry }) => fileEntry.id === clientId))
    throw new InputError(`${keysPath} already has a client with this id: use client-key rotate.`);
  // Default: all scopes except cards:direct. Scopes that end in `:own` are omitted too, because the scopes without
  // `:own` include them.
  const isDefaultScope = (scope: string): boolean => scope !== 'cards:direct' && !scope.endsWith(':own');
  const scopes = options.scopes ?? Object.keys(DESCRIPTION_BY_SCOPE).filter(isDefaultScope);
  const { key, entry } = createKey(clientId, { scopes, channels }, options);
  const keyMessage = newKeyMessage(clientId, key);
  if (keysPath === undefined)
    terminal.print(`${keyMessage}Entry for CLIENT_KEYS_FILE:\n${JSON.stringify(entry, null, 2)}`);
  else {
    writeFileEntries(keysPath, [...keyEntries.map(({ fileEntry }) => fileEntry), entry]);
    terminal.print(`${keyMessage}The entry was added to ${keysPath}.`);
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
  options: NewKeyOptions & { file: string; oldExpiresIn?: number },
): Promise<void> {
  const { file: keysPath, label, oldExpiresIn: oldExpiresInMs = Infinity } = options;
  const keyEntries = readKeyEntries(keysPath);
  const newestEntry = keyEntriesOfClient(keyEntries, clientId, keysPath).at(-1) as KeyEntry;
  const { scopes, channels } = newestEntry.fileEntry;
  const lifetimeMs = options.expiresIn ?? keyLifetimeMs(newestEntry.clientKey);
  const { key, entry } = createKey(clientId, { scopes, channels }, { label, expiresIn: lifetimeMs });
  if (oldExpiresInMs < 0) throw new InputError('--old-expires-in: expected 0s (expire immediately) or more.');
  const oldExpiresAtMs = Date.now() + oldExpiresInMs;
  const updatedFileEntries = keyEntries.map((keyEntry) =>
    keyEntry.fileEntry.id === clientId && (keyEntry.clientKey.caller.expiresAt ?? Infinity) > oldExpiresAtMs
      ? { ...keyEntry.fileEntry, expiresAt: isoTime(oldExpiresAtMs) }
      : keyEntry.fileEntry,
  );
  writeFileEntries(keysPath, [...updatedFileEntries, entry]);
  const expiryNote =
    oldExpiresInMs === Infinity ? '' : ` The other keys expire at ${isoTime(oldExpiresAtMs)} or earlier.`;
  terminal.print(`${newKeyMessage(clientId, key)}The entry was added to ${keysPath}.${expiryNote}`);
}

/** Runs `paygraph client-key revoke`. */
export async function revokeKey(
  { terminal }: CommandContext,
  clientId: string,
  { file: keysPath, key: label, all }: { file: string; key?: string; all?: boolean },
): Promise<void> {
  const keyEntries = readKeyEntries(keysPath);
  const clientEntries = keyEntriesOfClient(keyEntries, clientId, keysPath);
  const isRevoked = ({ clientKey }: KeyEntry): boolean => label === undefined || clientKey.label === label;
  const revokedEntries = clientEntries.filter(isRevoked);
  const labelsText = (entries: readonly KeyEntry[]): string =>
    entries.map(({ clientKey }) => clientKey.label).join(', ');
  if (revokedEntries.length === 0)
    throw new InputError(`${clientId} has no key with this label. Its keys: ${labelsText(clientEntries)}.`);
  if (revokedEntries.length > 1 && !all)
    throw new InputError(`${clientId} has several keys: use --key (${labelsText(clientEntries)}) or --all.`);
  const keptFileEntries = keyEntries.flatMap((keyEntry) =>
    revokedEntries.includes(keyEntry) ? [] : [keyEntry.fileEntry],
  );
  writeFileEntries(keysPath, keptFileEntries);
  terminal.print(
    `Revoked keys of ${clientId}: ${labelsText(revokedEntries)}. Keys left: ${clientEntries.length - revokedEntries.length}. Gateways that use ${keysPath} reject the revoked keys within seconds.`,
  );
}

const METRICS_TIMEOUT_MS = 10_000;
const LAST_USE_METRIC_PATTERN =
  /^paygraph_client_key_last_used_timestamp_seconds\{client="([\w.-]+)",key="([\w.-]+)"\} ([\d.e+]+)$/gm;

async function fetchMetricsText(url: string, headers: { authorization?: string }): Promise<string> {
  if (!URL.canParse(url)) throw new InputError('--metrics: expected the URL of /metrics of an instance.');
  const { origin, pathname } = new URL(url);
  let failureReason: string;
  try {
    const response = await fetch(url, { headers, signal: AbortSignal.timeout(METRICS_TIMEOUT_MS) });
    if (response.ok) return await response.text();
    failureReason = `HTTP ${response.status}`;
  } catch (error) {
    failureReason = errorOrCauseCode(error);
  }
  throw new Error(`--metrics: ${origin}${pathname} cannot be read (${failureReason}).`);
}

/**
 * Returns the latest use of each key at any of the instances, in ms since 1970. The map has no entry for a key that was
 * not used. Map key: `<client id> <label>`.
 */
async function readLastUses(urls: readonly string[], { env }: CommandContext): Promise<Map<string, number>> {
  const metricsToken = readCommandConfig(env).metricsToken?.reveal();
  const headers = { ...(metricsToken !== undefined && { authorization: `Bearer ${metricsToken}` }) };
  const metricsTexts = await Promise.all(urls.map((url) => fetchMetricsText(url, headers)));
  const lastUseMsByKey = new Map<string, number>();
  for (const [, client, label, seconds] of metricsTexts.join('\n').matchAll(LAST_USE_METRIC_PATTERN)) {
    const idAndLabel = `${client} ${label}`;
    lastUseMsByKey.set(idAndLabel, Math.max(lastUseMsByKey.get(idAndLabel) ?? 0, Number(seconds) * 1000));
  }
  return lastUseMsByKey;
}

/** Formats objects as a table with aligned columns. All objects must have the same fields. */
function formatTable(objects: readonly Readonly<Record<string, unknown>>[]): string {
  const fieldNames = Object.keys(objects[0] ?? {});
  const rows = objects.map((object) => fieldNames.map((fieldName) => String(object[fieldName] ?? '-')));
  const cellRows = [fieldNames.map((fieldName) => fieldLabel(fieldName).toUpperCase()), ...rows];
  const widths = fieldNames.map((_, index) =>
    Math.max(...cellRows.map((cells) => cells[index]?.length ?? 0)),
  );
  const paddedRows = cellRows.map((cells) => cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)));
  return paddedRows.map((cells) => cells.join('  ').trimEnd()).join('\n');
}

/** Runs `paygraph client-key list`. `metrics`: URLs of /metrics, one for each instance. */
export async function listKeys(
  context: CommandContext,
  { file: keysPath, metrics: urls, json }: { file: string; metrics?: readonly string[]; json?: boolean },
): Promise<void> {
  const keyEntries = readKeyEntries(keysPath);
  const lastUseMsByKey = urls && (await readLastUses(urls, context));
  const keysJson = keyEntries.map(
    ({ fileEntry: { id, scopes, channels }, clientKey: { label, createdAt, caller } }) => ({
      client: id,
      key: label,
      createdAt: isoTimeOrNull(createdAt),
      expiresAt: isoTimeOrNull(caller.expiresAt),
      isExpired: (caller.expiresAt ?? Infinity) <= Date.now(),
      ...(lastUseMsByKey && { lastUsedAt: isoTimeOrNull(lastUseMsByKey.get(`${id} ${label}`)) }),
      scopes,
      channels,
    }),
  );
  if (json) context.terminal.printJson(keysJson);
  else context.terminal.print(keysJson.length === 0 ? 'There are no keys.' : formatTable(keysJson));
}
