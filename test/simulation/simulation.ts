import type { Attempt } from '../../src/datasources/journal/journal';
import { Checker } from './checker';
import { Cluster } from './cluster';
import { Database } from './database';
import { Faults } from './faults';
import { MINUTE, chooseProfile, type Profile } from './profile';
import { SERVICE_NAME } from './instance';
import { isOpen } from './journal-model';
import { SimulatedService } from './service';
import { SeededRandom } from './random';
import { Traffic } from './traffic';
import { World } from './world';

export interface SimulationOptions {
  seed: number;
  instances: number;
  /** Number of idempotency keys; by default the seed chooses it. */
  keys?: number | undefined;
  keepsTrace?: boolean;
}

export interface SimulationReport {
  seed: number;
  profile: Profile;
  violations: string[];
  hash: string;
  events: number;
  simulatedMs: number;
  calls: number;
  creates: number;
  faults: ReadonlyMap<string, number>;
  /** Faults, and pairs of faults, that happened while a create was open. */
  inWindow: ReadonlyMap<string, number>;
  /** Time in ms from the end of the faults until every outcome was known. */
  recoveryMs: number;
  trace: string[];
}

const LAST_CALL_INTERVAL_MS = 200;

/** Simulates one seed: calls under faults, recovery, and a last call with each key. */
export async function simulate({
  seed,
  instances,
  keys,
  keepsTrace,
}: SimulationOptions): Promise<SimulationReport> {
  const world = new World(seed, keepsTrace);
  const chosen = chooseProfile(new SeededRandom(seed), instances);
  const profile = { ...chosen, keys: keys ?? chosen.keys };
  const faults = new Faults(world, profile);
  const database = new Database(world, faults);
  const service = new SimulatedService(world, faults);
  const checker = new Checker(world, database, faults);
  service.onCreate = (entry) => checker.onCreate(entry);
  const network = {
    onPost: checker.onPost.bind(checker),
    onPostEnd: checker.onPostEnd.bind(checker),
    recordedTransaction: checker.recordedTransaction.bind(checker),
  };
  const cluster = new Cluster({ world, faults, database, service, network });
  const traffic = new Traffic({
    world,
    faults,
    cluster,
    checker,
    addForeign: ({ kind }, body, agoMs) => void checker.foreign.push(service.addForeign(kind, body, agoMs)),
  });
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
      checker.fail('every outcome that can be known is known in time', describe(attempt, database));
  if (!isBroken()) await askAgain({ world, checker, traffic, profile, database });
  const { events, hash, lines: trace } = world;
  const { violations, creates } = checker;
  const { calls } = traffic;
  const { counts, inWindow } = faults;
  const simulatedMs = world.now - startedAt;
  const figures = { events, hash, simulatedMs, calls, creates, recoveryMs };
  return { seed, profile, violations, ...figures, faults: counts, inWindow, trace };
}

const describe = ({ client, key, kind, ...attempt }: Attempt, database: Database): string => {
  const { outcome, owner, leaseUntil, nextRecheckAt, absence } = attempt;
  const [lease, next] = [leaseUntil, nextRecheckAt ?? 0].map((time) => Math.round(time - database.now()));
  return `${client}/${key} ${kind} ${outcome} ${JSON.stringify({ owner, lease, next, absence })}`;
};

interface Finished {
  world: World;
  database: Database;
  checker: Checker;
  traffic: Traffic;
  profile: Profile;
}

/** Calls once more with each key. The answer has to name what was created. */
async function askAgain({ world, checker, traffic, profile, database }: Finished): Promise<void> {
  await world.runUntil(world.now + 25_000, () => checker.violations.length > 0);
  if (traffic.pending.length > 0) checker.fail('each call ends', traffic.pending.join());
  if (profile.purges) return;
  const records = [...checker.keys.values()].filter(
    ({ successId, entries }) => successId ?? entries.length > 0,
  );
  // One after another, at an interval in which most of them end.
  const calls = records.map(async (record, index) => {
    const [entry] = record.entries;
    await new Promise<void>((resolve) => world.at(index * LAST_CALL_INTERVAL_MS, resolve));
    const answer = await traffic.create(record, entry?.amount.value);
    const isKnown = answer?.transactionId === entry?.transactionId;
    const attempt = database.model.find({ service: SERVICE_NAME, ...record });
    const isUndecidable =
      /OutcomeUnknown|RequestInProgress|IdempotencyConflict/.test(answer?.result ?? '') &&
      attempt !== null &&
      !checker.canBeSettled(attempt);
    if (entry && !isKnown && !isUndecidable)
      checker.fail('a last call finds what was created', `${record.id} ${answer?.result}`);
  });
  await world.runUntil(
    world.now + calls.length * LAST_CALL_INTERVAL_MS + 13_000,
    () => checker.violations.length > 0,
  );
  if (checker.violations.length === 0) await Promise.all(calls);
}
