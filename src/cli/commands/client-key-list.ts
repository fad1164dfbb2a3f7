import { readToolConfig } from '../../config';
import { orInputError, readEntries, type KeyEntry } from '../client-keys-file';
import { EXIT, InputError, type Context } from '../context';

interface ListOptions {
  file: string;
  /** Addresses of /metrics, one for each instance. */
  metrics: readonly string[];
  json?: boolean;
}

const READ_TIMEOUT_MS = 10_000;
const SAMPLE =
  /^paygraph_client_key_last_used_timestamp_seconds\{client="([\w.-]+)",key="([\w.-]+)"\} ([\d.e+]+)$/gm;

const nameOf = (client: string, label: string): string => `${client} ${label}`;

/** When keys were last used, in milliseconds since 1970, by client and label: the latest of all instances. */
async function readLastUses(urls: readonly string[], token: string | null): Promise<Map<string, number>> {
  const headers = token === null ? {} : { authorization: `Bearer ${token}` };
  const pages = await Promise.all(
    urls.map(async (url) => {
      if (!URL.canParse(url)) throw new InputError('--metrics: expected the address of /metrics.');
      const response = await fetch(url, { headers, signal: AbortSignal.timeout(READ_TIMEOUT_MS) });
      if (!response.ok) throw new Error(`The metrics cannot be read: HTTP ${response.status}.`);
      return response.text();
    }),
  );
  const lastUses = new Map<string, number>();
  for (const [, client = '', label = '', seconds] of pages.flatMap((page) => [...page.matchAll(SAMPLE)])) {
    const name = nameOf(client, label);
    lastUses.set(name, Math.max(lastUses.get(name) ?? 0, Number(seconds) * 1000));
  }
  return lastUses;
}

const timeOrNull = (ms: number | null | undefined): string | null =>
  ms === null || ms === undefined ? null : new Date(ms).toISOString();

/** A key for scripts. */
const factsOf = ({ entry, id, key }: KeyEntry, lastUses: ReadonlyMap<string, number> | null) => {
  const { scopes, channels } = entry as { scopes: string[]; channels: string[] };
  const { expiresAt } = key.caller;
  return {
    client: id,
    key: key.label,
    createdAt: timeOrNull(key.createdAt),
    expiresAt: timeOrNull(expiresAt),
    isExpired: expiresAt !== null && expiresAt <= Date.now(),
    ...(lastUses && { lastUsedAt: timeOrNull(lastUses.get(nameOf(id, key.label))) }),
    scopes,
    channels,
  };
};

type KeyFacts = ReturnType<typeof factsOf>;

/** The time to the second, or a dash. */
const shortTime = (time: string | null | undefined): string => time?.replace(/\.\d+Z$/, 'Z') ?? '-';

/** The keys in columns. */
function tableOf(keys: readonly KeyFacts[], hasLastUse: boolean): string {
  const head = [
    'CLIENT',
    'KEY',
    'CREATED',
    'EXPIRES',
    ...(hasLastUse ? ['LAST USED'] : []),
    'SCOPES',
    'CHANNELS',
  ];
  const rows = keys.map((key) => [
    key.client,
    key.key,
    shortTime(key.createdAt),
    shortTime(key.expiresAt) + (key.isExpired ? ' (expired)' : ''),
    ...(hasLastUse ? [shortTime(key.lastUsedAt)] : []),
    key.scopes.join(','),
    key.channels.join(','),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [head, ...rows].map(line).join('\n');
}

const metricsToken = ({ env }: Context): string | null => readToolConfig(env).metricsToken?.reveal() ?? null;

/** `paygraph client-key list`. Rejects where the file or the metrics cannot be read. */
export async function listKeys(context: Context, { file, metrics, json }: ListOptions): Promise<number> {
  const entries = orInputError(() => readEntries(file));
  const lastUses = metrics.length === 0 ? null : await readLastUses(metrics, metricsToken(context));
  const keys = entries.map((entry) => factsOf(entry, lastUses));
  if (json) context.terminal.printJson(keys);
  else context.terminal.print(keys.length === 0 ? 'There is no key.' : tableOf(keys, lastUses !== null));
  return EXIT.done;
}
