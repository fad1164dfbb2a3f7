import type { Report } from '../chaos/chaos';
import { INVARIANTS, type FinalState } from '../chaos/invariants';
import { Random, Tally, pause } from '../chaos/random';
import { Traffic, isKnown, type KeyHistory } from '../chaos/traffic';
import type { Row } from '../support/stores';
import { withClient } from '../support/stores';
import { privateCluster, type Cluster } from '../journal/support/private-cluster';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { TcpProxy } from '../support/tcp-proxy';

export const MODES = ['synchronous', 'asynchronous'] as const;
/** How the standby replicates. */
export type Mode = (typeof MODES)[number];

export interface FailoverOptions {
  seed: number;
  mode: Mode;
  /** Duration of the calls before the failure, in ms. */
  beforeMs: number;
  /** For how long an asynchronous standby has received nothing when the primary fails, in ms. */
  lagMs: number;
  /** Duration of the calls after the first success that follows the failure, in ms. */
  afterMs: number;
  callers: number;
}

const GATEWAYS = 2;
const SERVICE_TIMEOUT_MS = 1000;
const SETTLE_SECONDS = 2;
/** Time limit for recovery at the end, in ms. */
const RECOVERY_MS = 30_000;

const query = (cluster: Cluster, sql: string): Promise<Row[]> =>
  withClient(cluster.url, async (client) => (await client.query<Row>(sql)).rows);

/** A primary and its standby, which replicates through a proxy. */
async function startPair(mode: Mode): Promise<{ primary: Cluster; standby: Cluster; proxy: TcpProxy }> {
  const primary = await privateCluster();
  const proxy = await TcpProxy.to(primary.url);
  const standby = await privateCluster(primary, proxy.port);
  if (mode === 'synchronous') {
    await query(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
    await query(primary, 'SELECT pg_reload_conf()');
  }
  const state = mode === 'synchronous' ? 'sync' : 'async';
  const isConnected = async (): Promise<boolean> =>
    (await query(primary, 'SELECT sync_state FROM pg_stat_replication')).some(
      (row) => row['sync_state'] === state,
    );
  while (!(await isConnected())) await pause(50);
  return { primary, standby, proxy };
}

/** Calls with duplicates and retries while the primary of the journal is killed and its standby promoted; then the invariants. */
export async function failover(options: FailoverOptions): Promise<Report> {
  const { seed, mode, beforeMs, lagMs, afterMs, callers } = options;
  const random = new Random(seed);
  const results = new Tally();
  const { primary, standby, proxy } = await startPair(mode);
  const service = await FakePaymentService.start();
  const programs: Program[] = [];
  try {
    const databaseUrl = `postgres://postgres@${primary.host},${standby.host}/postgres?target_session_attrs=read-write`;
    const env = {
      SERVICE_TIMEOUT_MS: String(SERVICE_TIMEOUT_MS),
      UNKNOWN_SETTLE_SECONDS: String(SETTLE_SECONDS),
    };
    for (let count = 0; count < GATEWAYS; count += 1)
      programs.push(await Program.start({ serviceUrl: service.url, databaseUrl, env }));
    const gateways = { any: async () => Promise.resolve(random.one(programs)) };
    const traffic = new Traffic({
      gateways,
      random,
      results,
      name: `failover-${seed}`,
      payoutInputsChange: false,
    });
    let isOver = false;
    const running = traffic.run(callers, () => isOver);
    await pause(beforeMs);
    if (mode === 'asynchronous') {
      proxy.pause();
      await pause(lagMs);
    }
    const created = new Set(service.ledger.entries.map(({ description }) => description));
    primary.kill();
    proxy.destroyConnections();
    const killedAt = performance.now();
    standby.promote();
    const kept = new Set((await query(standby, 'SELECT key FROM attempts')).map((row) => row['key']));
    const lost = [...created].filter((key) => !kept.has(key)).length;
    await firstSuccess(programs, `probe-${seed}`);
    const recoveredMs = performance.now() - killedAt;
    await pause(afterMs);
    isOver = true;
    await running;
    await retryAll(traffic, standby);
    const attempts = await query(standby, 'SELECT * FROM attempts');
    const remains: FinalState = {
      entries: service.ledger.entries,
      attempts,
      histories: traffic.histories,
      failedShutdowns: [],
    };
    return {
      violations: Object.fromEntries(
        Object.entries(INVARIANTS).map(([name, check]) => [name, check(remains)]),
      ),
      figures: {
        seed: String(seed),
        mode,
        keys: String(traffic.histories.length),
        calls: String(traffic.histories.reduce((sum, { ends }) => sum + ends.length, 0)),
        'created at the service': String(service.ledger.entries.length),
        'attempts lost': String(lost),
        'creates again after': `${(recoveredMs / 1000).toFixed(2)} s`,
        results: String(results),
      },
    };
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await proxy.close();
    await service.close();
    for (const cluster of [standby, primary]) cluster.drop();
  }
}

async function firstSuccess(programs: readonly Program[], key: string): Promise<void> {
  for (let count = 0; ; count += 1) {
    const program = programs[count % programs.length]!;
    const { result } = await program
      .create('payment', key, {}, AbortSignal.timeout(5000))
      .catch(() => ({ result: '' }));
    if (result === 'PaymentSuccess') return;
    await pause(20);
  }
}

/** Repeats every create, until the journal has no open attempt that can be recovered. */
async function retryAll(traffic: Traffic, standby: Cluster): Promise<void> {
  const until = performance.now() + RECOVERY_MS;
  const askUntilKnown = async (history: KeyHistory): Promise<void> => {
    while (!isKnown(await traffic.ask(history)) && performance.now() < until) await pause(200);
  };
  for (let place = 0; place < traffic.histories.length; place += 20)
    await Promise.all(traffic.histories.slice(place, place + 20).map(askUntilKnown));
  for (;;) {
    const open = await query(standby, "SELECT key FROM attempts WHERE outcome IN ('in_progress', 'unknown')");
    if (open.length === 0 || performance.now() > until) return;
    const keys = new Set(open.map((row) => row['key']));
    for (const history of traffic.histories.filter(({ key }) => keys.has(key))) await traffic.ask(history);
    await pause(500);
  }
}
