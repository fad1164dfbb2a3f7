import { parseArgs } from 'node:util';
import { openStore, postgresAnswers, type StoreKind } from '../exactly-once/support/stores';
import { chaos, type Report } from './chaos';

const say = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Of the time given, so much is kept for coming to rest, and for starting. */
const REST_MS = 20_000;

function print({ figures, violations }: Report): boolean {
  for (const [name, value] of Object.entries(figures)) say(`  ${name.padEnd(24)} ${value}`);
  for (const [name, found] of Object.entries(violations)) {
    say(`  ${found.length === 0 ? 'ok  ' : 'BAD '} ${name}${found.length === 0 ? '' : `: ${found.length}`}`);
    for (const line of found.slice(0, 20)) say(`         ${line}`);
  }
  say();
  return Object.values(violations).every((found) => found.length === 0);
}

/** Runs against each store in turn; resolves to the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      seconds: { type: 'string', default: '60' },
      store: { type: 'string', default: 'both' },
    },
  });
  const kinds: StoreKind[] = [];
  if (values.store !== 'postgres') kinds.push('SQLite');
  if (values.store !== 'sqlite' && postgresAnswers()) kinds.push('PostgreSQL');
  else if (values.store !== 'sqlite') say('SKIPPED: PostgreSQL. None answers at TEST_DATABASE_URL.');
  const each = (Number(values.seconds) * 1000) / Math.max(1, kinds.length);
  let good = kinds.length > 0;
  for (const kind of kinds) {
    const store = await openStore(kind);
    try {
      const trafficMs = Math.max(3000, each * 0.75);
      good = print(await chaos({ seed: Number(values.seed), store, trafficMs, restMs: REST_MS })) && good;
    } finally {
      await store.drop();
    }
  }
  say(
    good ? 'Every invariant holds.' : `An invariant is broken. Again: npm run chaos -- --seed ${values.seed}`,
  );
  return good ? 0 : 1;
}
