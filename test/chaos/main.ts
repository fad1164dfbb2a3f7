import { parseArgs } from 'node:util';
import { openStore, probePostgres, type StoreKind } from '../support/stores';
import { chaos, type Report } from './chaos';

const writeLine = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Time limit of the recovery, per store. */
const RECOVERY_MS = 20_000;

function print({ figures, violations }: Report): boolean {
  for (const [name, value] of Object.entries(figures)) writeLine(`  ${name.padEnd(24)} ${value}`);
  for (const [name, found] of Object.entries(violations)) {
    writeLine(
      `  ${found.length === 0 ? 'ok  ' : 'BAD '} ${name}${found.length === 0 ? '' : `: ${found.length}`}`,
    );
    for (const line of found.slice(0, 20)) writeLine(`         ${line}`);
  }
  writeLine();
  return Object.values(violations).every((found) => found.length === 0);
}

/** Runs against each store; resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seconds: { type: 'string', default: '60' },
      store: { type: 'string', default: 'both' },
    },
  });
  const kinds: StoreKind[] = values.store === 'postgres' ? [] : ['SQLite'];
  const noPostgres = values.store === 'sqlite' ? 'not selected by --store' : await probePostgres();
  if (noPostgres === undefined) kinds.push('PostgreSQL');
  else writeLine(`PostgreSQL: ${noPostgres}`);
  const each = (Number(values.seconds) * 1000) / Math.max(1, kinds.length);
  let good = kinds.length > 0;
  for (const kind of kinds) {
    const store = await openStore(kind);
    try {
      const trafficMs = Math.max(3000, each * 0.75);
      good =
        print(await chaos({ seed: Number(values.seed), store, trafficMs, recoveryMs: RECOVERY_MS })) && good;
    } finally {
      await store.drop();
    }
  }
  writeLine(
    good ? 'Every invariant holds.' : `An invariant is broken. Rerun: npm run chaos -- --seed ${values.seed}`,
  );
  return good ? 0 : 1;
}
