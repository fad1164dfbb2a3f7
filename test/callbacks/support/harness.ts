import type { Kind } from '../../support/caller';
import { until } from '../../support/latch';
import { newKey, type Rig } from '../../support/harness';
import { reset } from '../../support/payment-service/faults';
import type { Entry } from '../../support/payment-service/ledger';
import {
  watchPayment,
  watchPayout,
  webSocketClient,
  type Watching,
} from '../../subscriptions/support/subscriptions';

/** Where the service is told to find the gateways of these tests. */
export const PUBLIC_URL = 'https://gateway.example/pay';

/** Nothing is found by looking now and then: no test is so long. */
export const NO_POLLING = {
  POLL_INTERVALS_PAYER: '24h',
  POLL_INTERVALS_PROVIDER: '24h',
  POLL_INTERVALS_MISPAID: '24h',
  SUBSCRIPTION_PING_SECONDS: '3600',
};

/** The settings of a gateway that hears of changes by callbacks only. */
export const HINTED = { PUBLIC_URL, ...NO_POLLING };

/** What the service was told to call when what was created under that key changes. */
export function addressOf({ service }: Rig, key: string): string {
  const sent = service.requests.find(
    ({ endpoint: purpose, json }) => purpose.startsWith('create') && json['description'] === key,
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
  service
    .requestsTo(`look-up-${kind}`)
    .filter(({ parameters }) => parameters.get('transaction_id') === entry.transactionId).length;

/** Watches it there, and has seen where it stands. */
export async function watch(rig: Rig, { kind, entry }: Pick<Sold, 'kind' | 'entry'>): Promise<Watching> {
  const watchIt = kind === 'payment' ? watchPayment : watchPayout;
  return watchIt(webSocketClient(rig), entry.transactionId).received(1);
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

/** Creates something that no lookup shows yet and whose response is lost: its outcome is unknown. */
export async function lose(rig: Rig, kind: Kind, reply = reset): Promise<Sold> {
  const key = newKey();
  rig.service.ledger.lag = { ms: 0, lookups: 1000 };
  rig.service.next(`create-${kind}`, { acts: true, reply });
  expect(await rig.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
  rig.service.ledger.lag = { ms: 0, lookups: 0 };
  const [entry] = rig.service.created(key);
  if (!entry) throw new Error('Nothing was created.');
  return { key, kind, entry, address: addressOf(rig, key) };
}

/** Resolves with the attempt once it has succeeded. */
export const untilSucceeded = (rig: Rig, key: string) =>
  until(
    () => rig.attempt(key),
    (attempt) => attempt?.outcome === 'SUCCEEDED',
  );
