import { createHash } from 'node:crypto';
import { systemClock, type Clock } from '../../../src/clock';
import type { Change, ChangeFeed } from '../../../src/datasources/changes/changes';
import { openChanges } from '../../../src/datasources/changes/open';
import { connected } from '../../journal/support/stores';

const PATIENCE_MS = 20_000;

const hash = (text: string, length: number): string =>
  createHash('sha256').update(text).digest('base64url').slice(0, length);

let made = 0;

/** A change that nobody has told yet. */
export const newChange = (): Change => ({
  name: hash(`name ${++made}`, 22),
  state: hash(`state ${made}`, 8),
});

export const newChanges = (count: number): Change[] => Array.from({ length: count }, newChange);

export const textOf = ({ name, state }: Change): string => name + state;

/** Waits for something that the instances do by themselves. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What one instance heard and noticed. */
export interface Instance {
  feed: ChangeFeed;
  heard: Change[];
  /** What it said of whether it reaches the others. */
  reached: boolean[];
  hears(change: Change): boolean;
}

const opened: ChangeFeed[] = [];

export function instance(url: string, clock: Clock = systemClock): Instance {
  const heard: Change[] = [];
  const reached: boolean[] = [];
  const names = new Set<string>();
  const feed = openChanges({ databaseUrl: url, clock, onReach: (reaches) => reached.push(reaches) });
  feed.onChange((change) => {
    heard.push(change);
    names.add(textOf(change));
  });
  opened.push(feed);
  return { feed, heard, reached, hears: (change) => names.has(textOf(change)) };
}

/** Ends all that a test opened. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((feed) => feed.close()));
}

/** Resolves when each of them hears all others; what they heard until then is forgotten. */
export async function acquainted(...instances: Instance[]): Promise<void> {
  const told: [by: Instance, change: Change][] = [];
  await until('each hears all others', () => {
    const strangers = instances.filter((one) =>
      instances.some(
        (by) => by !== one && !told.some(([teller, change]) => teller === by && one.hears(change)),
      ),
    );
    if (strangers.length === 0) return true;
    for (const by of instances) {
      const change = newChange();
      told.push([by, change]);
      by.feed.tell(change);
    }
    return false;
  });
  // The greetings that are still on their way are heard before the last one is.
  for (const by of instances) {
    const last = newChange();
    by.feed.tell(last);
    const others = instances.filter((one) => one !== by);
    await until('the last greeting is heard', () => others.every((one) => one.hears(last)));
  }
  for (const one of instances) one.heard.length = 0;
}

const OURS = `application_name = 'paygraph' AND datname = current_database()`;

async function ours(url: string): Promise<{ pid: number; query: string }[]> {
  const asked = `SELECT pid, query FROM pg_stat_activity WHERE ${OURS} ORDER BY pid`;
  return connected(url, async (client) => (await client.query<{ pid: number; query: string }>(asked)).rows);
}

/** The server's ends of the connections to a database. */
export const connections = async (url: string): Promise<number[]> => (await ours(url)).map(({ pid }) => pid);

/** What each of them was asked last. */
export const lastAsked = async (url: string): Promise<string[]> =>
  (await ours(url)).map(({ query }) => query);

export const killConnections = (url: string): Promise<unknown> =>
  connected(url, (client) =>
    client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`),
  );
