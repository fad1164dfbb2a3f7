import { parseArgs } from 'node:util';
import { openStore, probePostgres, type StoreKind } from '../support/stores';
import { compareCosts } from './cost';
import { feed } from './feed';

const writeLine = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Runs against each store: two gateways on PostgreSQL, one on SQLite. Resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seconds: { type: 'string', default: '60' },
      payments: { type: 'string', default: '1000' },
      store: { type: 'string', default: 'both' },
      cost: { type: 'boolean', default: false },
    },
  });
  if (values.cost) return printCosts(Number(values.payments), Number(values.seconds) * 1000);
  const kinds: StoreKind[] = values.store === 'postgres' ? [] : ['SQLite'];
  const noPostgres = values.store === 'sqlite' ? 'not selected by --store' : await probePostgres();
  if (noPostgres === undefined) kinds.push('PostgreSQL');
  else writeLine(`PostgreSQL: ${noPostgres}`);
  let good = kinds.length > 0;
  for (const kind of kinds) {
    const store = await openStore(kind);
    try {
      const { figures, violations } = await feed({
        seed: Number(values.seed),
        store,
        payments: Number(values.payments),
        durationMs: Number(values.seconds) * 1000,
        consumers: 3,
        killEveryMs: 20_000,
      });
      for (const [name, value] of Object.entries(figures)) writeLine(`  ${name.padEnd(28)} ${value}`);
      writeLine(violations.length === 0 ? '  ok' : `  BAD ${violations.length}`);
      for (const line of violations.slice(0, 20)) writeLine(`    ${line}`);
      good = good && violations.length === 0;
    } finally {
      await store.drop();
    }
  }
  return good ? 0 : 1;
}

/** Compares the cost of one subscription to all changes with that of a subscription for each payment. */
async function printCosts(payments: number, durationMs: number): Promise<number> {
  const costs = await compareCosts({ payments, durationMs });
  for (const [name, { lookups, cpuSeconds, ended }] of Object.entries(costs))
    writeLine(
      `${name.padEnd(14)} ${(lookups / payments).toFixed(1)} lookups per payment, ${cpuSeconds.toFixed(1)} s of CPU, ${ended} of ${payments} ended`,
    );
  return Object.values(costs).every(({ ended }) => ended === payments) ? 0 : 1;
}
