import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { describeStores, newKey } from '../support/harness';
import { until } from '../support/latch';
import { Program } from '../support/program';
import { describePostgres, openStore } from '../support/stores';
import { lookUp, openRecord } from './support/record';

jest.setTimeout(120_000);

/** Longest wait for a lookup after a process was killed: its lease, the poll interval, and slack. */
const TAKE_OVER_MS = 60_000;
const FIRST = 'PROCESSING WAITING_FOR_UTR';
const COMPLETED = { status: 'completed', state: null };

describeStores('Following transactions', (harnesses) => {
  test('is resumed by the next process after one was killed', async () => {
    const [store, service] = await Promise.all([openStore(harnesses.kind), FakePaymentService.start()]);
    harnesses.closeAtEnd(() => store.drop());
    harnesses.closeAtEnd(() => service.close());
    const env = { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '100' };
    const options = { serviceUrl: service.url, databaseUrl: store.url, env, hasSlowJournal: true };
    const killed = await Program.start(options);
    const created = await Promise.all(Array.from({ length: 20 }, () => killed.create('payment', newKey())));
    const ids = created.map(({ transactionId }) => String(transactionId));
    // Kills the process while it looks transactions up, so that some are leased.
    await until(() => service.requestsTo('look-up-payment').length > 3);
    await killed.kill();
    for (const entry of service.ledger.entries) Object.assign(entry, COMPLETED);
    await Program.start(options);
    const record = await openRecord({ store, service }, harnesses);
    for (const id of ids) {
      const states = await until(
        () => record.statesOf(id),
        (all) => all.includes('COMPLETED'),
        TAKE_OVER_MS,
        100,
      );
      expect(states).toEqual([FIRST, 'COMPLETED']);
    }
  });
});

describePostgres('Two gateways on one PostgreSQL', () => {
  const closers: (() => Promise<unknown>)[] = [];
  const closeAtEnd = (close: () => Promise<unknown>): void => void closers.push(close);
  afterAll(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  test('record each change once, though both look transactions up, and share the following', async () => {
    const [store, service] = await Promise.all([openStore('PostgreSQL'), FakePaymentService.start()]);
    closeAtEnd(() => store.drop());
    closeAtEnd(() => service.close());
    const env = { FOLLOW_DAYS: '1', FOLLOW_LOOKUPS_PER_SECOND: '100', POLL_INTERVALS_PAYER: '1s' };
    const options = { serviceUrl: service.url, databaseUrl: store.url, env, hasSlowJournal: true };
    const programs = await Promise.all([Program.start(options), Program.start(options)]);
    const record = await openRecord({ store, service }, { closeAtEnd });
    const created = await Promise.all(
      Array.from({ length: 30 }, (_, place) => programs[place % 2]!.create('payment', newKey())),
    );
    const ids = created.map(({ transactionId }) => String(transactionId));
    for (const entry of service.ledger.entries) entry.state = 'waiting_for_provider';
    await Promise.all(ids.flatMap((id) => programs.map((program) => lookUp(program, id))));
    const startedAt = service.requests.length;
    await until(() => service.requests.length > startedAt + ids.length);
    for (const entry of service.ledger.entries) Object.assign(entry, COMPLETED);
    for (const id of ids) {
      const states = await until(
        () => record.statesOf(id),
        (all) => all.includes('COMPLETED'),
        TAKE_OVER_MS,
        100,
      );
      expect(states).toEqual([FIRST, 'PROCESSING WAITING_FOR_PROVIDER', 'COMPLETED']);
    }
    await expect(record.followed()).resolves.toBe(0);
  });
});
