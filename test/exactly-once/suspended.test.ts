import type { Journal } from '../../src/datasources/journal/journal';
import { AdvancingClock } from '../../src/sandbox/clock';
import { SteppingClock } from '../support/stepping-clock';
import { reset } from './service/faults';
import { gate, until } from './support/gate';
import { CHANNEL } from './support/caller';
import { describeSqlite, describeStores, newKey } from './support/rig';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The same journal for an instance that is suspended as soon as a create has been recorded, until it is resumed. */
function suspendedAfterBegin(journal: Journal, resumed: Promise<unknown>): Journal {
  const begin = journal.begin.bind(journal);
  const renew = journal.renew.bind(journal);
  let isSuspended = false;
  return Object.assign(journal, {
    begin: async (attempt: Parameters<Journal['begin']>[0]) => {
      const begun = await begin(attempt);
      isSuspended = true;
      await resumed;
      return begun;
    },
    renew: async (...lease: Parameters<Journal['renew']>) => {
      if (isSuspended) await resumed;
      await renew(...lease);
    },
  });
}

describeStores('A create whose machine is suspended before it is sent', (rigs) => {
  test('is refused by the service when another instance has created the payment meanwhile', async () => {
    const other = await rigs.start();
    const wall = new SteppingClock();
    const resumed = gate();
    const suspended = await rigs.start({
      service: other.service,
      clock: new AdvancingClock(wall),
      journalClock: other.clock,
      wrap: (journal) => suspendedAfterBegin(journal, resumed.opened),
    });
    const key = newKey();
    const first = suspended.create('payment', key);
    await until(
      () => other.attempt(key),
      (attempt) => attempt !== null,
    );
    const end = await until(
      () => {
        other.clock.advance(MINUTE);
        return other.create('payment', key);
      },
      ({ result }) => result === 'PaymentSuccess',
    );
    // Its wall clock is right again when it goes on; its monotonic clock stood still.
    wall.aheadMs = other.clock.ahead;
    resumed.open();
    expect(await first).not.toMatchObject({ result: 'PaymentSuccess' });
    expect(other.service.created(key)).toMatchObject([{ transactionId: end.transactionId }]);
  });
});

describeSqlite('A Date header of something in front of the service', (rigs) => {
  test.each([
    ['an hour ahead', 60 * MINUTE],
    ['a day behind', -DAY],
  ])('that is %s changes nothing of what is believed', async (_name, offsetMs) => {
    const rig = await rigs.start();
    await rig.create('payment', newKey());
    const [lost, reused] = [newKey(), newKey()];
    const payment = { currency: 'INR', value: '10.00' };
    const body = { channel: CHANNEL, external_id: `order ${reused}`, amount: payment };
    const method = { payment_method: { type: 'upi', email: 'ann@example.com' } };
    rig.service.ledger.create('payment', { ...body, ...method }, rig.service.now() - 60 * MINUTE);
    rig.service.next('look-up-payment', {
      acts: false,
      reply: (connection) => {
        const date = new Date(rig.service.now() + offsetMs).toUTCString();
        const headers = { 'content-type': 'text/html', date };
        connection.send({ status: 404, json: {}, headers }, '<html></html>');
      },
    });
    const lookUp = 'query ($c: UUID!) { payment(channel: $c, externalId: "none") { __typename } }';
    await rig.ask(lookUp, { c: CHANNEL });
    rig.service.next('create-payment', { acts: true, reply: reset }, { acts: false, reply: reset });
    expect(await rig.create('payment', lost)).toMatchObject({ result: 'PaymentSuccess', replayed: true });
    expect(await rig.create('payment', reused)).toMatchObject({ result: 'OutcomeUnknownError' });
  });
});
