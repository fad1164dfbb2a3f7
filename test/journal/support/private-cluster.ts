import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
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

/** A PostgreSQL server of one's own, which may be stopped. */
export interface Cluster {
  url: string;
  start(): void;
  stop(): void;
  /** Every process of the server stands still, and goes on. */
  freeze(): void;
  thaw(): void;
  drop(): void;
}

export async function privateCluster(): Promise<Cluster> {
  const name = `paygraph_${randomBytes(4).toString('hex')}`;
  const at = [version ?? '', name] as const;
  const port = await freePort();
  run('pg_createcluster', ...at, '--port', String(port));
  writeFileSync(`/etc/postgresql/${version}/${name}/pg_hba.conf`, 'host all all 127.0.0.1/32 trust\n');
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
    start,
    stop: () => run('pg_ctlcluster', ...at, 'stop', '--mode', 'immediate'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    drop: () => run('pg_dropcluster', '--stop', ...at),
  };
}
