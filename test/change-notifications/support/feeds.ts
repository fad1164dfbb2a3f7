import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../../src/shared/clock';
import {
  createNotifier,
  type ChangeNotifier,
  type StateChange,
} from '../../../src/datasources/change-notifier/change-notifier';
import { until } from '../../support/latch';
import { withClient } from '../../support/stores';

export const newChange = (): StateChange => ({
  name: randomBytes(16).toString('base64url'),
  state: randomBytes(6).toString('base64url'),
});

export const newChanges = (count: number): StateChange[] => Array.from({ length: count }, newChange);

export const textOf = ({ name, state }: StateChange): string => name + state;

export interface Instance {
  feed: ChangeNotifier;
  received: StateChange[];
  /** Reported connection states, in order. */
  reached: boolean[];
  has(change: StateChange): boolean;
}

const opened: ChangeNotifier[] = [];

export function start(url: string, clock: Clock = systemClock): Instance {
  const received: StateChange[] = [];
  const reached: boolean[] = [];
  const names = new Set<string>();
  const onConnectionChange = (isConnected: boolean): number => reached.push(isConnected);
  const feed = createNotifier({ databaseUrl: url, clock, onConnectionChange });
  feed.subscribe((change) => {
    received.push(change);
    names.add(textOf(change));
  });
  opened.push(feed);
  return { feed, received, reached, has: (change) => names.has(textOf(change)) };
}

export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((feed) => feed.close()));
}

/** Waits until each instance receives the changes of all others, and clears `received`. */
export async function connected(...instances: Instance[]): Promise<void> {
  const sent: [by: Instance, change: StateChange][] = [];
  await until(() => {
    const unconnected = instances.filter((one) =>
      instances.some(
        (by) => by !== one && !sent.some(([sender, change]) => sender === by && one.has(change)),
      ),
    );
    if (unconnected.length === 0) return true;
    for (const by of instances) {
      const change = newChange();
      sent.push([by, change]);
      by.feed.publish(change);
    }
    return false;
  });
  // Changes arrive in order: none is outstanding after the last change.
  for (const by of instances) {
    const last = newChange();
    by.feed.publish(last);
    const others = instances.filter((one) => one !== by);
    await until(() => others.every((one) => one.has(last)));
  }
  for (const one of instances) one.received.length = 0;
}

const OURS = `application_name = 'paygraph' AND datname = current_database()`;

async function gatewayConnections(url: string): Promise<{ pid: number; query: string }[]> {
  const request = `SELECT pid, query FROM pg_stat_activity WHERE ${OURS} ORDER BY pid`;
  return withClient(
    url,
    async (client) => (await client.query<{ pid: number; query: string }>(request)).rows,
  );
}

export const connections = async (url: string): Promise<number[]> =>
  (await gatewayConnections(url)).map(({ pid }) => pid);

export const lastQueries = async (url: string): Promise<string[]> =>
  (await gatewayConnections(url)).map(({ query }) => query);

export const killConnections = (url: string): Promise<unknown> =>
  withClient(url, (client) =>
    client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`),
  );
