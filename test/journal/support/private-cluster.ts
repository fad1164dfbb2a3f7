import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '../../support/free-port';

const PROGRAMS = '/usr/lib/postgresql';

const version = existsSync(PROGRAMS) ? readdirSync(PROGRAMS).sort().at(-1) : undefined;

/** Why no server of one's own can be made here. */
export const noCluster = !version
  ? 'SKIPPED: PostgreSQL is not installed here'
  : spawnSync('pg_createcluster', ['--help']).error || process.getuid?.() !== 0
    ? 'SKIPPED: pg_createcluster needs to be there, and root to run it'
    : undefined;

function run(program: string, ...args: string[]): void {
  const done = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (done.status !== 0) throw new Error(`${program} ${args.join(' ')}: ${done.stderr}`);
}

/** Puts a copy of a server that runs in the place of the data of another one, as its standby. */
function copyOf({ url }: Cluster, folder: string): void {
  for (const entry of readdirSync(folder)) rmSync(path.join(folder, entry), { recursive: true });
  const backup = `${PROGRAMS}/${version}/bin/pg_basebackup`;
  run('runuser', '-u', 'postgres', '--', backup, '-d', url, '-D', folder, '-R', '--checkpoint=fast');
}

/** A PostgreSQL server of one's own, which may be stopped. */
export interface Cluster {
  url: string;
  /** The host and port, as in a connection string. */
  host: string;
  start(): void;
  stop(): void;
  /** Every process of the server stands still, and goes on. */
  freeze(): void;
  thaw(): void;
  /** Ends the recovery of a standby: it is a primary from then on. */
  promote(): void;
  drop(): void;
}

/** The user whom such a server asks for a password; nobody else is asked. */
export const PASSWORD_USER = 'with_password';

/** @param primary the server of which the new one is to be a hot standby */
export async function privateCluster(primary?: Cluster): Promise<Cluster> {
  const name = `paygraph_${randomBytes(4).toString('hex')}`;
  const at = [version ?? '', name] as const;
  const port = await freePort();
  run('pg_createcluster', ...at, '--port', String(port));
  const hba = ['all', 'replication'].map((database) => `host ${database} all 127.0.0.1/32 trust\n`);
  hba.unshift(`host all ${PASSWORD_USER} 127.0.0.1/32 scram-sha-256\n`);
  writeFileSync(`/etc/postgresql/${version}/${name}/pg_hba.conf`, hba.join(''));
  if (primary) copyOf(primary, `/var/lib/postgresql/${version}/${name}`);
  const start = (): void => run('pg_ctlcluster', ...at, 'start');
  start();
  const signal = (what: NodeJS.Signals): void => {
    const file = `/var/lib/postgresql/${version}/${name}/postmaster.pid`;
    const main = Number(readFileSync(file, 'utf8').split('\n')[0]);
    const children = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8')
      .trim()
      .split(' ')
      .map(Number);
    for (const pid of [main, ...children]) process.kill(pid, what);
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    host: `127.0.0.1:${port}`,
    start,
    stop: () => run('pg_ctlcluster', ...at, 'stop', '--mode', 'immediate'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    promote: () => run('pg_ctlcluster', ...at, 'promote'),
    drop: () => run('pg_dropcluster', '--stop', ...at),
  };
}
