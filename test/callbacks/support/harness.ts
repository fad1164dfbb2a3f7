import type { Kind } from '../../support/caller';
import { loseHiddenResponse } from '../../exactly-once/support/creates';
import { until } from '../../support/latch';
import { newKey, type Harness } from '../../support/harness';
import type { Entry } from '../../support/payment-service/ledger';
import { NO_POLLING } from '../../subscriptions/support/harness';
import { watchPayment, watchPayout, webSocketClient } from '../../subscriptions/support/subscriptions';

/** Settings of a gateway that learns of changes by callbacks only. */
export const CALLBACKS_ONLY = { PUBLIC_URL: 'https://gateway.example/pay', ...NO_POLLING };

/** CALLBACKS_ONLY for tests that wait for the timeout of a lost create. */
export const LOSING_CREATES = { ...CALLBACKS_ONLY, SERVICE_TIMEOUT_MS: '2000' };

/** Returns the callback URL in the create with this key; the text `undefined` if it had none. */
export function callbackUrlOf({ service }: Harness, key: string): string {
  const sent = service.requests.find(
    ({ endpoint: purpose, json }) => purpose.startsWith('create') && json['description'] === key,
  );
  return String(sent?.json['callback_url']);
}

export const tokenIn = (address: string): string => address.split('/').at(-1) ?? '';

/** Sends a callback to the gateway's own port, as a proxy does. Expects 204 without a body. */
export async function callBack({ url }: { url: string }, address: string, body = '{}'): Promise<void> {
  const target = url.replace(/\/graphql$/, `/callbacks/${tokenIn(address)}`);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(target, { method: 'POST', headers, body });
  expect([response.status, await response.text()]).toEqual([204, '']);
}

/** A created payment or payout. */
export interface Created {
  key: string;
  kind: Kind;
  callbackUrl: string;
  /** The entry of the service's ledger, which a test may change. */
  entry: Entry;
}

export async function createTransaction(harness: Harness, kind: Kind = 'payment'): Promise<Created> {
  const key = newKey();
  const { transactionId } = await harness.create(kind, key);
  const [entry] = harness.service.created(key);
  if (!entry || entry.transactionId !== transactionId) throw new Error('Nothing was created.');
  return { key, kind, callbackUrl: callbackUrlOf(harness, key), entry };
}

export const lookups = ({ service }: Harness, { kind, entry }: Pick<Created, 'kind' | 'entry'>): number =>
  service
    .requestsTo(`look-up-${kind}`)
    .filter(({ parameters }) => parameters.get('transaction_id') === entry.transactionId).length;

/** Subscribes, and waits for the first result. */
export async function watch(harness: Harness, { kind, entry }: Pick<Created, 'kind' | 'entry'>) {
  const subscribeTo = kind === 'payment' ? watchPayment : watchPayout;
  return subscribeTo(webSocketClient(harness), entry.transactionId).received(1);
}

export const ongoingWith = (...statuses: string[]) => ({ statuses, completed: false, codes: [] });

export const completedWith = (...statuses: string[]) => ({ statuses, completed: true, codes: [] });

export async function shown(harness: Harness, { kind, entry }: Created): Promise<unknown> {
  const resource = kind === 'payment' ? 'PaymentResource' : 'PayoutResource';
  const { data } = await harness.request<Record<Kind, { status: string } | null>>(
    `{ ${kind}(channel: "${entry.channel}", transactionId: "${entry.transactionId}") { ... on ${resource} { status } } }`,
  );
  return data[kind]?.status;
}

/** Waits until earlier changes have been processed: makes another change, and waits until its subscriber gets it. */
export async function roundTrip(harness: Harness): Promise<void> {
  const other = await createTransaction(harness);
  const watching = await watch(harness, other);
  other.entry.status = 'completed';
  await callBack(harness, other.callbackUrl);
  await watching.ended();
}

export const untilLookedUp = (harness: Harness, created: Created, times: number): Promise<unknown> =>
  until(() => lookups(harness, created) >= times);

/** Creates a transaction whose response is lost, and which lookups do not find. */
export async function loseCreate(harness: Harness, kind: Kind): Promise<Created> {
  const key = newKey();
  await loseHiddenResponse(harness, kind, key);
  const [entry] = harness.service.created(key);
  if (!entry) throw new Error('Nothing was created.');
  return { key, kind, entry, callbackUrl: callbackUrlOf(harness, key) };
}

export const untilSucceeded = (harness: Harness, key: string) =>
  until(
    () => harness.attempt(key),
    (attempt) => attempt?.outcome === 'SUCCEEDED',
  );
