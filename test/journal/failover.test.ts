import { openJournal } from '../../src/datasources/journal/open';
import { systemClock } from '../../src/clock';
import { PostgresChanges } from '../../src/datasources/changes/postgres-changes';
import { inspectPostgres } from '../../src/datasources/journal/inspection';
import { PATIENT_MS } from '../support/patience';
import { noCluster, privateCluster, type Cluster } from './support/private-cluster';
import { begunAs, newAttempt } from './support/samples';
import { recovered } from './support/unavailable';

const name = 'A connection string with two hosts';

(noCluster ? describe.skip : describe)(noCluster ? `${name} (${noCluster})` : name, () => {
  let primary: Cluster;
  let standby: Cluster;
  const urlOf = (hosts: Cluster[], attributes = 'read-write'): string =>
    `postgres://postgres:hunter2@${hosts.map(({ host }) => host).join()}/postgres?target_session_attrs=${attributes}`;

  beforeAll(async () => {
    primary = await privateCluster();
    standby = await privateCluster(primary);
  }, 60_000);

  afterAll(() => {
    for (const cluster of [standby, primary]) cluster?.drop();
  });

  test('finds the primary in either order, for the journal, the doctor and LISTEN', async () => {
    for (const hosts of [
      [primary, standby],
      [standby, primary],
    ]) {
      const journal = await openJournal(
        urlOf(hosts, hosts[0] === primary ? 'primary' : 'read-write'),
        PATIENT_MS,
      );
      await begunAs(journal, 'in_progress', newAttempt());
      await journal.close();
      await expect(inspectPostgres(urlOf(hosts), 5_000)).resolves.toMatchObject({
        isWritable: true,
        canListen: true,
        missingSteps: [],
      });
    }
    const heard = Promise.withResolvers<unknown>();
    const [listener, teller] = [0, 1].map(() => new PostgresChanges(urlOf([standby, primary]), systemClock));
    listener!.onChange(heard.resolve);
    const change = { name: 'n'.repeat(22), state: 's'.repeat(8) };
    const telling = setInterval(() => teller!.tell(change), 50);
    await expect(heard.promise).resolves.toEqual(change);
    clearInterval(telling);
    await Promise.all([listener!.close(), teller!.close()]);
  }, 30_000);

  test('says of each host why it is not used, without the password', async () => {
    const journal = await openJournal(`postgres://postgres:hunter2@${standby.host},127.0.0.1:1/postgres`);
    const refused = await journal.begin(newAttempt()).catch((error: Error) => error);
    await journal.close();
    const { message } = (refused as Error).cause as Error;
    expect(message).toContain('host 1 read_only, host 2 connection_refused');
    expect(message).not.toMatch(/hunter2|127/);
  });

  test('a standby alone cannot be written, and says nothing of LISTEN', async () => {
    await expect(inspectPostgres(standby.url, 5_000)).resolves.toMatchObject({
      isWritable: false,
      canListen: null,
    });
  });

  test('goes on with the standby once it is promoted and the primary has stopped', async () => {
    const url = urlOf([primary, standby]);
    const journal = await openJournal(url);
    await recovered(journal);
    const before = await begunAs(journal, 'in_progress', newAttempt());
    const changes = new PostgresChanges(url, systemClock);
    standby.promote();
    primary.stop();
    await recovered(journal);
    await expect(journal.begin({ ...before, id: newAttempt().id })).resolves.toMatchObject({
      kind: 'exists',
      attempt: { id: before.id },
    });
    await changes.close();
    await journal.close();
  }, 30_000);
});
