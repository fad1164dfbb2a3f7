import type { Attempt } from '../../src/datasources/journal/journal';
import { Random } from '../chaos/random';
import { Cluster } from './cluster';
import { Environment } from './environment';
import { MINUTE, chooseProfile } from './profile';
import { SERVICE_NAME } from './instance';
import { isOpen } from './journal-model';
import { Traffic } from './traffic';

interface SimulationOptions {
  seed: number;
  instances: number;
  /** Number of idempotency keys; by default the seed chooses it. */
  keys?: number | undefined;
  keepsTrace?: boolean;
}

const LAST_CALL_INTERVAL_MS = 200;

export async function simulate(options: SimulationOptions) {
  const { seed, instances, keys, keepsTrace } = options;
  const chosen = chooseProfile(new Random(seed), instances);
  const profile = { ...chosen, keys: keys ?? chosen.keys };
  const environment = new Environment(seed, profile, keepsTrace);
  const { world, faults, database, checker } = environment;
  const cluster = new Cluster(environment);
  const traffic = new Traffic(environment, cluster);
  const startedAt = world.now;
  const isBroken = (): boolean => checker.violations.length > 0;
  cluster.scheduleIncidents();
  traffic.start();
  await world.runUntil(startedAt + profile.trafficMs, isBroken);
  faults.isOver = true;
  const healedAt = cluster.heal();
  await world.runUntil(healedAt, isBroken);
  const recoveryLimit = healedAt + 3 * profile.settleMs + 3 * MINUTE;
  const open = (): Attempt[] =>
    database.model.attempts.filter((each) => isOpen(each) && checker.canBeSettled(each));
  let isSettled = false;
  while (!isBroken() && !isSettled && world.now < recoveryLimit) {
    await world.runUntil(world.now + 1000, isBroken);
    isSettled = open().length === 0;
  }
  const recoveryMs = world.now - healedAt;
  if (!isBroken() && !isSettled)
    for (const attempt of open())
      checker.fail(
        'every outcome that can be known is known in time',
        `${JSON.stringify(attempt)} at ${database.now()}`,
      );
  if (!isBroken()) await askAgain(environment, traffic, isBroken);
  return {
    profile,
    violations: checker.violations,
    hash: world.hash,
    events: world.events,
    simulatedMs: world.now - startedAt,
    calls: traffic.calls,
    creates: checker.creates,
    faults: faults.counts,
    inWindow: faults.inWindow,
    /** Time in ms from the end of the faults until every outcome was known. */
    recoveryMs,
    trace: world.lines,
  };
}

export type SimulationReport = Awaited<ReturnType<typeof simulate>>;

/** Calls once more with each key. The response has to name the created transaction. */
async function askAgain(
  { world, checker, faults, database }: Environment,
  traffic: Traffic,
  isBroken: () => boolean,
): Promise<void> {
  await world.runUntil(world.now + 25_000, isBroken);
  if (traffic.pending.length > 0) checker.fail('each call ends', traffic.pending.join());
  if (faults.profile.purges) return;
  const records = [...checker.keys.values()].filter(
    ({ successId, entries }) => successId ?? entries.length > 0,
  );
  // One after another, at an interval in which most of them end.
  const calls = records.map(async (record, index) => {
    const [entry] = record.entries;
    await world.sleep(index * LAST_CALL_INTERVAL_MS);
    const answer = await traffic.create(record, entry?.amount.value);
    if (!entry || answer?.transactionId === entry.transactionId) return;
    const attempt = database.model.find({ service: SERVICE_NAME, ...record });
    const isUndecidable =
      /OutcomeUnknown|RequestInProgress|IdempotencyConflict/.test(answer?.result ?? '') &&
      attempt !== null &&
      !checker.canBeSettled(attempt);
    if (!isUndecidable) checker.fail('a last call finds what was created', `${record.id} ${answer?.result}`);
  });
  await world.runUntil(world.now + calls.length * LAST_CALL_INTERVAL_MS + 13_000, isBroken);
  if (!isBroken()) await Promise.all(calls);
}
