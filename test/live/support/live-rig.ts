import { randomUUID } from 'node:crypto';
import type { AdvancingClock } from '../../../src/sandbox/clock';
import { OURS, bearer, keyOf } from '../../access/support/rig';
import { clientKeysFile, type TestClientKey } from '../../support/credentials';
import { testGateway, type TestClient } from '../../support/gateway';
import { movedClock } from '../../support/moved-clock';
import { until } from '../../exactly-once/support/gate';
import { obligingService, type ObligingService } from './obliging-service';
import { WireClient } from './wire-client';

/** A gateway whose clock only the test moves, before a service whose transactions stand where the test puts them. */
export interface LiveRig {
  client: TestClient;
  service: ObligingService;
  clock: AdvancingClock;
  logLines: string[];
}

interface LiveOptions {
  clients?: TestClientKey[];
  env?: Record<string, string>;
  clock?: AdvancingClock;
}

/** Who moves the clock by minutes at once leaves clients no time to answer. */
const NO_HEARTBEAT = { WATCH_HEARTBEAT_SECONDS: '3600' };

export async function liveRig({ clients = [], env = {}, clock }: LiveOptions = {}): Promise<LiveRig> {
  const moved = clock ?? movedClock(Date.now());
  const logLines: string[] = [];
  const service = await obligingService();
  const client = await testGateway(service.url, {
    clock: moved,
    logLines,
    env: { CLIENT_KEYS_FILE: clientKeysFile(...clients), ...NO_HEARTBEAT, ...env },
  });
  return { client, service, clock: moved, logLines };
}

const DOCUMENTS = {
  payment: `subscription Watch($c: UUID!, $t: UUID!) {
    paymentUpdated(channel: $c, transactionId: $t) { ... on PaymentResource { status } } }`,
  payout: `subscription Watch($c: UUID!, $t: UUID!) {
    payoutUpdated(channel: $c, transactionId: $t) { ... on PayoutResource { status } } }`,
} as const;

export type Kind = keyof typeof DOCUMENTS;

/** The subscription to a transaction, of a new one where none is given. */
export const watching = (t: string = randomUUID(), kind: Kind = 'payment', c: string = OURS) => ({
  query: DOCUMENTS[kind],
  variables: { c, t },
});

/** What a result of that subscription looks like. */
export const standing = (status: string, kind: Kind = 'payment') => ({
  data: { [`${kind}Updated`]: { status } },
});

/** Connects as that client of the rig. */
export const connectAs = ({ client }: LiveRig, id: string): Promise<WireClient> =>
  WireClient.ready(client.url, bearer(keyOf(id)));

/** Moves the clock until that is so: what goes off looks at the service, which takes its own time. */
export async function moveUntil(rig: LiveRig, isSo: () => boolean, stepMs = 1000): Promise<void> {
  await until(() => {
    if (isSo()) return true;
    rig.clock.advance(stepMs);
    return false;
  }, Boolean);
}

/** The lines of the log on subscriptions, in order. */
export const subscriptionLines = ({ logLines }: LiveRig): Record<string, unknown>[] =>
  logLines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ operation }) => operation === 'subscription');
