import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Pool } from 'pg';
import { openJournal } from '../../src/datasources/journal/create-journal';

export type StoreKind = 'SQLite' | 'PostgreSQL';
export type Row = Record<string, unknown>;

export interface Store {
  kind: StoreKind;
  url: string;
  /** Runs SQL directly on the database. */
  rows(sql: string): Promise<Row[]>;
  bytes(): Promise<Buffer>;
  /** Locks out all other writers until the returned function is called. */
  hold(): Promise<() => Promise<void>>;
  drop(): Promise<void>;
}

export const POSTGRES_URL = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

export async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** Why tests on PostgreSQL are skipped; undefined if a server responds. Set once by the global set-up. */
export const noPostgres: string | undefined = process.env['PAYGRAPH_TEST_NO_POSTGRES'] || undefined;

/** Connects to PostgreSQL. Returns the value of `noPostgres`. */
export const probePostgres = (): Promise<string | undefined> =>
  withClient(POSTGRES_URL, async () => undefined).catch(
    (error: unknown) => `SKIPPED: no PostgreSQL answers (${String(error)})`,
  );

const runPrefix = (): string => `paygraph_${process.env['PAYGRAPH_TEST_RUN'] ?? process.pid}_`;

const databaseUrl = (name: string): string => {
  const url = new URL(POSTGRES_URL);
  url.pathname = `/${name}`;
  return url.href;
};

export async function createTemplate(): Promise<void> {
  const name = `${runPrefix()}template`;
  await withClient(POSTGRES_URL, (client) => client.query(`CREATE DATABASE ${name}`));
  const journal = await openJournal(databaseUrl(name), 60_000);
  await journal.ping();
  await journal.close();
}

export async function dropDatabases(): Promise<void> {
  await withClient(POSTGRES_URL, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE starts_with(datname, $1)`,
      [runPrefix()],
    );
    for (const { datname } of rows) await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  });
}

function sqliteStore(): Store {
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-journal-'));
  const journalFolder = path.join(folder, 'data');
  mkdirSync(journalFolder);
  const file = path.join(journalFolder, 'journal.db');
  return {
    kind: 'SQLite',
    url: `file:${file}`,
    rows: async (sql) => {
      using database = new DatabaseSync(file, { timeout: 5000 });
      return database.prepare(sql).all();
    },
    bytes: async () =>
      Buffer.concat(readdirSync(journalFolder).map((name) => readFileSync(path.join(journalFolder, name)))),
    hold: async () => {
      const database = new DatabaseSync(file, { timeout: 5000 });
      database.exec('BEGIN IMMEDIATE');
      return async () => database.close();
    },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

let databases = 0;

async function postgresStore(template: string | undefined): Promise<Store> {
  const name = `${runPrefix()}${process.pid}_${Date.now().toString(36)}_${(databases += 1)}`;
  await withClient(POSTGRES_URL, (client) =>
    client.query(`CREATE DATABASE ${name} ${template ? `TEMPLATE ${template}` : ''}`),
  );
  const url = databaseUrl(name);
  const pool = new Pool({ connectionString: url, connectionTimeoutMillis: 20_000, allowExitOnIdle: true });
  // A test may terminate the sessions of the database.
  pool.on('error', () => undefined);
  const rows = async (sql: string): Promise<Row[]> => (await pool.query<Row>(sql)).rows;
  return {
    kind: 'PostgreSQL',
    url,
    rows,
    bytes: async () => {
      const tables = await rows("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'");
      const contents = await Promise.all(
        tables.map(({ name: table }) => rows(`SELECT * FROM ${String(table)}`)),
      );
      return Buffer.from(JSON.stringify(contents));
    },
    hold: async () => {
      const client = new Client(url);
      await client.connect();
      await client.query(`BEGIN; LOCK TABLE stored_attempts, reserved_external_ids, confirms, write_checks, changes,
        followed_transactions`);
      return () => client.end();
    },
    // The global tear-down drops the database, because each DROP waits for a checkpoint of the whole server.
    drop: async () => {
      await pool.end();
      if (process.env['PAYGRAPH_TEST_RUN']) return;
      await withClient(POSTGRES_URL, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

export const openStore = async (kind: StoreKind): Promise<Store> =>
  kind === 'SQLite'
    ? sqliteStore()
    : postgresStore(process.env['PAYGRAPH_TEST_RUN'] && `${runPrefix()}template`);

export const emptyPostgres = (): Promise<Store> => postgresStore(undefined);

/** `describe` on PostgreSQL; skipped, with the reason in the title, if no server responds. */
export function describePostgres(title: string, define: () => void): void {
  if (noPostgres) describe.skip(`${title} (${noPostgres})`, define);
  else describe(title, define);
}
