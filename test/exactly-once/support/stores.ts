import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';

export type StoreKind = 'SQLite' | 'PostgreSQL';
export type Row = Record<string, unknown>;

/** A place for a journal of one's own, and a look into it behind the gateway's back. */
export interface Store {
  kind: StoreKind;
  /** For DATABASE_URL. */
  url: string;
  rows(sql: string): Promise<Row[]>;
  /** Everything that was written, as it lies there. */
  bytes(): Promise<Buffer>;
  drop(): Promise<void>;
}

/** Where tests may make databases. */
export const POSTGRES_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

/** Whether a PostgreSQL answers there. Asked in a process of its own, so that tests can be named by the answer. */
export function postgresAnswers(): boolean {
  const ask = `const { Client } = require('pg');
    const client = new Client({ connectionString: process.argv[1], connectionTimeoutMillis: 2000 });
    client.connect().then(() => client.end()).then(() => process.exit(0), () => process.exit(1));`;
  return spawnSync(process.execPath, ['-e', ask, POSTGRES_URL], { timeout: 10_000 }).status === 0;
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function sqliteStore(): Store {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-journal-'));
  const file = path.join(folder, 'journal.db');
  return {
    kind: 'SQLite',
    url: `file:${file}`,
    rows: async (sql) => {
      const database = new DatabaseSync(file, { timeout: 5000 });
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    },
    bytes: async () =>
      Buffer.concat(readdirSync(folder).map((name) => readFileSync(path.join(folder, name)))),
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

const TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'";

async function postgresStore(): Promise<Store> {
  const name = `paygraph_${randomBytes(6).toString('hex')}`;
  await withClient(POSTGRES_URL, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${name}`;
  const rows = (sql: string): Promise<Row[]> =>
    withClient(url.href, async (client) => (await client.query<Row>(sql)).rows);
  return {
    kind: 'PostgreSQL',
    url: url.href,
    rows,
    bytes: async () => {
      const tables = await rows(TABLES);
      const contents = await Promise.all(tables.map(({ tablename }) => rows(`SELECT * FROM ${tablename}`)));
      return Buffer.from(JSON.stringify(contents));
    },
    drop: async () => {
      await withClient(POSTGRES_URL, (client) =>
        client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
      );
    },
  };
}

export const openStore = async (kind: StoreKind): Promise<Store> =>
  kind === 'SQLite' ? sqliteStore() : postgresStore();
