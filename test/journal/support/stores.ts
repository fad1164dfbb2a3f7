import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import type { Journal } from '../../../src/datasources/journal/journal';
import { openJournal } from '../../../src/datasources/journal/open';
import { PATIENT_MS } from '../../support/patience';
import { OtherProcess } from './other-process';

type Rows = Record<string, unknown>[];

/** A file or a database of its own, in which journals can be opened. */
export interface Place {
  url: string;
  /** Asks past the journal. */
  rows(sql: string): Promise<Rows>;
  /** Keeps everybody else from writing until that is let go. */
  hold(): Promise<() => Promise<void>>;
  drop(): Promise<void>;
}

export function sqlitePlace(): Place {
  const folder = mkdtempSync(path.join(tmpdir(), 'journal-'));
  const file = path.join(folder, 'deeper', 'journal.db');
  return {
    url: `file:${file}`,
    rows: async (sql) => {
      using database = new DatabaseSync(file);
      return database.prepare(sql).all();
    },
    hold: async () => {
      const database = new DatabaseSync(file, { timeout: 5_000 });
      database.exec('BEGIN IMMEDIATE');
      return async () => database.close();
    },
    drop: async () => rmSync(folder, { recursive: true }),
  };
}

export const SERVER = process.env['TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

export async function connected<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client(url);
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/** A database of its own on a server. */
export async function postgresPlace(server: string = SERVER): Promise<Place> {
  const name = `paygraph_${randomBytes(6).toString('hex')}`;
  await connected(server, (client) => client.query(`CREATE DATABASE ${name}`));
  const url = new URL(server);
  url.pathname = name;
  return {
    url: url.href,
    rows: (sql) => connected(url.href, async (client) => (await client.query<Rows[number]>(sql)).rows),
    hold: async () => {
      const client = new Client(url.href);
      await client.connect();
      await client.query('BEGIN; LOCK TABLE attempts, reservations, confirms, write_checks');
      return () => client.end();
    },
    drop: async () => {
      await connected(server, (client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`));
    },
  };
}

/** Why there is no PostgreSQL to test with; it has to be known before the tests are told. */
function whyNoPostgres(): string | undefined {
  const probe = `const { Client } = require('pg');
    new Client({ connectionString: process.argv[1], connectionTimeoutMillis: 3000 }).connect()
      .then(() => process.exit(0), (error) => { console.error(String(error)); process.exit(1); });`;
  const done = spawnSync(process.execPath, ['-e', probe, SERVER], { cwd: __dirname, encoding: 'utf8' });
  return done.status === 0 ? undefined : `SKIPPED: no PostgreSQL answers (${done.stderr.trim()})`;
}

export const noPostgres = whyNoPostgres();

/** What a test may open; all of it is closed after the last test of its group. */
export interface Room {
  place: Place;
  /** The journal that most tests share. It is patient, as all are but one. */
  journal: Journal;
  another(): Promise<Journal>;
  /** One that gives up as soon as a gateway's does. */
  impatient(): Promise<Journal>;
  process(): Promise<OtherProcess>;
}

function useRoom(make: () => Place | Promise<Place>): Room {
  const journals: Journal[] = [];
  const processes: OtherProcess[] = [];
  const open = async (deadlineMs?: number): Promise<Journal> => {
    const journal = await openJournal(room.place.url, deadlineMs);
    journals.push(journal);
    return journal;
  };
  const room = {
    another: () => open(PATIENT_MS),
    impatient: () => open(),
    process: async () => {
      const started = await OtherProcess.start(room.place.url);
      processes.push(started);
      return started;
    },
  } as Room;
  beforeAll(async () => {
    room.place = await make();
    room.journal = await room.another();
    // The tables are there before anything else happens.
    await room.journal.ping();
  });
  afterAll(async () => {
    await Promise.all(processes.map((started) => started.kill()));
    await Promise.all(journals.map((journal) => journal.close()));
    await room.place.drop();
  });
  return room;
}

export function inSqlite(tests: (room: Room) => void): void {
  describe('in SQLite', () => tests(useRoom(sqlitePlace)));
}

export function inPostgres(tests: (room: Room) => void): void {
  if (noPostgres) describe.skip(`in PostgreSQL (${noPostgres})`, () => tests({} as Room));
  else describe('in PostgreSQL', () => tests(useRoom(() => postgresPlace())));
}

/** The same tests against both stores. */
export function inBothStores(tests: (room: Room) => void): void {
  inSqlite(tests);
  inPostgres(tests);
}
