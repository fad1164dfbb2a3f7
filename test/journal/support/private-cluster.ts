import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../support/free-port';

const VERSIONS = '/usr/lib/postgresql';
const version = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort().at(-1) : undefined;
const isRoot = process.getuid?.() === 0;

export const noCluster = version ? undefined : 'SKIPPED: PostgreSQL is not installed here';

/** Runs a program of PostgreSQL; as the user postgres when this process is root, which PostgreSQL refuses. */
function run(program: string, ...args: string[]): void {
  const command = [`${VERSIONS}/${version}/bin/${program}`, ...args];
  if (isRoot) command.unshift('runuser', '-u', 'postgres', '--');
  const { status, stderr } = spawnSync(command[0]!, command.slice(1), {
    cwd: tmpdir(),
    encoding: 'utf8',
    // The server inherits the streams: a pipe would never end.
    stdio: ['ignore', 'ignore', program === 'pg_ctl' ? 'ignore' : 'pipe'],
  });
  if (status !== 0) throw new Error(`${command.join(' ')}: ${stderr}`);
}

export interface Cluster {
  url: string;
  host: string;
  start(): void;
  /** Stops without a checkpoint, like a crash. */
  stop(): void;
  /** Promotes a standby to a primary. */
  promote(): void;
  drop(): void;
}

/** The only user who needs a password. */
export const PASSWORD_USER = 'with_password';

/** `primary`: creates a hot standby of this server. */
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
