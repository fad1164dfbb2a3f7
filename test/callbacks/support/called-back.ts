import type { Client } from 'graphql-ws';
import { AUTHORIZED } from '../../support/credentials';
import type { Kind } from '../../exactly-once/support/caller';
import { until } from '../../exactly-once/support/gate';
import { newKey, type Rig } from '../../exactly-once/support/rig';
import type { Entry } from '../../exactly-once/service/ledger';
import { graphqlWsClient } from '../../live/support/graphql-ws-client';
import { watchPayment, watchPayout, type Watching } from '../../live/support/watching';

/** Where the service is told to find the gateways of these tests. */
export const PUBLIC_URL = 'https://gateway.example/pay';

/** Nothing is found by looking now and then: no test is so long. */
export const NO_POLLING = {
  WATCH_PACE_PAYER: '24h',
  WATCH_PACE_PROVIDER: '24h',
  WATCH_PACE_MISPAID: '24h',
  WATCH_HEARTBEAT_SECONDS: '3600',
};

/** The settings of a gateway that hears of changes by callbacks only. */
export const HINTED = { PUBLIC_URL, ...NO_POLLING };

/** What the service was told to call when what was created under that key changes. */
export function addressOf({ service }: Rig, key: string): string {
  const sent = service.seen.find(
    ({ purpose, json }) => purpose.startsWith('create') && json['description'] === key,
  );
  return String(sent?.json['callback_url']);
}

export const tokenIn = (address: string): string => address.split('/').at(-1) ?? '';

/**
 * Calls a gateway at its own port, as a proxy does that takes the rest of the address away. Fails where the answer tells
 * anything.
 */
export async function callBack({ url }: { url: string }, address: string, body = '{}'): Promise<void> {
  const target = url.replace(/\/graphql$/, `/callbacks/${tokenIn(address)}`);
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(target, { method: 'POST', headers, body });
  expect([answer.status, await answer.text()]).toEqual([204, '']);
}

/** Something that was created, and what is known of it. */
export interface Sold {
  key: string;
  kind: Kind;
  /** What the service was told to call. */
  address: string;
  /** As the service has it: a test may change it. */
  entry: Entry;
}

/** Creates one, which is under way then. */
export async function sell(rig: Rig, kind: Kind = 'payment'): Promise<Sold> {
  const key = newKey();
  const { transactionId } = await rig.create(kind, key);
  const [entry] = rig.service.created(key);
  if (!entry || entry.transactionId !== transactionId) throw new Error('Nothing was created.');
  return { key, kind, address: addressOf(rig, key), entry };
}

/** How often a gateway has looked a transaction up by its id. */
export const lookups = ({ service }: Rig, { kind, entry }: Pick<Sold, 'kind' | 'entry'>): number =>
  service.asked(`look-up-${kind}`).filter(({ query }) => query.get('transaction_id') === entry.transactionId)
    .length;

export const clientOf = ({ url }: { url: string }): Client =>
  graphqlWsClient(url, { retryAttempts: 0, connectionParams: AUTHORIZED });

/** Watches it there, and has seen where it stands. */
export async function watch(rig: Rig, { kind, entry }: Pick<Sold, 'kind' | 'entry'>): Promise<Watching> {
  const watchIt = kind === 'payment' ? watchPayment : watchPayout;
  const watching = watchIt(clientOf(rig), entry.transactionId);
  await watching.told(1);
  return watching;
}

/** All that came of watching. */
export const outcome = ({ statuses, errors, completed }: Watching) => ({ statuses, errors, completed });

/** What it is while nothing went wrong and nothing has ended. */
export const stillAt = (...statuses: string[]) => ({ statuses, errors: undefined, completed: false });

/** What it is when all went well. */
export const endedAt = (...statuses: string[]) => ({ statuses, errors: undefined, completed: true });

/** How the gateway shows it to whoever asks. */
export async function shown(rig: Rig, { kind, entry }: Sold): Promise<unknown> {
  const resource = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
  const { data } = await rig.ask<Record<Kind, { status: string } | null>>(
    `{ ${kind}(channel: "${entry.channel}", transactionId: "${entry.transactionId}") { ... on ${resource} { status } } }`,
  );
  return data[kind]?.status;
}

/** Another change makes its way from the service to a watcher: what was set off before has had its turn. */
export async function roundTrip(rig: Rig): Promise<void> {
  const other = await sell(rig);
  const watching = await watch(rig, other);
  other.entry.status = 'completed';
  await callBack(rig, other.address);
  await watching.ended();
}

/** Resolves when a gateway has looked a transaction up so often. */
export const lookedUp = (rig: Rig, sold: Sold, times: number): Promise<number> =>
  until(
    () => lookups(rig, sold),
    (count) => count >= times,
  );
