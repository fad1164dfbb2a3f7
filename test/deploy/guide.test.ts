import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { migrate } from '../../src/datasources/journal/migrations';
import { Caller } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { openStore, postgresAnswers } from '../exactly-once/support/stores';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { CHECKOUT } from '../gateway/fixtures/program';
import { closeAfterTests, testGateway } from '../support/gateway';
import { describeWhere, lacking, openFolder, textOf, yamlOf } from './support/files';

const guide = textOf('docs/deployment.md');

/** A block of commands of the guide, by the word after its language; blocks in lists are indented. */
function commands(name: string): string {
  const [, text] = new RegExp(`^ *\`\`\`sh ${name}\n([^]*?)\n *\`\`\`$`, 'm').exec(guide) ?? [];
  if (text === undefined) throw new Error(`The guide has no ${name}.`);
  return text;
}

/** Runs commands as they stand in the guide. */
function run(text: string, cwd: string, env: Record<string, string> = {}): string {
  const { PATH = '', HOME = '' } = process.env;
  return execFileSync('bash', ['-euo', 'pipefail', '-c', text], {
    cwd,
    env: { PATH, HOME, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

const isRoot = process.getuid?.() === 0;

test('The guide makes every secret that compose.yaml names, and shows them to nobody who is not let into their folder', () => {
  const folder = openFolder();
  const keys = { SERVICE_API_KEY: 'the-api-key', SERVICE_SECRET_KEY: 'the-secret-key' };
  const text = commands('compose-secrets');
  run(isRoot ? text : text.replace(/^chown .*$/m, ''), folder, keys);
  const { secrets } = yamlOf('compose.yaml') as { secrets: Record<string, { file: string }> };
  const made = Object.values(secrets).map(({ file }) => path.join(folder, file));
  expect(made.filter((file) => !existsSync(file) || (statSync(file).mode & 0o777) !== 0o444)).toEqual([]);
  expect(statSync(path.join(folder, 'secrets')).mode & 0o777).toBe(0o700);
  const read = (name: string): string => readFileSync(path.join(folder, 'secrets', name), 'utf8');
  const { username, password, hostname } = new URL(read('database_url').trim());
  expect([username, password, hostname]).toEqual(['paygraph', read('postgres_password'), 'postgres']);
});

test('The guide names services, folders and pages that there are', () => {
  const { services } = yamlOf('compose.yaml') as { services: object };
  const named = [...guide.matchAll(/^docker compose (?:run|up|exec)((?: \S+)+)$/gm)].flatMap(
    ([, words = '']) => words.split(' ').filter((word) => /^(gateway|migrate|nginx|postgres)/.test(word)),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !(name in services))).toEqual([]);
  const paths = [...guide.matchAll(/\]\(([a-z-]+\.md)\)/g)].map(([, page = '']) => `docs/${page}`);
  const files = [...guide.matchAll(/\bdeploy\/[a-z/.-]*[a-z]/g)].map(([file]) => file);
  expect([...paths, ...files].filter((file) => !existsSync(path.join(CHECKOUT, file)))).toEqual([]);
});

test.each(['sqlite', 'postgres'] as const)(
  'Migrations only add: no step on %s takes anything from the version before',
  async (dialect) => {
    const statements: string[] = [];
    await migrate({
      dialect,
      execute: async (sql) => {
        statements.push(sql);
        return [];
      },
    });
    expect(statements.length).toBeGreaterThan(5);
    expect(
      statements.filter((sql) =>
        /\b(DROP(?! INDEX)|RENAME|DELETE|TRUNCATE|UPDATE|ALTER\s+COLUMN(?! \w+ SET STORAGE)|SET\s+NOT\s+NULL)\b/i.test(
          sql,
        ),
      ),
    ).toEqual([]);
  },
);

const COPIES = [
  { kind: 'SQLite', backup: 'sqlite-backup', restore: 'sqlite-restore', lack: lacking('sqlite3') },
  {
    kind: 'PostgreSQL',
    backup: 'postgres-backup',
    restore: 'postgres-restore',
    lack:
      lacking('pg_dump', 'pg_restore') ?? (postgresAnswers() ? undefined : 'SKIPPED: no PostgreSQL answers'),
  },
] as const;

for (const { kind, backup, restore, lack } of COPIES) {
  describeWhere(lack, `A copy of the journal in ${kind}, made and restored as the guide says`, () => {
    test('knows the keys that were used before it, and none that were used after it', async () => {
      const service = closeAfterTests(await FaultyService.start());
      const folder = openFolder();
      mkdirSync(path.join(folder, 'data'));
      const store = kind === 'PostgreSQL' ? await openStore(kind) : undefined;
      if (store) closeAfterTests({ close: () => store.drop() });
      const DATABASE_URL = store?.url ?? `file:${path.join(folder, 'data/paygraph.db')}`;
      const open = () => testGateway(service.url, { env: { DATABASE_URL } });

      const before = await open();
      const [kept, lost] = [newKey(), newKey()];
      const caller = new Caller(before.gateway.url);
      const created = await caller.create('payment', kept);
      expect(created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
      const said = run(commands(backup), folder, { DATABASE_URL });
      expect(said.trim()).toBe(kind === 'SQLite' ? 'ok' : '');
      expect(await caller.create('payment', lost)).toMatchObject({ result: 'PaymentSuccess' });
      await before.gateway.close();

      run(commands(restore), folder, { DATABASE_URL });
      const after = new Caller((await open()).gateway.url);
      expect(await after.attempt(lost)).toBeNull();
      expect(await after.create('payment', kept)).toMatchObject({
        replayed: true,
        transactionId: created.transactionId,
      });
    });
  });
}
