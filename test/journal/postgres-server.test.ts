import type { Journal } from '../../src/datasources/journal/journal';
import { faultOf } from '../../src/datasources/journal/journal-fault';
import { openJournal } from '../../src/datasources/journal/open';
import { PATIENT_MS } from '../support/patience';
import { noCluster, PASSWORD_USER, privateCluster, type Cluster } from './support/private-cluster';
import { asBegun, begunAs, newAttempt } from './support/samples';
import { expectUnavailable, READS, recovered, WRITES } from './support/unavailable';

const EVERYTHING = Object.values({ ...WRITES, ...READS });

(noCluster ? describe.skip : describe)(
  noCluster ? `a PostgreSQL server (${noCluster})` : 'a PostgreSQL server',
  () => {
    let cluster: Cluster;
    let journal: Journal;
    /** One that gives up as soon as a gateway's does. */
    let impatient: Journal;

    beforeAll(async () => {
      cluster = await privateCluster();
      journal = await openJournal(cluster.url, PATIENT_MS);
      await journal.ping();
      impatient = await openJournal(cluster.url);
    }, 60_000);

    afterAll(async () => {
      await Promise.all([journal.close(), impatient.close()]);
      cluster.drop();
    }, 60_000);

    test('that is stopped refuses everything in time; after its start all is there and goes on', async () => {
      const attempt = await begunAs(journal, 'in_progress', newAttempt());
      cluster.stop();
      for (let round = 0; round < 2; round += 1) {
        await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(impatient))));
      }
      cluster.start();
      await recovered(impatient);
      await expect(journal.find(attempt)).resolves.toMatchObject(asBegun(attempt));
      await recovered(impatient, EVERYTHING);
    }, 60_000);

    test('that crashes under load has kept every attempt that was begun', async () => {
      const service = newAttempt().service;
      const begun: string[] = [];
      let crashed = false;
      const workers = Array.from({ length: 16 }, async () => {
        while (!crashed) {
          const attempt = newAttempt({ service });
          await journal.begin(attempt).then(
            () => begun.push(attempt.id),
            () => (crashed = true),
          );
        }
      });
      while (begun.length < 200) await new Promise(setImmediate);
      cluster.stop();
      await Promise.all(workers);
      cluster.start();
      await recovered(journal);
      const page = { service, client: 'shop', channel: 'channel-1', limit: 1_000_000 };
      const kept = new Set((await journal.list(page)).map(({ id }) => id));
      expect(begun.filter((id) => !kept.has(id))).toEqual([]);
    }, 60_000);

    test('that stands still refuses everything in time, and goes on afterwards', async () => {
      cluster.freeze();
      try {
        for (let round = 0; round < 2; round += 1) {
          await Promise.all(EVERYTHING.map((ask) => expectUnavailable(ask(impatient))));
        }
      } finally {
        cluster.thaw();
      }
      await recovered(impatient);
      await recovered(impatient, EVERYTHING);
    });

    test('that asks for a password refuses a journal without one at opening, as it does a wrong one', async () => {
      const url = new URL(cluster.url);
      url.username = PASSWORD_USER;
      for (const password of ['', 'hunter2']) {
        url.password = password;
        const error = await openJournal(url.href, PATIENT_MS).catch((refused: unknown) => refused);
        expect(error).toMatchObject({
          name: 'JournalOpenError',
          message: expect.stringContaining('password') as string,
        });
        expect(faultOf((error as Error).cause)).toMatchObject({ reason: 'authentication_failed' });
        expect(String(error)).not.toContain('hunter2');
      }
    });

    test('that is not there at the start of the gateway is used as soon as it is', async () => {
      cluster.stop();
      const early = await openJournal(cluster.url);
      await expectUnavailable(early.begin(newAttempt()));
      cluster.start();
      await recovered(early);
      await early.close();
    }, 60_000);
  },
);
