import { readFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { Random, pause } from '../chaos/random';
import { newestCursor, subscriptionQuery, unaliased } from '../changes/support/requests';
import { CHANNEL, type Json } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { openStore } from '../support/stores';
import { FINAL, move } from './feed';

interface Cost {
  /** Number of lookups at the service. */
  lookups: number;
  cpuSeconds: number;
  /** Number of payments whose last status was delivered. */
  ended: number;
}

const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on PaymentResource { transactionId status } } }`;
/** Maximum time in ms until every last status has been delivered. */
const CATCH_UP_MS = 60_000;

/** Returns the processor time that a running program has used. */
function cpuSecondsOf({ pid }: Program): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user = 0, system = 0] = rest.split(' ').slice(11).map(Number);
  return (user + system) / 100;
}

interface Load {
  payments: number;
  durationMs: number;
}

/** Creates payments, and reads their statuses by `watched`: a subscription for each payment, or one to all changes. */
async function measure(
  watched: 'each payment' | 'changes',
  env: Record<string, string>,
  { payments, durationMs }: Load,
): Promise<Cost> {
  const store = await openStore('SQLite');
  const random = new Random(1);
  const service = await FakePaymentService.start();
  const gateway = await Program.start({
    serviceUrl: service.url,
    databaseUrl: store.url,
    env: { RATE_LIMIT_PER_MINUTE: '0', ...env },
  });
  const { url } = gateway;
  const client = createClient({
    url: url.replace('http', 'ws'),
    webSocketImpl: WebSocket,
    connectionParams: AUTHORIZED,
  });
  const ended = new Set<string>();
  const watch = (query: string, variables: Json): unknown =>
    client.subscribe<Record<string, Json>>(
      { query, variables: { channel: CHANNEL, ...variables } },
      {
        next: ({ data }) => {
          const { transactionId, status } = unaliased(Object.values(data ?? {})[0] ?? {});
          if (FINAL.includes(status)) ended.add(transactionId);
        },
        error: () => undefined,
        complete: () => undefined,
      },
    );
  try {
    if (watched === 'changes') watch(subscriptionQuery(), { after: await newestCursor({ url }) });
    await Promise.all(
      Array.from({ length: payments }, async (_, index) => {
        await pause((durationMs * index) / payments);
        const { transactionId: id } = await gateway.create('payment', `cost-${index}`);
        const entry = service.ledger.byId('payment', id ?? '');
        if (!entry) throw new Error('A payment was not created.');
        if (watched === 'each payment') watch(WATCH, { id });
        await move(entry, random, { transitions: new Map(), maxStepMs: 20_000 });
      }),
    );
    const deadline = performance.now() + CATCH_UP_MS;
    while (ended.size < payments && performance.now() < deadline) await pause(100);
    const lookups = service.requests.filter(({ method }) => method === 'GET').length;
    return { lookups, cpuSeconds: cpuSecondsOf(gateway), ended: ended.size };
  } finally {
    void client.dispose();
    await gateway.kill();
    await service.close();
    await store.drop();
  }
}

/** Measures the cost of following payments by one subscription to all changes, and by one for each payment. */
export const compareCosts = async (load: Load): Promise<Record<string, Cost>> => ({
  subscriptions: await measure('each payment', { FOLLOW_DAYS: '0' }, load),
  changes: await measure('changes', { FOLLOW_DAYS: '7', FOLLOW_LOOKUPS_PER_SECOND: '500' }, load),
});
