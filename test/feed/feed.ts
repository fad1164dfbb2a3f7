import { isDeepStrictEqual } from 'node:util';
import { newestCursor, type SeenChange } from '../changes/support/requests';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import type { Entry } from '../support/payment-service/ledger';
import type { Store } from '../support/stores';
import { Gateways } from '../chaos/gateways';
import { Random, pause } from '../chaos/random';
import { Consumer, TRANSPORTS, type Transport } from './consumers';

export interface FeedOptions {
  seed: number;
  store: Store;
  payments: number;
  /** Time in ms over which the payments are created. */
  durationMs: number;
  /** Consumers of each transport. */
  consumers: number;
  /** Mean time in ms between kills of a gateway. */
  killEveryMs: number;
}

/** Maximum time in ms in which all consumers have to know every last status. */
const CATCH_UP_MS = 120_000;
export const FINAL = ['COMPLETED', 'FAILED'];

/** Statuses of each transaction at the service, in order. */
export type Transitions = Map<string, string[]>;

/** Moves a transaction to a final status in a few random steps, with at most `maxStepMs` between two. */
export async function move(
  entry: Entry,
  random: Random,
  { transitions, maxStepMs }: { transitions: Transitions; maxStepMs: number },
): Promise<void> {
  const statuses: string[] = [entry.status.toUpperCase()];
  transitions.set(entry.transactionId, statuses);
  const ends = random.weighted<string[]>([
    [7, ['completed']],
    [2, ['failed']],
    [entry.kind === 'payment' ? 1 : 0, ['mispaid', 'completed']],
  ]);
  const steps = entry.status === 'pending' && random.chance(0.7) ? ['processing', ...ends] : ends;
  for (const status of steps) {
    await pause(random.between(50, maxStepMs));
    Object.assign(entry, { status, state: null });
    statuses.push(status.toUpperCase());
  }
}

/** Returns what is wrong with a list of changes, compared with the service's transitions. */
function faultsOf(list: readonly SeenChange[], transitions: Transitions): string[] {
  const faults: string[] = [];
  const cursors = new Set(list.map(({ cursor }) => cursor));
  if (cursors.size !== list.length) faults.push(`${list.length - cursors.size} changes are repeated`);
  const byId = Map.groupBy(list, ({ transactionId }) => transactionId);
  for (const [id, statuses] of transitions) {
    let position = -1;
    let previous: string | null = null;
    for (const { status, previousStatus } of byId.get(id) ?? []) {
      if (status !== previous) position = statuses.indexOf(status, position + 1);
      if (position < 0 || previousStatus !== previous) {
        faults.push(`${id}: ${previousStatus} to ${status} is no transition of ${statuses.join(', ')}`);
        break;
      }
      previous = status;
    }
    if (previous !== statuses.at(-1)) faults.push(`${id}: ends with ${previous}, not ${statuses.at(-1)}`);
  }
  for (const id of byId.keys()) if (!transitions.has(id)) faults.push(`${id}: is unknown to the service`);
  return faults;
}

/** Returns the ids of the transactions whose last status is in a list. */
const endedIn = (list: readonly SeenChange[]): Set<string> =>
  new Set(list.filter(({ status }) => FINAL.includes(status)).map(({ transactionId }) => transactionId));

/** Creates payments and payouts that move at random, and compares what every consumer has seen with the service. */
export async function feed(
  options: FeedOptions,
): Promise<{ figures: Record<string, string>; violations: string[] }> {
  const { seed, store, payments, durationMs, consumers, killEveryMs } = options;
  const count = store.kind === 'SQLite' ? 1 : 2;
  const random = new Random(seed);
  const service = await FakePaymentService.start();
  const transitions: Transitions = new Map();
  const env = {
    FOLLOW_DAYS: '7',
    FOLLOW_LOOKUPS_PER_SECOND: '200',
    RATE_LIMIT_PER_MINUTE: '0',
    SERVICE_TIMEOUT_MS: '5000',
    UNKNOWN_SETTLE_SECONDS: '5',
  };
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  let kills = 0;
  const gateways = new Gateways({
    start: (place) => ({
      serviceUrl: service.url,
      databaseUrl: store.url,
      env: { ...env, PORT: String(ports[place]) },
    }),
    network: { changes: 0 },
    random,
    onFault: () => (kills += 1),
  });
  const all: Consumer[] = [];
  try {
    await gateways.start(count);
    // Repeated, because the journal of a gateway that has just started may be too slow.
    const after = (await until(async () => newestCursor(await gateways.any()).catch(() => undefined))) ?? '';
    for (const transport of Object.values(TRANSPORTS).flatMap((each) =>
      Array<Transport>(consumers).fill(each),
    ))
      all.push(
        new Consumer({
          transport,
          after,
          nextUrl: () => `http://127.0.0.1:${random.one(ports)}/graphql`,
          nextLifetimeMs: () => random.between(500, Math.min(15_000, durationMs / 4)),
        }),
      );
    const running = all.map((consumer) => consumer.run());
    let isOver = false;
    const moving: Promise<void>[] = [];
    const maxStepMs = Math.min(20_000, durationMs / 4);
    const moveNew = (): void => {
      for (const entry of service.ledger.entries.slice(moving.length))
        moving.push(move(entry, random, { transitions, maxStepMs }));
    };
    const mover = (async () => {
      for (; !isOver; await pause(5)) moveNew();
    })();
    const killer = (async () => {
      while (!isOver) {
        await pause(random.between(killEveryMs / 2, killEveryMs * 1.5));
        if (!isOver) await gateways.kill(random.between(0, count - 1), 2000);
      }
    })();
    const creates = Array.from({ length: payments }, async (_, index) => {
      await pause((durationMs * index) / payments);
      const key = `feed-${seed}-${index}`.replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)]!);
      const kind = random.chance(0.8) ? 'payment' : 'payout';
      const over = kind === 'payment' && random.chance(0.5) ? { method: { redirect: 'UPI' } } : {};
      for (; ; await pause(200)) {
        const gateway = await gateways.any();
        const { result } = await gateway.create(kind, key, over).catch(() => ({ result: undefined }));
        if (result?.endsWith('Success')) return;
        // A payout whose gateway was killed before it sent the payout stays unknown.
        if (kind === 'payout' && result === 'OutcomeUnknownError' && service.created(key).length === 0)
          return;
      }
    });
    await Promise.all(creates);
    await pause(20);
    moveNew();
    await Promise.all(moving);
    isOver = true;
    await Promise.all([mover, killer]);
    const haveCaughtUp = (): boolean => all.every(({ seen }) => endedIn(seen).size >= transitions.size);
    await until(haveCaughtUp, Boolean, CATCH_UP_MS).catch(() => undefined);
    all.forEach((consumer) => consumer.stop());
    await Promise.all(running);
    const first = all[0]!.seen;
    const violations = faultsOf(first, transitions);
    all.forEach(({ seen }, index) => {
      if (isDeepStrictEqual(seen, first)) return;
      const at = seen.findIndex(({ cursor }, place) => cursor !== first[place]?.cursor);
      violations.push(`consumer ${index} differs from the first at ${at} of ${seen.length}`);
    });
    const sum = (name: 'connections' | 'failures'): number =>
      all.reduce((total, consumer) => total + consumer[name], 0);
    const lookups = service.requests.filter(({ method }) => method === 'GET').length;
    const figures = {
      seed: String(seed),
      store: store.kind,
      payments: String(transitions.size),
      'transitions of the service': String([...transitions.values()].flat().length),
      'changes recorded': String(first.length),
      'connections of consumers': `${sum('connections')}, failed ${sum('failures')}`,
      'gateways killed': String(kills),
      'lookups at the service': `${lookups} (${(lookups / transitions.size).toFixed(1)} per payment)`,
    };
    return { figures, violations };
  } finally {
    all.forEach((consumer) => consumer.stop());
    await gateways.close();
    await service.close();
  }
}
