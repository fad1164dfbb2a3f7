import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import type { Row, Store } from '../support/stores';
import { Gateways } from './gateways';
import { INVARIANTS, type Remains } from './invariants';
import { Random, Tally, pause } from './random';
import { Traffic } from './traffic';
import { SETTLE_SECONDS, TIMEOUT_MS, calm, trouble } from './faults';

export interface ChaosOptions {
  seed: number;
  store: Store;
  /** How long calls are made while everything fails, in milliseconds; longer until `leastCreated` is reached. */
  trafficMs: number;
  /** How many payments and payouts the service has to create at least. */
  leastCreated?: number;
  /** How long everything may take to come to rest then. */
  restMs: number;
  gateways?: number;
  callers?: number;
  /** The pause between two accidents, at most. */
  accidentMs?: number;
}

export interface Report {
  /** Of each invariant, what breaks it. */
  violations: Record<string, string[]>;
  figures: Record<string, string>;
}

const OPEN = "SELECT key, kind, outcome FROM attempts WHERE outcome IN ('in_progress', 'unknown')";

/** Payouts that were never made stay unknown: nothing can be found. */
const canBeFound =
  (service: FakePaymentService) =>
  ({ key, outcome, kind }: Row): boolean =>
    outcome === 'in_progress' || kind === 'payment' || service.created(String(key)).length > 0;

/** Calls, faults and kills at random, then rest, then the balance. */
export async function chaos(options: ChaosOptions): Promise<Report> {
  const { seed, store, trafficMs, leastCreated = 0 } = options;
  const { gateways: count = 2, callers = 40, accidentMs = 2500 } = options;
  const random = new Random(seed);
  const [faults, accidents, results] = [new Tally(), new Tally(), new Tally()];
  const service = await FakePaymentService.start();
  const env = { SERVICE_TIMEOUT_MS: String(TIMEOUT_MS), UNKNOWN_SETTLE_SECONDS: String(SETTLE_SECONDS) };
  const start = { serviceUrl: service.url, databaseUrl: store.url, env };
  const gateways = new Gateways(start, store, random, accidents);
  try {
    await gateways.start(count);
    trouble(service, random, faults);
    const traffic = new Traffic({ gateways, random, results, name: `chaos-${seed}` });
    const until = performance.now() + trafficMs;
    const isOver = (): boolean => performance.now() >= until && service.ledger.entries.length >= leastCreated;
    const accident = async (): Promise<void> => {
      while (!isOver()) {
        await pause(random.between(accidentMs / 4, accidentMs));
        await gateways.accident();
      }
    };
    await Promise.all([traffic.run(callers, isOver), accident()]);
    const restedMs = await rest(options, service, traffic);
    const attempts = await store.rows('SELECT * FROM attempts');
    const { badEnds } = gateways;
    const remains: Remains = { entries: service.ledger.entries, attempts, told: traffic.told, badEnds };
    const violations = Object.fromEntries(
      Object.entries(INVARIANTS).map(([name, check]) => [name, check(remains)]),
    );
    const outcomes = new Tally();
    for (const { kind, outcome } of attempts) outcomes.add(`${kind} ${outcome}`);
    const figures = {
      seed: String(seed),
      store: store.kind,
      keys: String(traffic.told.length),
      calls: String(traffic.told.reduce((sum, { ends }) => sum + ends.length, 0)),
      'requests at the service': String(service.requests.length),
      'created at the service': String(service.ledger.entries.length),
      results: String(results),
      accidents: String(accidents),
      faults: String(faults),
      outcomes: String(outcomes),
      'at rest after': `${(restedMs / 1000).toFixed(1)} s`,
    };
    return { violations, figures };
  } finally {
    await gateways.close();
    await service.close();
  }
}

/** Ends all trouble, and lets callers ask again for what they do not know; resolves when all is known that can be. */
async function rest(
  { store, restMs }: ChaosOptions,
  service: FakePaymentService,
  traffic: Traffic,
): Promise<number> {
  calm(service);
  const startedAt = performance.now();
  const byKey = new Map(traffic.told.map((told) => [told.key, told]));
  for (;;) {
    const open = (await store.rows(OPEN)).filter(canBeFound(service));
    const elapsed = performance.now() - startedAt;
    if (open.length === 0 || elapsed > restMs) return elapsed;
    const told = open.flatMap(({ key }) => byKey.get(String(key)) ?? []);
    for (let place = 0; place < told.length; place += 20) {
      await Promise.all(told.slice(place, place + 20).map((one) => traffic.ask(one)));
    }
    await pause(500);
  }
}
