import path from 'node:path';
import { parseArgs } from 'node:util';
import { print } from '../history/main';
import { noCluster } from '../journal/support/private-cluster';
import { openStore, probePostgres } from '../support/stores';
import { chaos } from './chaos';
import { replicatedDatabase, singleDatabase, type ChaosDatabase } from './database';

const writeLine = (line = ''): void => void process.stdout.write(`${line}\n`);

const OPTIONS = {
  seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  seconds: { type: 'string', default: '30' },
  /** sqlite, postgres (with failovers, where PostgreSQL is installed) or both. */
  store: { type: 'string', default: 'both' },
  instances: { type: 'string', default: '2' },
  callers: { type: 'string', default: '40' },
  rate: { type: 'string' },
} as const;

function printReport({ judged, failedShutdowns, figures }: Awaited<ReturnType<typeof chaos>>): boolean {
  for (const [name, value] of Object.entries(figures)) writeLine(`  ${name.padEnd(30)} ${value}`);
  print(judged);
  for (const output of failedShutdowns) writeLine(`  BAD shutdown: ${output}`);
  writeLine();
  return judged.violations.length === 0 && failedShutdowns.length === 0;
}

async function openPostgres(): Promise<ChaosDatabase | undefined> {
  if (!noCluster) return replicatedDatabase();
  const noServer = await probePostgres();
  writeLine(`PostgreSQL: no failovers: ${noServer ?? noCluster}`);
  return noServer === undefined ? singleDatabase(await openStore('PostgreSQL')) : undefined;
}

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  const open: Record<string, () => Promise<ChaosDatabase | undefined>> = {
    sqlite: async () => singleDatabase(await openStore('SQLite')),
    postgres: openPostgres,
  };
  let runs = 0;
  let good = true;
  for (const [name, openDatabase] of Object.entries(open)) {
    if (values.store !== 'both' && values.store !== name) continue;
    const database = await openDatabase();
    if (!database) continue;
    runs += 1;
    try {
      const report = await chaos({
        seed: Number(values.seed),
        database,
        folder: path.resolve('data/chaos', `${name}-${values.seed}`),
        trafficMs: Number(values.seconds) * 1000,
        instances: Number(values.instances),
        callers: Number(values.callers),
        faultIntervalMs: 8000,
        rate: values.rate === undefined ? undefined : Number(values.rate),
      });
      good = printReport(report) && good;
    } finally {
      await database.drop();
    }
  }
  writeLine(good ? 'No violation.' : `Violations. Rerun: npm run chaos -- --seed ${values.seed}`);
  return good && runs > 0 ? 0 : 1;
}
