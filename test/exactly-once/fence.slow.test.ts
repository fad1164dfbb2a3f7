import type { CallResult, Json } from '../support/caller';
import { until } from '../support/latch';
import { status } from '../support/payment-service/faults';
import { describeStores, newKey, type Harness } from '../support/harness';
import { KINDS, SUCCESS, sent } from './support/creates';

const WITHOUT_ID = { externalId: undefined };

/** Deletes all attempts, as a failover to a standby that lags behind does, and raises the fence ten seconds ago. */
async function loseAttempts({ store, clock }: Harness): Promise<void> {
  await store.rows('DELETE FROM stored_attempts');
  await store.rows('DELETE FROM reserved_external_ids');
  const since = Math.floor(clock.now()) - 10_000;
  await store.rows(`UPDATE journal_state SET fence_since = ${since}, fence_reason = 'failover'`);
}

const readiness = async ({ url }: Harness): Promise<{ checks: Record<string, unknown> }> =>
  (await (await fetch(new URL('/readyz', url))).json()) as { checks: Record<string, unknown> };

/** Waits until the gateway has read the state of the fence. */
const untilFence = (harness: Harness, state: 'up' | 'down'): Promise<unknown> =>
  until(async () => {
    harness.clock.advance(1000);
    return (await readiness(harness)).checks['fence'] === state;
  });

async function lower(harness: Harness): Promise<void> {
  await harness.store.rows('UPDATE journal_state SET fence_since = 0');
  await untilFence(harness, 'down');
}

/** Longer than nothing is created after the fence went up. */
const SETTLED_MS = 3000;

describeStores('While the fence is up', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start();
    await lower(harness);
  });

  async function createThenLose(kind: 'payment' | 'payout', over: Json = {}): Promise<[string, CallResult]> {
    const key = newKey();
    const first = await harness.create(kind, key, over);
    expect(first).toMatchObject({ result: SUCCESS[kind], replayed: false });
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    harness.clock.advance(SETTLED_MS);
    return [key, first];
  }

  test.each(KINDS)(
    'a repeated create finds the %s that a lost attempt has created, and records it',
    async (kind) => {
      const [key, first] = await createThenLose(kind);
      const { transactionId } = first;
      expect(await harness.create(kind, key)).toMatchObject({
        result: SUCCESS[kind],
        replayed: true,
        transactionId,
      });
      expect(await harness.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', transactionId });
      expect(sent(harness.service, kind, key)).toBe(1);
    },
  );

  test('a repeated create without an external id finds its payment, because the key leads to the same id', async () => {
    const [key, { transactionId }] = await createThenLose('payment', WITHOUT_ID);
    expect(await harness.create('payment', key, WITHOUT_ID)).toMatchObject({ replayed: true, transactionId });
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test('a key that a lost attempt has used with another amount is refused', async () => {
    const [key] = await createThenLose('payment');
    const amount = { currency: 'INR', value: '777.00' };
    expect(await harness.create('payment', key, { amount })).toMatchObject({
      result: 'IdempotencyConflictError',
    });
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test('a new create is looked up, and sent if the service shows a payment that it is known to have', async () => {
    await createThenLose('payment');
    const [known, key] = [newKey(), newKey()];
    expect(await harness.create('payment', known)).toMatchObject({
      result: 'PaymentSuccess',
      replayed: false,
    });
    const [entry] = harness.service.created(known);
    entry!.visibleAt = Infinity;
    expect(await harness.create('payment', key)).toMatchObject({
      error: 'SERVICE_UNAVAILABLE',
      retryable: true,
    });
    expect(sent(harness.service, 'payment', key)).toBe(0);
    entry!.visibleAt = 0;
    expect(await harness.create('payment', key)).toMatchObject({ result: 'PaymentSuccess', replayed: false });
  });

  test('a create is not sent if the lookup at the payment service fails', async () => {
    const [key] = await createThenLose('payment');
    harness.service.plan((endpoint) =>
      endpoint === 'look-up-payment' ? { acts: false, reply: status(503) } : undefined,
    );
    expect(await harness.create('payment', key)).toMatchObject({
      error: 'SERVICE_UNAVAILABLE',
      retryable: true,
    });
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test('a payment that is older than the fence and FENCE_SECONDS belongs to no lost attempt', async () => {
    const key = newKey();
    await harness.create('payment', key);
    harness.service.created(key)[0]!.createdAt -= 2 * 86_400_000;
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    expect(await harness.create('payment', key)).toMatchObject({
      error: 'SERVICE_UNAVAILABLE',
      retryable: true,
    });
    harness.clock.advance(SETTLED_MS);
    expect(await harness.create('payment', key)).toMatchObject({ result: 'PaymentSuccess', replayed: false });
  });

  test('/readyz names reason and end, and creates need no lookup after it has ended', async () => {
    await createThenLose('payment');
    expect((await readiness(harness)).checks).toMatchObject({
      fence: 'up',
      fenceReason: 'failover',
      fenceUntil: expect.stringMatching(/^\d{4}-/) as string,
    });
    harness.clock.advance(86_400_000);
    await until(async () => (await readiness(harness)).checks['fence'] === 'down');
  });
});

describeStores('When an instance notices that the journal has lost attempts', (harnesses) => {
  let harness: Harness;
  let key: string;
  let creating: Promise<CallResult>;
  let release: () => void;

  /** A create whose response the service holds back. */
  beforeEach(async () => {
    harness = await harnesses.start();
    // Otherwise the request that is held would be the lookup before the create.
    await lower(harness);
    key = newKey();
    const held = harness.service.hold();
    creating = harness.create('payment', key);
    await held.arrived;
    release = () => held.release();
  });

  async function expectRecorded(): Promise<void> {
    release();
    expect(await creating).toMatchObject({ result: 'PaymentSuccess', replayed: false });
    expect(await harness.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED' });
  }

  test('a create in flight is written again, and its outcome is recorded', async () => {
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    expect(await until(() => harness.attempt(key))).toMatchObject({ outcome: 'IN_PROGRESS' });
    await expectRecorded();
  });

  test('an outcome whose attempt is missing writes it again, and raises the fence', async () => {
    await harness.store.rows('DELETE FROM stored_attempts');
    await expectRecorded();
    const reason = async (): Promise<unknown> =>
      (await harness.store.rows('SELECT fence_reason FROM journal_state'))[0]?.['fence_reason'];
    await until(reason, (found) => found === 'attempt_missing');
  });
});
