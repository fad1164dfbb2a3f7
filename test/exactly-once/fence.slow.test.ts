import { AdvancingClock } from '../../src/sandbox/clock';
import { systemClock } from '../../src/shared/clock';
import type { CallResult, Json } from '../support/caller';
import { until } from '../support/latch';
import { reset } from '../support/payment-service/faults';
import { describeStores, newKey, type Harness } from '../support/harness';
import { KINDS, SUCCESS, failing, loseResponse, replacing, sent, untilOutcome } from './support/creates';

const WITHOUT_ID = { externalId: undefined };
const CREATED = { result: 'PaymentSuccess', replayed: false };
const UNAVAILABLE = { error: 'SERVICE_UNAVAILABLE', retryable: true };

/** Raises the fence, as of ten seconds ago. */
async function raise({ store, clock }: Harness): Promise<void> {
  const since = Math.floor(clock.now()) - 10_000;
  await store.rows(`UPDATE journal_state SET fence_since = ${since}, fence_reason = 'failover'`);
}

/** Deletes all attempts, as a failover to a standby that lags behind does, and raises the fence. */
async function loseAttempts(harness: Harness): Promise<void> {
  await harness.store.rows('DELETE FROM stored_attempts');
  await harness.store.rows('DELETE FROM reserved_external_ids');
  await raise(harness);
}

const readiness = async ({ url }: Harness): Promise<{ checks: Record<string, unknown> }> =>
  (await (await fetch(new URL('/readyz', url))).json()) as { checks: Record<string, unknown> };

/**
 * Waits until the gateway has read the state of the fence. The steps of the clock are short for `up`, so that the time
 * in which nothing is created has just begun; for `down`, each step makes the gateway read the fence again.
 */
const untilFence = (harness: Harness, state: 'up' | 'down'): Promise<unknown> =>
  until(async () => {
    harness.clock.advance(state === 'up' ? 250 : 1000);
    return (await readiness(harness)).checks['fence'] === state;
  });

async function lower(harness: Harness): Promise<void> {
  await harness.store.rows('UPDATE journal_state SET fence_since = 0');
  // Before its first read, the gateway also reports `down`.
  for (let times = 0; times < 2; times += 1) await untilFence(harness, 'down');
}

/** Longer than the time after a raise of the fence in which nothing is created. */
const SETTLED_MS = 3000;

describeStores('A gateway whose journal may have lost attempts', (harnesses) => {
  let harness: Harness;

  /** Whether the journal inserts attempts, but its calls fail. */
  let loseAnswer = false;

  beforeEach(async () => {
    harness = await harnesses.start({
      wrap: replacing('insertAttempt', (insert) => async (attempt) => {
        const result = await insert(attempt);
        if (loseAnswer) throw new Error('The answer is lost.');
        return result;
      }),
    });
    await lower(harness);
  });

  const confirm = (transactionId: CallResult['transactionId'], utr: string): Promise<CallResult> =>
    harness.confirm(transactionId ?? '', { upi: { utr } });

  async function createThenLose(kind: 'payment' | 'payout', over: Json = {}): Promise<[string, CallResult]> {
    const key = newKey();
    const first = await harness.create(kind, key, over);
    expect(first).toMatchObject({ result: SUCCESS[kind], replayed: false });
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    harness.clock.advance(SETTLED_MS);
    return [key, first];
  }

  // If the input has no external id, the gateway derives it from the key.
  test.each([
    ['payment', 'with an external id', {}],
    ['payment', 'without an external id', WITHOUT_ID],
    ['payout', 'with an external id', {}],
  ] as const)('finds the %s of a lost attempt when the create %s is repeated', async (kind, _input, over) => {
    const [key, { transactionId }] = await createThenLose(kind, over);
    const found = { result: SUCCESS[kind], replayed: true, transactionId };
    expect(await harness.create(kind, key, over)).toMatchObject(found);
    expect(await harness.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', transactionId });
    expect(sent(harness.service, kind, key)).toBe(1);
  });

  test('records a payment that a lookup found, even if the journal inserts its attempt but the response is lost', async () => {
    const [key, { transactionId }] = await createThenLose('payment');
    loseAnswer = true;
    expect(await harness.create('payment', key)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
    loseAnswer = false;
    await untilOutcome(harness, key, 'SUCCEEDED');
    await lower(harness);
    expect(await harness.create('payment', key)).toMatchObject({ replayed: true, transactionId });
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test('leaves the outcome of a confirm unknown if the state of the payment may come from an earlier confirm of unknown outcome', async () => {
    const { transactionId } = await harness.create('payment', newKey());
    harness.service.next('confirm', { acts: true, reply: reset });
    harness.service.plan(failing('look-up-payment'));
    expect(await confirm(transactionId, '111111111111')).toMatchObject({ result: 'OutcomeUnknownError' });
    harness.service.plan(() => undefined);
    await raise(harness);
    await untilFence(harness, 'up');
    harness.clock.advance(SETTLED_MS);
    expect(await confirm(transactionId, '222222222222')).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await confirm(transactionId, '111111111111')).toMatchObject({ ...CREATED, replayed: true });
    expect(harness.service.requestsTo('confirm')).toHaveLength(1);
  });

  test('sends no second confirm, and reports an unknown outcome, if the journal lost the confirm that was executed', async () => {
    const { transactionId } = await harness.create('payment', newKey());
    expect(await confirm(transactionId, '111111111111')).toMatchObject(CREATED);
    const confirmed = `SELECT 1 FROM confirmed WHERE transaction_id = '${transactionId}'`;
    await until(async () => (await harness.store.rows(confirmed)).length > 0);
    for (const table of ['confirms', 'confirmed']) await harness.store.rows(`DELETE FROM ${table}`);
    await raise(harness);
    await untilFence(harness, 'up');
    harness.clock.advance(SETTLED_MS);
    for (const utr of ['222222222222', '111111111111'])
      expect(await confirm(transactionId, utr)).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(harness.service.requestsTo('confirm')).toHaveLength(1);
  });

  test('sends no confirm for two seconds after the read of the fence before the confirm shows that it was raised', async () => {
    const { transactionId } = await harness.create('payment', newKey());
    // The confirm itself reads the fence first, because the clock is not advanced.
    await raise(harness);
    expect(await confirm(transactionId, '111111111111')).toMatchObject(UNAVAILABLE);
    expect(harness.service.requestsTo('confirm')).toHaveLength(0);
    harness.clock.advance(SETTLED_MS);
    expect(await confirm(transactionId, '111111111111')).toMatchObject(CREATED);
  });

  test('refuses a create if a lost attempt used its key with another amount', async () => {
    const [key] = await createThenLose('payment');
    const amount = { currency: 'INR', value: '777.00' };
    const { result } = await harness.create('payment', key, { amount });
    expect(result).toBe('IdempotencyConflictError');
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test.each(KINDS)(
    'sends a new %s only when lookups find a transaction that the journal contains, which proves that they work',
    async (kind) => {
      await createThenLose(kind);
      const [known, key] = [newKey(), newKey()];
      expect(await harness.create(kind, known)).toMatchObject({ result: SUCCESS[kind], replayed: false });
      const [entry] = harness.service.created(known);
      entry!.visibleAt = Infinity;
      expect(await harness.create(kind, key)).toMatchObject(UNAVAILABLE);
      expect(sent(harness.service, kind, key)).toBe(0);
      entry!.visibleAt = 0;
      expect(await harness.create(kind, key)).toMatchObject({ result: SUCCESS[kind], replayed: false });
    },
  );

  test('does not send a create if the lookup at the payment service fails', async () => {
    const [key] = await createThenLose('payment');
    harness.service.plan(failing('look-up-payment'));
    expect(await harness.create('payment', key)).toMatchObject(UNAVAILABLE);
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });

  test('does not match a create with a payment that was created more than FENCE_SECONDS before the fence was raised', async () => {
    const key = newKey();
    await harness.create('payment', key);
    harness.service.created(key)[0]!.createdAt -= 2 * 86_400_000;
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    expect(await harness.create('payment', key)).toMatchObject(UNAVAILABLE);
    harness.clock.advance(SETTLED_MS);
    expect(await harness.create('payment', key)).toMatchObject(CREATED);
  });

  test('shows reason and end of this state (fence) in /readyz until the end has passed', async () => {
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

describeStores('A create in flight when the journal loses its attempt', (harnesses) => {
  let harness: Harness;
  let key: string;
  let creating: Promise<CallResult>;
  let release: () => void;
  let logLines: string[];

  /** Starts a create whose response the service holds back. */
  beforeEach(async () => {
    logLines = [];
    harness = await harnesses.start({ logLines });
    // With the fence up, the held request would be the lookup before the create.
    await lower(harness);
    key = newKey();
    const held = harness.service.hold();
    creating = harness.create('payment', key);
    await held.arrived;
    release = () => held.release();
  });

  async function expectRecorded(): Promise<void> {
    release();
    expect(await creating).toMatchObject(CREATED);
    // The response does not wait longer than RECORD_TIMEOUT_MS for the journal.
    await untilOutcome(harness, key, 'SUCCEEDED');
  }

  test('is written to the journal again when the instance notices the loss, and its outcome is recorded', async () => {
    await loseAttempts(harness);
    await untilFence(harness, 'up');
    expect(await until(() => harness.attempt(key))).toMatchObject({ outcome: 'IN_PROGRESS' });
    await expectRecorded();
  });

  test('is written to the journal again when its outcome is recorded, which marks the journal as incomplete (fence)', async () => {
    await harness.store.rows('DELETE FROM stored_attempts');
    await expectRecorded();
    const reason = async (): Promise<unknown> =>
      (await harness.store.rows('SELECT fence_reason FROM journal_state'))[0]?.['fence_reason'];
    await until(reason, (found) => found === 'attempt_missing');
    // The journal works, although it lost the attempt.
    expect(logLines.filter((line) => /journal_operation_failed.*recordOutcome/.test(line))).toEqual([]);
  });
});

describeStores('The lookup of an attempt that another attempt has replaced', (harnesses) => {
  test('does not mark the journal as incomplete (fence) when it ends', async () => {
    const harness = await harnesses.start();
    await lower(harness);
    const key = newKey();
    await loseResponse(harness, 'payment', key);
    const held = harness.service.hold();
    await until(() => {
      harness.clock.advance(1000);
      return Promise.race([
        held.arrived,
        new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined))),
      ]);
    });
    // As if another instance had recorded that the create was not sent.
    await harness.store.rows("UPDATE stored_attempts SET state = 'n', settled_at = 1 WHERE state = 'u'");
    expect(await harness.create('payment', key)).toMatchObject(CREATED);
    held.release();
    await harness.close();
    const [state] = await harness.store.rows('SELECT fence_since FROM journal_state');
    expect(Number(state?.['fence_since'])).toBe(0);
  });
});

describeStores('A gateway that starts right after the fence was raised', (harnesses) => {
  test('sends no create for two seconds, even if the clock of its machine is minutes ahead', async () => {
    const { service, store } = await harnesses.start();
    await store.rows(`UPDATE journal_state SET fence_since = ${Date.now()}, fence_reason = 'failover'`);
    const clock = new AdvancingClock({ ...systemClock, now: () => Date.now() + 300_000 });
    const started = await harnesses.start({ service, clock, journalClock: systemClock });
    expect(await started.create('payment', newKey())).toMatchObject(UNAVAILABLE);
    clock.advance(SETTLED_MS);
    expect(await started.create('payment', newKey())).toMatchObject(CREATED);
  });
});
