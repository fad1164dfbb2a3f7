import { privateCluster, type Cluster } from '../journal/support/private-cluster';
import { withClient, type Row, type Store, type StoreKind } from '../support/stores';
import type { TcpProxy } from '../support/tcp-proxy';
import { pause } from './random';

export interface ChaosDatabase {
  kind: StoreKind;
  servers: string[];
  /** Returns DATABASE_URL for a gateway. `proxies` are in the order of `servers`. */
  urlFor(proxies: readonly TcpProxy[]): string;
  /** Ends all connections, or locks out all writers for some ms. */
  disconnect(lockMs: number): Promise<void>;
  /** Kills the primary, promotes its synchronous standby, and starts another. Absent without replication. */
  failOver?: (onMoved: (server: number, url: string) => void) => Promise<void>;
  drop(): Promise<void>;
}

/** Result code of SQLite: another connection has locked the database. */
const SQLITE_BUSY = 5;

const TERMINATE =
  'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';

const query = (url: string, sql: string): Promise<Row[]> =>
  withClient(url, async (client) => (await client.query<Row>(sql)).rows);

export const singleDatabase = ({ kind, url, rows, hold, drop }: Store): ChaosDatabase => ({
  kind,
  servers: kind === 'PostgreSQL' ? [url] : [],
  urlFor: ([proxy]) => (proxy ? proxy.through(url) : url),
  disconnect: async (lockMs) => {
    if (kind === 'PostgreSQL') return void (await rows(TERMINATE));
    const unlock = await hold().catch((error: unknown) => {
      // A suspended gateway holds the lock, so writers are locked out already.
      if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY)) throw error;
    });
    await pause(lockMs);
    await unlock?.();
  },
  drop,
});

export async function waitForStandby(primary: Cluster, state: 'sync' | 'async'): Promise<void> {
  const states = async (): Promise<Row[]> => query(primary.url, 'SELECT sync_state FROM pg_stat_replication');
  while (!(await states()).some((row) => row['sync_state'] === state)) await pause(50);
}

export async function requireStandby(primary: Cluster): Promise<void> {
  await query(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await query(primary.url, 'SELECT pg_reload_conf()');
  await waitForStandby(primary, 'sync');
}

export async function replicatedDatabase(): Promise<ChaosDatabase> {
  const first = await privateCluster();
  const clusters = [first, await privateCluster(first)];
  let primary = 0;
  await requireStandby(first);
  return {
    kind: 'PostgreSQL',
    servers: clusters.map(({ url }) => url),
    urlFor: (proxies) =>
      `postgres://postgres@${proxies.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres?target_session_attrs=read-write`,
    disconnect: async () => void (await query(clusters[primary]!.url, TERMINATE)),
    failOver: async (onMoved) => {
      const lost = primary;
      clusters[lost]!.kill();
      primary = 1 - lost;
      const promoted = clusters[primary]!;
      promoted.promote();
      clusters[lost]!.drop();
      const standby = await privateCluster(promoted);
      clusters[lost] = standby;
      onMoved(lost, standby.url);
      await requireStandby(promoted);
    },
    drop: () => Promise.resolve(clusters.forEach((cluster) => cluster.drop())),
  };
}
