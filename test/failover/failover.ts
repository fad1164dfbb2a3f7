import { requireStandby, waitForStandby } from '../chaos/database';
import { HistoryFiles, monotonicNow } from '../chaos/history-files';
import { Random, pause } from '../chaos/random';
import { Traffic } from '../chaos/traffic';
import { JOURNAL_LOST } from '../history/format';
import { until } from '../support/latch';
import { withClient } from '../support/stores';
import { privateCluster, type Cluster } from '../journal/support/private-cluster';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { TcpProxy } from '../support/tcp-proxy';

export const MODES = ['synchronous', 'asynchronous'] as const;
type Mode = (typeof MODES)[number];

interface FailoverOptions {
  seed: number;
  mode: Mode;
  folder: string;
}

const GATEWAYS = 2;
const CALLERS = 20;
/** Duration of the calls before the failure, and after the first success that follows it, in ms. */
const TRAFFIC_MS = 2000;
/** Minimum time in ms for which an asynchronous standby has received nothing when the primary fails. */
const LAG_MS = 1000;
const SERVICE_TIMEOUT_MS = 1000;
const SETTLE_SECONDS = 2;
const RECOVERY_MS = 30_000;

const storedKeys = (cluster: Cluster): Promise<Set<string>> =>
  withClient(cluster.url, async (client) => {
    const { rows } = await client.query<{ key: string }>('SELECT key FROM attempts');
    return new Set(rows.map(({ key }) => key));
  });

async function startPair(mode: Mode): Promise<{ primary: Cluster; standby: Cluster; proxy: TcpProxy }> {
  const primary = await privateCluster();
  const proxy = await TcpProxy.to(primary.url);
  const standby = await privateCluster(primary, proxy.port);
  if (mode === 'synchronous') await requireStandby(primary);
  else await waitForStandby(primary, 'async');
  return { primary, standby, proxy };
}

/** Makes calls with duplicates and retries while the journal's primary is killed, and judges their history. */
export async function failover({ seed, mode, folder }: FailoverOptions) {
  const random = new Random(seed);
  const files = new HistoryFiles(folder);
  const { recorder } = files;
  const { primary, standby, proxy } = await startPair(mode);
  const service = await FakePaymentService.start(monotonicNow);
  service.ledger.acceptsRepeats = true;
  const programs: Program[] = [];
  try {
    recorder.settings({ settleMs: SETTLE_SECONDS * 1000, retentionMs: Infinity });
    const databaseUrl = `postgres://postgres@${primary.host},${standby.host}/postgres?target_session_attrs=read-write`;
    const env = { SERVICE_TIMEOUT_MS: `${SERVICE_TIMEOUT_MS}`, UNKNOWN_SETTLE_SECONDS: `${SETTLE_SECONDS}` };
    for (let count = 0; count < GATEWAYS; count += 1)
      programs.push(await Program.start({ serviceUrl: service.url, databaseUrl, env }));
    const gateways = { any: async () => Promise.resolve(random.one(programs)) };
    const name = `failover-${seed}`;
    const traffic = new Traffic({ gateways, recorder, random, name, mayLoseAttempts: true });
    let isOver = false;
    const running = traffic.run(CALLERS, () => isOver);
    await pause(TRAFFIC_MS);
    if (mode === 'asynchronous') {
      proxy.pause();
      // At most one create of each caller was in flight before.
      const enough = service.ledger.entries.length + CALLERS + 1;
      await pause(LAG_MS);
      await until(() => service.ledger.entries.length >= enough);
    }
    const created = new Set(service.ledger.entries.map(({ description }) => description));
    primary.kill();
    proxy.destroyConnections();
    const killedAt = performance.now();
    standby.promote();
    if (mode === 'asynchronous') recorder.fault(JOURNAL_LOST);
    const kept = await storedKeys(standby);
    const lost = [...created].filter((key) => !kept.has(key)).length;
    await traffic.firstSuccess();
    const recoveredMs = performance.now() - killedAt;
    await pause(TRAFFIC_MS);
    isOver = true;
    await running;
    await traffic.repeatAll();
    const now = new Set(service.ledger.entries.map(({ description }) => description));
    await traffic.settle(({ key }) => now.has(key), RECOVERY_MS);
    const judged = await files.judge(service);
    const { keys, calls, created: all } = judged;
    // From the failure until creates succeed again.
    const recoverySeconds = Math.round(recoveredMs / 10) / 100;
    return { judged, figures: { seed, keys, calls, created: all, lost, recoverySeconds } };
  } finally {
    await Promise.all(programs.map((program) => program.kill()));
    await proxy.close();
    await service.close();
    for (const cluster of [standby, primary]) cluster.drop();
  }
}
