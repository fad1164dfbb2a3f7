import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../support/free-port';

const VERSIONS = '/usr/lib/postgresql';
const version = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort().at(-1) : undefined;
const isRoot = process.getuid?.() === 0;

export const noCluster = version ? undefined : 'SKIPPED: PostgreSQL is not installed here';

/** Returns the command of a PostgreSQL program. Root runs it as the user postgres, because PostgreSQL refuses root. */
function commandOf(program: string, args: readonly string[]): [program: string, ...args: string[]] {
  const path = `${VERSIONS}/${version}/bin/${program}`;
  return isRoot ? ['runuser', '-u', 'postgres', '--', path, ...args] : [path, ...args];
}

/** No pipes: a server inherits the streams of pg_ctl. Its messages are in its log. */
const OPTIONS = { cwd: tmpdir(), stdio: 'ignore' } as const;

function expectSuccess(status: number | null, program: string, args: readonly string[]): void {
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${status}`);
}

/** Runs a PostgreSQL program. */
function run(program: string, ...args: string[]): void {
  const [command, ...rest] = commandOf(program, args);
  expectSuccess(spawnSync(command, rest, OPTIONS).status, program, args);
}

/** Runs a PostgreSQL program without blocking the event loop. */
async function runInBackground(program: string, ...args: string[]): Promise<void> {
  const [command, ...rest] = commandOf(program, args);
  const [status] = (await once(spawn(command, rest, OPTIONS), 'close')) as [number | null];
  expectSuccess(status, program, args);
}

export interface Cluster {
  url: string;
  host: string;
  start(): void;
  /** Stops without a checkpoint, like a crash. */
  stop(): void;
  /** Ends all its processes with SIGKILL. */
  kill(): void;
  /** Promotes a standby to a primary. */
  promote(): void;
  drop(): void;
}

/** The only user who needs a password. */
export const PASSWORD_USER = 'with_password';

/**
 * Starts a PostgreSQL server; with `primary`, a hot standby of that server.
 * @param replicationPort port of a proxy through which the standby connects to the primary (default: directly)
 */
export async function privateCluster(primary?: Cluster, replicationPort?: number): Promise<Cluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-cluster-'));
  if (isRoot) spawnSync('chown', ['postgres:', folder]);
  const data = path.join(folder, 'data');
  const port = await freePort();
  if (primary) {
    const options = ['-R', '--checkpoint=fast', '--no-sync'];
    await runInBackground('pg_basebackup', '-d', primary.url, '-D', data, ...options);
    const connection = `host=127.0.0.1 user=postgres port=${replicationPort ?? new URL(primary.url).port}`;
    appendFileSync(path.join(data, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  } else {
    const options = ['-U', 'postgres', '--auth=trust', '--no-sync', '--no-instructions'];
    await runInBackground('initdb', '-D', data, ...options);
    const hba = [`host all ${PASSWORD_USER} 127.0.0.1/32 scram-sha-256`];
    hba.push(...['all', 'replication'].map((database) => `host ${database} all 127.0.0.1/32 trust`));
    writeFileSync(path.join(data, 'pg_hba.conf'), `${hba.join('\n')}\n`);
  }
  const options = `-p ${port} -h 127.0.0.1 -k ${folder}`;
  const log = path.join(folder, 'log');
  const startArgs = ['start', '-w', '-D', data, '-l', log, '-o', options];
  const stop = (): void => run('pg_ctl', 'stop', '-w', '-D', data, '-m', 'immediate');
  await runInBackground('pg_ctl', ...startArgs);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    host: `127.0.0.1:${port}`,
    start: () => run('pg_ctl', ...startArgs),
    stop,
    kill: () => {
      const [group = ''] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
      process.kill(-Number(group), 'SIGKILL');
      rmSync(path.join(data, 'postmaster.pid'));
    },
    promote: () => run('pg_ctl', 'promote', '-w', '-D', data),
    drop: () => {
      if (existsSync(path.join(data, 'postmaster.pid'))) stop();
      rmSync(folder, { recursive: true });
    },
  };
}
