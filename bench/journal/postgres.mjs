// A temporary database on the PostgreSQL server, dropped when the benchmark ends.
import { randomBytes } from 'node:crypto';
import process from 'node:process';
import pg from 'pg';

const ADMIN_URL = process.env.TEST_DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/test';

async function asAdmin(work) {
  const client = new pg.Client({ connectionString: ADMIN_URL, connectionTimeoutMillis: 3000 });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Creates a temporary database. Returns null if that fails, for example because no server responds. */
export async function freshDatabase() {
  const name = `paygraph_bench_${randomBytes(6).toString('hex')}`;
  try {
    const version = await asAdmin(async (client) => {
      await client.query(`CREATE DATABASE ${name}`);
      return (await client.query('SHOW server_version')).rows[0].server_version;
    });
    const url = new URL(ADMIN_URL);
    url.pathname = `/${name}`;
    return {
      url: url.href,
      version: version.split(' ')[0],
      drop: () => asAdmin((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`)),
    };
  } catch {
    return null;
  }
}
