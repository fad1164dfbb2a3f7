import {
  KINDS,
  MINUTE,
  SETTLE,
  loseHiddenResponse,
  loseResponse,
  replacing,
  untilCreated,
  untilOutcome,
} from '../exactly-once/support/creates';
import { status } from '../support/payment-service/faults';
import { CHANNEL } from '../support/caller';
import { until } from '../support/latch';
import { describeStores, newKey, type Harness } from '../support/harness';
import { openStore } from '../support/stores';
import { callsOf, objectsOf, temporaryLog, verify } from './support/files';

const recoveredIn = (file: string, key: string) =>
  objectsOf(file).filter((line) => line.event === 'recovered' && line.key === key);

const untilRecovered = (file: string, key: string) =>
  until(
    () => recoveredIn(file, key),
    ({ length }) => length > 0,
  );

describeStores('The audit log', (rigs) => {
  const file = temporaryLog();
  const env = { AUDIT_LOG_FILE: file };
  let first: Harness;
  let second: Harness;

  beforeAll(async () => {
    first = await rigs.start({ env });
    const { service, clock, store } = first;
    second = await rigs.start({ env, service, clock, store });
  });

  afterAll(async () => {
    await Promise.all([first.close(), second.close()]);
    expect((await verify(file)).faults).toEqual([]);
  });

  test.each(KINDS)('has one line for a %s that two instances try to recover', async (kind) => {
    const key = newKey();
    const transactionId = (await loseHiddenResponse(first, kind, key))();
    await untilOutcome(first, key, 'SUCCEEDED');
    const lines = await untilRecovered(file, key);
    const [row] = await first.store.rows(`SELECT id FROM attempts WHERE key = '${key}'`);
    expect(lines).toMatchObject([
      {
        attempt: row!['id'],
        client: 'service:test',
        operation: kind === 'payment' ? 'createPayment' : 'createPayout',
        key,
        channel: CHANNEL,
        amount: { currency: 'INR', value: '10.00' },
        oldOutcome: 'unknown',
        outcome: 'succeeded',
        transactionId,
      },
    ]);
    // Later recovery rounds of both instances add no line.
    await untilOutcome(first, key, 'SUCCEEDED');
    expect(recoveredIn(file, key)).toHaveLength(1);
  });

  test('has one line for an outcome that a repeated create recovers, in addition to one line per create', async () => {
    const key = newKey();
    const { service, clock } = first;
    const store = await openStore(rigs.kind);
    rigs.closeAtEnd(() => store.drop());
    // The recovery job of these instances finds nothing to do.
    const wrap = replacing('claimDue', () => async () => []);
    const start = (): Promise<Harness> => rigs.start({ env, service, clock, store, wrap });
    const [one, two] = [await start(), await start()];
    const transactionId = (await loseHiddenResponse(one, 'payment', key))();
    const again = await Promise.all([one, two, one].map((rig) => rig.create('payment', key)));
    expect(again.some(({ result }) => result === 'PaymentSuccess')).toBe(true);
    expect(await untilRecovered(file, key)).toMatchObject([{ outcome: 'succeeded', transactionId }]);
    expect(callsOf(file).filter((line) => line.key === key)).toHaveLength(4);
    await Promise.all([one.close(), two.close()]);
  });

  test('has one line for an unknown outcome that the recovery job records as not sent', async () => {
    const key = newKey();
    await loseResponse(first, 'payment', key);
    first.clock.advance(SETTLE);
    await untilOutcome(first, key, 'NOT_SENT', MINUTE);
    expect(await untilRecovered(file, key)).toMatchObject([{ outcome: 'not_sent', transactionId: null }]);
  });

  test('has one line for a recovered outcome that the journal records only after an outage', async () => {
    let isDown = true;
    const { service, clock } = first;
    // A journal of its own, so that no other instance recovers the outcome.
    const store = await openStore(rigs.kind);
    rigs.closeAtEnd(() => store.drop());
    const harness = await rigs.start({
      env,
      service,
      clock,
      store,
      wrap: replacing('recordOutcome', (recordOutcome) => async (id, outcome) => {
        if (isDown && outcome.outcome === 'succeeded') throw new Error('The journal does not respond.');
        return recordOutcome(id, outcome);
      }),
    });
    const key = newKey();
    const transactionId = (await loseHiddenResponse(harness, 'payment', key))();
    // Repeated, because recovery may hold the attempt.
    expect(await untilCreated(harness, 'payment', key)).toMatchObject({ transactionId });
    expect(recoveredIn(file, key)).toEqual([]);
    isDown = false;
    await harness.close();
    expect(recoveredIn(file, key)).toMatchObject([{ outcome: 'succeeded', transactionId }]);
  });

  test('has the transaction id of a confirm that the service rejects', async () => {
    const { transactionId } = await first.create('payment', newKey());
    first.service.next('confirm', { acts: false, reply: status(422) });
    await first.confirm(transactionId!);
    const outcome = 'RejectedByServiceError';
    expect(callsOf(file).at(-1)).toMatchObject({ operation: 'confirmPayment', outcome, transactionId });
  });

  test('has no line for a recovery if an operator settles the attempt first', async () => {
    const key = newKey();
    const show = await loseHiddenResponse(first, 'payment', key);
    const [row] = await first.store.rows(`SELECT seq FROM attempts WHERE key = '${key}'`);
    show();
    // The lookup of the repeated create is held until the operator has settled the attempt.
    const held = first.service.hold();
    const again = first.create('payment', key);
    await held.arrived;
    await first.store.rows(
      `UPDATE stored_attempts SET state = 'n', settled_at = 1, lease_until = NULL WHERE seq = ${String(row!['seq'])}`,
    );
    held.release();
    await again;
    await first.close();
    expect(recoveredIn(file, key)).toEqual([]);
  });
});
