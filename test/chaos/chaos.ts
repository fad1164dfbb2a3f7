import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import type { ProgramOptions } from '../support/program';
import type { ChaosDatabase } from './database';
import { SETTLE_SECONDS, TIMEOUT_MS, injectFaults, stopFaults } from './faults';
import { Gateways } from './gateways';
import { HistoryFiles, monotonicNow } from './history-files';
import { Network } from './network';
import { Random, Tally, pause } from './random';
import { Traffic } from './traffic';

export interface ChaosOptions {
  seed: number;
  database: ChaosDatabase;
  folder: string;
  /** Minimum duration of the calls under faults, in ms. They go on until `minCreated` is reached. */
  trafficMs: number;
  minCreated?: number;
  instances?: number;
  callers?: number;
  rate?: number;
  faultIntervalMs?: number;
}

/** Shortest and longest time in ms between two failovers. The fence of a gateway is up for a minute after each. */
const FAILOVER_INTERVAL_MS = [30_000, 240_000] as const;
/** Time limit of the recovery after the faults. */
const RECOVERY_MS = 180_000;
/** The default of JOURNAL_RETENTION_DAYS in ms; no run is as long. */
const RETENTION_MS = 90 * 24 * 3_600_000;
const ENV = {
  SERVICE_TIMEOUT_MS: String(TIMEOUT_MS),
  UNKNOWN_SETTLE_SECONDS: String(SETTLE_SECONDS),
  FENCE_SECONDS: '60',
};

export async function chaos(options: ChaosOptions) {
  const { seed, database, folder, trafficMs, rate } = options;
  const { minCreated = 0, instances = 2, callers = 40, faultIntervalMs = 4000 } = options;
  const random = new Random(seed);
  const [faults, serviceFaults] = [new Tally(), new Tally()];
  const files = new HistoryFiles(folder);
  const { recorder } = files;
  const service = await FakePaymentService.start(monotonicNow);
  service.ledger.acceptsRepeats = true;
  const onFault = (name: string): void => {
    faults.add(name);
    recorder.fault(name);
  };
  const network = await Network.open(instances, service.url, { database, random, onFault });
  const start = (place: number): ProgramOptions => network.optionsOf(place, ENV);
  const gateways = new Gateways({ start, network, random, onFault });
  try {
    recorder.settings({ settleMs: SETTLE_SECONDS * 1000, retentionMs: RETENTION_MS });
    await gateways.start(instances);
    injectFaults(service, random, serviceFaults);
    const traffic = new Traffic({ gateways, recorder, random, name: `chaos-${seed}`, rate });
    const startedAt = performance.now();
    const isOver = (): boolean =>
      performance.now() >= startedAt + trafficMs && service.ledger.entries.length >= minCreated;
    /** Repeats an action after pauses of random length, until the run is over. */
    const repeat = async (action: () => unknown, minMs: number, maxMs: number): Promise<void> => {
      while (!isOver()) {
        const until = performance.now() + random.between(minMs, maxMs);
        while (performance.now() < until && !isOver()) await pause(100);
        if (!isOver()) await action();
      }
    };
    await Promise.all([
      traffic.run(callers, isOver),
      repeat(() => gateways.randomFault(), faultIntervalMs / 4, faultIntervalMs),
      repeat(() => network.randomFault(), faultIntervalMs / 4, faultIntervalMs),
      database.failOver && repeat(() => network.failOver(), ...FAILOVER_INTERVAL_MS),
      // A long run would keep every request in memory.
      repeat(() => service.takeRequests(), 1000, 1000),
    ]);
    await stopFaults(service);
    const trafficSeconds = (performance.now() - startedAt) / 1000;
    const created = new Set(service.ledger.entries.map(({ description }) => description));
    const settledMs = await traffic.settle(({ key }) => created.has(key), RECOVERY_MS);
    const judged = await files.judge(service);
    const figures = {
      seed: String(seed),
      store: `${database.kind}${database.failOver ? ' with a synchronous standby' : ''}`,
      calls: `${judged.calls} (${Math.round(judged.calls / trafficSeconds)} per second)`,
      'faults of machine and network': String(faults),
      'faults of the service': String(serviceFaults),
      'settled after': `${(settledMs / 1000).toFixed(1)} s`,
    };
    return { judged, failedShutdowns: gateways.failedShutdowns, figures };
  } finally {
    await gateways.close();
    await network.close();
    await service.close();
  }
}
