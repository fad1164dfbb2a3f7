import { randomBytes } from 'node:crypto';
import { systemClock, type Clock } from '../../../src/shared/clock';
import {
  createNotifier,
  type ChangeNotifier,
  type StateChange,
} from '../../../src/datasources/change-notifier/change-notifier';
import { until } from '../../support/latch';
import type { Store } from '../../support/stores';

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
  for (const by of instances) {
    const others = instances.filter((one) => one !== by);
    const sent: StateChange[] = [];
    await until(() => {
      if (others.every((one) => sent.some(one.has))) return true;
      by.feed.publish(sent[sent.push(newChange()) - 1]!);
      return false;
    });
    // Changes arrive in order: none is outstanding after the last change.
    const last = newChange();
    by.feed.publish(last);
    await until(() => others.every((one) => one.has(last)));
  }
  for (const one of instances) one.received.length = 0;
}

const OURS = `application_name = 'paygraph' AND datname = current_database()`;

/** Returns the connections of all instances, with the last query of each. */
export const connections = ({ rows }: Store): Promise<Record<string, unknown>[]> =>
  rows(`SELECT pid, query FROM pg_stat_activity WHERE ${OURS} ORDER BY pid`);

export const killConnections = ({ rows }: Store): Promise<unknown> =>
  rows(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`);
