import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import type { Row, Store } from '../support/stores';
import { Gateways } from './gateways';
import { INVARIANTS, type FinalState } from './invariants';
import { Random, Tally, pause } from './random';
import { Traffic } from './traffic';
import { SETTLE_SECONDS, TIMEOUT_MS, stopFaults, injectFaults } from './faults';

export interface ChaosOptions {
  seed: number;
  store: Store;
  /** Duration of the calls under faults, in ms. They last longer if `minCreated` is not reached by then. */
  trafficMs: number;
  /** Minimum number of payments and payouts that the service has to create. */
  minCreated?: number;
  /** Time limit for recovery afterwards, in ms. */
  recoveryMs: number;
  gateways?: number;
  callers?: number;
  faultIntervalMs?: number;
}

export interface Report {
  /** Violations by invariant. */
  violations: Record<string, string[]>;
  figures: Record<string, string>;
}

const OPEN = "SELECT key, kind, outcome FROM attempts WHERE outcome IN ('in_progress', 'unknown')";

/** Whether recovery can settle an attempt. Payouts that were never created stay unknown. */
const canBeSettled =
  (service: FakePaymentService) =>
  ({ key, outcome, kind }: Row): boolean =>
    outcome === 'in_progress' || kind === 'payment' || service.created(String(key)).length > 0;

/** Runs random calls, faults and kills, waits for recovery, and checks the invariants. */
export async function chaos(options: ChaosOptions): Promise<Report> {
  const { seed, store, trafficMs, minCreated = 0 } = options;
  const { gateways: count = 2, callers = 40, faultIntervalMs = 2500 } = options;
  const random = new Random(seed);
  const [faults, randomFaults, results] = [new Tally(), new Tally(), new Tally()];
  const service = await FakePaymentService.start();
  const env = { SERVICE_TIMEOUT_MS: String(TIMEOUT_MS), UNKNOWN_SETTLE_SECONDS: String(SETTLE_SECONDS) };
  const start = { serviceUrl: service.url, databaseUrl: store.url, env };
  const gateways = new Gateways(start, store, random, randomFaults);
  try {
    await gateways.start(count);
    injectFaults(service, random, faults);
    const traffic = new Traffic({ gateways, random, results, name: `chaos-${seed}` });
    const until = performance.now() + trafficMs;
    const isOver = (): boolean => performance.now() >= until && service.ledger.entries.length >= minCreated;
    const randomFault = async (): Promise<void> => {
      while (!isOver()) {
        await pause(random.between(faultIntervalMs / 4, faultIntervalMs));
        await gateways.randomFault();
      }
    };
    await Promise.all([traffic.run(callers, isOver), randomFault()]);
    const recoveredAfterMs = await recover(options, service, traffic);
    const attempts = await store.rows('SELECT * FROM attempts');
    const { failedShutdowns } = gateways;
    const remains: FinalState = {
      entries: service.ledger.entries,
      attempts,
      histories: traffic.histories,
      failedShutdowns,
    };
    const violations = Object.fromEntries(
      Object.entries(INVARIANTS).map(([name, check]) => [name, check(remains)]),
    );
    const outcomes = new Tally();
    for (const { kind, outcome } of attempts) outcomes.add(`${kind} ${outcome}`);
    const figures = {
      seed: String(seed),
      store: store.kind,
      keys: String(traffic.histories.length),
      calls: String(traffic.histories.reduce((sum, { ends }) => sum + ends.length, 0)),
      'requests at the service': String(service.requests.length),
      'created at the service': String(service.ledger.entries.length),
      results: String(results),
      'machine faults': String(randomFaults),
      'service faults': String(faults),
      outcomes: String(outcomes),
      'recovered after': `${(recoveredAfterMs / 1000).toFixed(1)} s`,
    };
    return { violations, figures };
  } finally {
    await gateways.close();
    await service.close();
  }
}

/** Ends all faults, and repeats calls until all outcomes are known, for `recoveryMs` at most. Resolves with the ms. */
async function recover(
  { store, recoveryMs }: ChaosOptions,
  service: FakePaymentService,
  traffic: Traffic,
): Promise<number> {
  stopFaults(service);
  const startedAt = performance.now();
  const byKey = new Map(traffic.histories.map((history) => [history.key, history]));
  for (;;) {
    const open = (await store.rows(OPEN)).filter(canBeSettled(service));
    const elapsed = performance.now() - startedAt;
    if (open.length === 0 || elapsed > recoveryMs) return elapsed;
    const history = open.flatMap(({ key }) => byKey.get(String(key)) ?? []);
    for (let place = 0; place < history.length; place += 20) {
      await Promise.all(history.slice(place, place + 20).map((one) => traffic.ask(one)));
    }
    await pause(500);
  }
}
