import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../support/free-port';

const VERSIONS = '/usr/lib/postgresql';
const version = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort().at(-1) : undefined;
const isRoot = process.getuid?.() === 0;

/** Why no private server can be started here. */
export const noCluster = version ? undefined : 'SKIPPED: PostgreSQL is not installed here';

/** Runs a program of PostgreSQL; as the user postgres where this process is root's, as whom it refuses to run. */
function run(program: string, ...args: string[]): void {
  const command = [`${VERSIONS}/${version}/bin/${program}`, ...args];
  if (isRoot) command.unshift('runuser', '-u', 'postgres', '--');
  const { status, stderr } = spawnSync(command[0]!, command.slice(1), {
    cwd: tmpdir(),
    encoding: 'utf8',
    // What it starts keeps its streams: a pipe would never end.
    stdio: ['ignore', 'ignore', program === 'pg_ctl' ? 'ignore' : 'pipe'],
  });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

/** A PostgreSQL server that a test may stop. */
export interface Cluster {
  url: string;
  /** The host and port, as in a connection string. */
  host: string;
  start(): void;
  /** Ends it without a checkpoint, as a crash does. */
  stop(): void;
  /** Ends the recovery of a standby: it is a primary from then on. */
  promote(): void;
  drop(): void;
}

/** The user whom such a server asks for a password; it asks nobody else. */
export const PASSWORD_USER = 'with_password';

/** @param primary the server of which the new one is a hot standby */
export async function privateCluster(primary?: Cluster): Promise<Cluster> {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-cluster-'));
  if (isRoot) spawnSync('chown', ['postgres:', folder]);
  const data = path.join(folder, 'data');
  const port = await freePort();
  if (primary) run('pg_basebackup', '-d', primary.url, '-D', data, '-R', '--checkpoint=fast', '--no-sync');
  else {
    run('initdb', '-D', data, '-U', 'postgres', '--auth=trust', '--no-sync', '--no-instructions');
    const hba = [`host all ${PASSWORD_USER} 127.0.0.1/32 scram-sha-256`];
    hba.push(...['all', 'replication'].map((database) => `host ${database} all 127.0.0.1/32 trust`));
    writeFileSync(path.join(data, 'pg_hba.conf'), `${hba.join('\n')}\n`);
  }
  const options = `-p ${port} -h 127.0.0.1 -k ${folder}`;
  const log = path.join(folder, 'log');
  const start = (): void => run('pg_ctl', 'start', '-w', '-D', data, '-l', log, '-o', options);
  const stop = (): void => run('pg_ctl', 'stop', '-w', '-D', data, '-m', 'immediate');
  start();
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    host: `127.0.0.1:${port}`,
    start,
    stop,
    promote: () => run('pg_ctl', 'promote', '-w', '-D', data),
    drop: () => {
      if (existsSync(path.join(data, 'postmaster.pid'))) stop();
      rmSync(folder, { recursive: true });
    },
  };
}
