import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { describeJournals, describePostgresJournal } from '../journal/support/fixture';
import { newAttempt } from '../journal/support/samples';
import { closeAfterTests, loggedGateway } from '../support/gateway';
import { until } from '../support/latch';
import { NOBODY, doctor, finding, goodSettings } from './support/doctor';

const examine = (DATABASE_URL: string) => doctor({ ...goodSettings(NOBODY), DATABASE_URL });

/** Returns the findings about the journal at `url` that are not ok. */
const faultsOf = async (url: string): Promise<string[]> => (await examine(url)).faults('journal');

describeJournals('The check of the journal by doctor', (fixture) => {
  test('warns of unknown outcomes, with their number and the age of the oldest one', async () => {
    for (const hours of [5, 3]) {
      const attempt = newAttempt({ startedAt: Date.now() - hours * 3_600_000 });
      await fixture.journal.insertAttempt(attempt);
      await fixture.journal.recordOutcome(attempt.id, { outcome: 'unknown', nextRecheckAt: 0 });
    }
    expect(await faultsOf(fixture.store.url)).toEqual([finding('warning: 2; 5.0 h; paygraph attempts list')]);
  });

  test('warns if a migration is missing, and fails if the journal has a migration of a newer version', async () => {
    const steps = await fixture.store.rows('SELECT name FROM applied_migrations ORDER BY name DESC LIMIT 1');
    const last = String(steps[0]?.['name']);
    await fixture.store.rows(`DELETE FROM applied_migrations WHERE name = '${last}'`);
    expect(await faultsOf(fixture.store.url)).toContainEqual(finding(`warning: ${last}; paygraph migrate`));
    await fixture.store.rows(`INSERT INTO applied_migrations VALUES ('${last}'), ('9999-from-the-future')`);
    expect(await faultsOf(fixture.store.url)).toContainEqual(finding('failed: 9999-from-the-future'));
    await fixture.store.rows("DELETE FROM applied_migrations WHERE name LIKE '9999%'");
  });

  test('neither writes to the journal nor locks it for other writers', async () => {
    const rows = () => fixture.store.rows('SELECT * FROM attempts ORDER BY seq');
    const before = await rows();
    const attempt = newAttempt();
    await Promise.all([examine(fixture.store.url), fixture.journal.insertAttempt(attempt)]);
    expect(await rows()).toEqual([...before, expect.objectContaining({ id: attempt.id })]);
  });
});

/** Starts a proxy that loses LISTEN, like a transaction pooler. Returns the URL of the journal through it. */
async function withoutNotifications(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    // "--" makes the statement a comment.
    near.on('data', (chunk) => far.write(chunk.toString('latin1').replace('LISTEN', '--STEN'), 'latin1'));
    far.on('data', (chunk) => near.write(chunk));
    near.on('error', () => near.destroy()).on('close', () => far.destroy());
    far.on('error', () => far.destroy()).on('close', () => near.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closeAfterTests({ close: async () => void server.close() });
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return through.href;
}

describePostgresJournal('The check of the journal by doctor', (fixture) => {
  test('fails if PostgreSQL may lose commits', async () => {
    const [row] = await fixture.store.rows('SELECT current_database() AS name');
    const change = (action: string) =>
      fixture.store.rows(`ALTER DATABASE ${String(row?.['name'])} ${action}`);
    await change('SET synchronous_commit = off');
    expect(await faultsOf(fixture.store.url)).toEqual([finding('failed: synchronous_commit')]);
    await change('RESET synchronous_commit');
  });

  const changed = (change: (url: URL) => void): string => {
    const url = new URL(fixture.store.url);
    change(url);
    return url.href;
  };

  test('warns if the database user lacks the rights to detect a failover', async () => {
    const user = `paygraph_doctor_${process.pid}`;
    const grants = [
      `CREATE ROLE ${user} LOGIN`,
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${user}`,
      `GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${user}`,
      'REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC',
    ];
    for (const grant of grants) await fixture.store.rows(grant);
    expect(await faultsOf(changed((url) => (url.username = user)))).toEqual([
      finding('warning: pg_control_system; paygraph fence on'),
    ]);
    await fixture.store.rows(`DROP OWNED BY ${user}`);
    await fixture.store.rows(`DROP ROLE ${user}`);
  });

  test('fails, without printing the URL, if the server refuses connections', async () => {
    const report = await examine(changed((url) => ((url.port = '1'), (url.password = 'hunter2'))));
    expect(report.code).toBe(1);
    expect(report.faults('journal')).toEqual([finding('failed: ECONNREFUSED; pg_hba')]);
    expect(report.text).not.toContain('hunter2');
  });

  test('warns if a connection pooler drops notifications', async () => {
    const pooler = await withoutNotifications(fixture.store.url);
    expect(await faultsOf(pooler)).toContainEqual(finding('warning: LISTEN; NOTIFY; PgBouncer'));
    const { logLines } = await loggedGateway(() => ({ status: 404 }), { DATABASE_URL: pooler });
    const isWarned = (line: string): boolean =>
      /"journal_weakness"/.test(line) && /"no_notifications"/.test(line);
    await until(() => logLines.some(isWarned));
  });

  test('fails if the database is read-only', async () => {
    const readOnly = changed((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'));
    const name = new URL(fixture.store.url).pathname.slice(1);
    await fixture.store.rows(`ALTER DATABASE ${name} SET default_transaction_read_only = on`);
    expect(await faultsOf(readOnly)).toContainEqual(finding('failed: GRANT'));
  });
});
