import { readFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Random, pause } from '../chaos/random';
import { newestCursor } from '../changes/support/requests';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { openStore } from '../support/stores';
import { Consumer, TRANSPORTS } from './consumers';
import { FINAL, endedIn, move, type Transitions } from './feed';

interface Cost {
  /** Number of lookups at the service. */
  lookups: number;
  cpuSeconds: number;
  /** Number of payments whose last status was delivered. */
  ended: number;
}

const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on PaymentResource { status } } }`;
/** Maximum time in ms until every last status has been delivered. */
const CATCH_UP_MS = 60_000;

/** Reads the statuses of payments. */
type Method = (gateway: Program) => Reader | Promise<Reader>;

interface Reader {
  watch(transactionId: string): void;
  /** Returns the ids of the payments whose last status was delivered. */
  ended(): ReadonlySet<string>;
  stop(): void;
}

/** One connection with a subscription for each payment. */
const bySubscriptions: Method = ({ url }) => {
  const ended = new Set<string>();
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: AUTHORIZED,
    lazy: false,
  });
  return {
    watch: (id) => {
      client.subscribe<{ paymentUpdated: { status: string } }>(
        { query: WATCH, variables: { channel: CHANNEL, id } },
        {
          next: ({ data }) => {
            if (FINAL.includes(data?.paymentUpdated.status ?? '')) ended.add(id);
          },
          error: () => undefined,
          complete: () => undefined,
        },
      );
    },
    ended: () => ended,
    stop: () => void client.dispose(),
  };
};

/** One subscription to all changes. */
const byChanges: Method = async ({ url }) => {
  const consumer = new Consumer({
    transport: TRANSPORTS['WebSocket']!,
    after: await newestCursor({ url }),
    nextUrl: () => url,
    nextLifetimeMs: () => 3_600_000,
  });
  void consumer.run();
  return {
    watch: () => undefined,
    ended: () => endedIn(consumer.seen),
    stop: () => consumer.stop(),
  };
};

/** Returns the processor time that a running program has used. */
function cpuSecondsOf({ pid }: Program): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = rest.split(' ').slice(11).map(Number);
  return (user + system) / 100;
}

async function measure(
  method: Method,
  env: Record<string, string>,
  payments: number,
  durationMs: number,
): Promise<Cost> {
  const store = await openStore('SQLite');
  const random = new Random(1);
  const service = await FakePaymentService.start();
  const gateway = await Program.start({
    serviceUrl: service.url,
    databaseUrl: store.url,
    env: { RATE_LIMIT_PER_MINUTE: '0', ...env },
  });
  const transitions: Transitions = new Map();
  const reader = await method(gateway);
  try {
    await Promise.all(
      Array.from({ length: payments }, async (_, index) => {
        await pause((durationMs * index) / payments);
        const { transactionId } = await gateway.create('payment', `cost-${method.name}-${index}`);
        const entry = service.ledger.byId('payment', transactionId ?? '');
        if (!entry) throw new Error('A payment was not created.');
        reader.watch(entry.transactionId);
        await move(entry, random, { transitions, maxStepMs: 20_000 });
      }),
    );
    const deadline = performance.now() + CATCH_UP_MS;
    while (reader.ended().size < payments && performance.now() < deadline) await pause(100);
    const lookups = service.requests.filter(({ method: verb }) => verb === 'GET').length;
    return { lookups, cpuSeconds: cpuSecondsOf(gateway), ended: reader.ended().size };
  } finally {
    reader.stop();
    await gateway.kill();
    await service.close();
    await store.drop();
  }
}

/** Measures the cost of following payments by one subscription to all changes, and by one for each payment. */
export const compareCosts = async (payments: number, durationMs: number): Promise<Record<string, Cost>> => ({
  subscriptions: await measure(bySubscriptions, { FOLLOW_DAYS: '0' }, payments, durationMs),
  changes: await measure(
    byChanges,
    { FOLLOW_DAYS: '7', FOLLOW_LOOKUPS_PER_SECOND: '500' },
    payments,
    durationMs,
  ),
});
