import { openJournal } from '../../src/datasources/journal/create-journal';
import { cardNumberSpellings } from '../gateway/fixtures/spellings';
import { CHANNEL, createInput, untilAccepted, type CallResult } from '../support/caller';
import { latch, until } from '../support/latch';
import { OUTAGES, type Outage } from '../support/outage';
import type { FaultReply } from '../support/payment-service/fake-payment-service';
import { reset, status } from '../support/payment-service/faults';
import { describeSqlite, describeStores, newKey, type Harness } from '../support/harness';
import { openStore } from '../support/stores';
import {
  DAY,
  KINDS,
  MINUTE,
  SECOND,
  SUCCESS,
  failing,
  replacing,
  untilCreated,
  untilOutcome,
  untilSent,
} from './support/creates';

/** Time limit of a refusal, with allowance for a busy machine. */
const SOON_MS = 10_000;
/** Time limit of a journal call, longer than in production, so that a busy machine causes no refusals. */
const TIME_LIMIT_MS = 2_000;

async function timed(call: Promise<CallResult>): Promise<CallResult & { ms: number }> {
  const startedAt = performance.now();
  return { ...(await call), ms: performance.now() - startedAt };
}

describeStores('An unreachable journal', (harnesses) => {
  describe.each(Object.entries(OUTAGES[harnesses.kind]))('(%s)', (_name, prepare) => {
    const logLines: string[] = [];
    let harness: Harness;
    let outage: Outage;

    beforeAll(async () => {
      const store = await openStore(harnesses.kind);
      harnesses.closeAtEnd(() => store.drop());
      outage = await prepare(store);
      harnesses.closeAtEnd(() => outage.close());
      harness = await start();
    });

    // Opens connections, so that the creates of a test do not wait for them.
    beforeEach(() =>
      Promise.all(Array.from({ length: 4 }, () => untilCreated(harness, 'payment', newKey()))),
    );

    afterEach(() => outage.up());

    /** Starts a gateway, with the service and the clock of another one if given. */
    const start = (shared?: Harness): Promise<Harness> =>
      harnesses.start({
        store: outage.store,
        open: (url) => openJournal(url, TIME_LIMIT_MS),
        // Longer than it takes to cause an outage.
        env: { SERVICE_TIMEOUT_MS: '30000' },
        logLines,
        ...(shared && { service: shared.service, clock: shared.clock }),
      });

    const expectRefused = ({ ms, ...end }: CallResult & { ms: number }): void => {
      expect(end).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(ms).toBeLessThan(SOON_MS);
    };

    test('makes the gateway refuse creates and confirms within seconds, without a request to the service, while lookups still work', async () => {
      const ids = { payment: '', payout: '' };
      for (const kind of KINDS) ids[kind] = (await untilCreated(harness, kind, newKey())).transactionId ?? '';
      const refused = { payment: newKey(), payout: newKey() };
      const requests = ['create-payment', 'create-payout', 'confirm'] as const;
      const counts = (): number[] => requests.map((endpoint) => harness.service.requestsTo(endpoint).length);
      const before = counts();
      await outage.down();

      // A SQLite file that is locked cannot be opened.
      const early = harnesses.kind === 'SQLite' ? harness : await start(harness);
      const calls = [
        early.create('payment', newKey()),
        ...KINDS.flatMap((kind) => [1, 2].map(() => harness.create(kind, refused[kind]))),
        ...Array.from({ length: 30 }, () => harness.create('payment', newKey())),
        harness.confirm(ids.payment),
      ];
      (await Promise.all(calls.map(timed))).forEach(expectRefused);
      expectRefused(await timed(harness.create('payment', refused.payment)));
      expect(counts()).toEqual(before);
      const lookUp = `query ($channel: UUID!, $payment: UUID!, $payout: UUID!) {
        payment(channel: $channel, transactionId: $payment) { ... on PaymentResource { transactionId } }
        payout(channel: $channel, transactionId: $payout) { ... on PayoutResource { transactionId } } }`;
      const { data } = await harness.request(lookUp, { channel: CHANNEL, ...ids });
      const [payment, payout] = KINDS.map((kind) => ({ transactionId: ids[kind] }));
      expect(data).toEqual({ payment, payout });

      await outage.up();
      for (const kind of KINDS) {
        const end = await untilAccepted(() => early.create(kind, refused[kind]));
        expect(end).toMatchObject({ result: SUCCESS[kind], replayed: false });
        expect(harness.service.created(refused[kind])).toHaveLength(1);
      }
      expect(await untilAccepted(() => harness.confirm(ids.payment))).toMatchObject({
        result: 'PaymentSuccess',
      });
      expect(harness.service.requestsTo('confirm')).toHaveLength(1);
    });

    test('does not stop a create in flight, which is replayed afterwards even if its response was lost', async () => {
      const hold = latch();
      const creates = KINDS.flatMap((kind) =>
        [undefined, reset].map((reply) => ({ kind, key: newKey(), reply })),
      );
      const calls: Promise<CallResult>[] = [];
      for (const { kind, key, reply } of creates) {
        harness.service.next(`create-${kind}`, { acts: true, first: hold.opened, reply });
        calls.push(harness.create(kind, key));
        await untilSent(harness.service, kind, key);
      }
      await outage.down();
      hold.open();
      const ends = await Promise.all(calls);
      for (const [place, { kind, reply }] of creates.entries())
        if (reply) expect(ends[place]!.result).toMatch(/Success|OutcomeUnknownError/);
        else expect(ends[place]).toMatchObject({ result: SUCCESS[kind], replayed: false });
      await outage.up();
      for (const { kind, key } of creates) {
        const { replayed, transactionId } = await untilCreated(harness, kind, key);
        expect(replayed).toBe(true);
        expect(harness.service.created(key)).toMatchObject([{ transactionId }]);
      }
    });

    test('does not stop a confirm in flight, which is recorded once the journal is back', async () => {
      const { transactionId } = await untilCreated(harness, 'payment', newKey());
      const confirm = (): Promise<CallResult> => harness.confirm(transactionId ?? '');
      const before = harness.service.requestsTo('confirm').length;
      const sent = (): number => harness.service.requestsTo('confirm').length - before;
      const confirmed = (): Promise<unknown[]> => harness.store.rows('SELECT * FROM confirmed');
      const recorded = (await confirmed()).length;
      const hold = latch();
      harness.service.next('confirm', { acts: true, first: hold.opened });
      const first = confirm();
      await until(sent);
      await outage.down();
      hold.open();
      expect(await first).toMatchObject({ result: 'PaymentSuccess', replayed: false });
      await until(() => logLines.some((line) => line.includes('"event":"confirm_not_recorded"')));
      await outage.up();
      await until(confirmed, ({ length }) => length === recorded + 1);
      harness.service.plan(failing('look-up-payment'));
      const again = await confirm().finally(() => harness.service.plan(() => undefined));
      expect(again).toMatchObject({ result: 'PaymentSuccess', replayed: true, status: 'PROCESSING' });
      expect(sent()).toBe(1);
    });
  });
});

describeSqlite('A create that the journal records only after it was refused', (harnesses) => {
  test('is marked as not sent, so that its key can be used again', async () => {
    const late = latch();
    const harness = await harnesses.start({
      wrap: replacing('insertAttempt', (insert) => (attempt) => late.opened.then(() => insert(attempt))),
    });
    const key = newKey();
    expect(await harness.create('payout', key)).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
    late.open();
    // A payout that is not marked as not sent would stay unknown.
    expect(await untilOutcome(harness, key, 'NOT_SENT')).toMatchObject({ payout: null });
    expect(await harness.create('payout', key)).toMatchObject({ replayed: false });
  });
});

describeSqlite('A gateway that stops', (harnesses) => {
  test('records every outcome that it could not record before', async () => {
    let isFailing = true;
    const harness = await harnesses.start({
      wrap: replacing('recordOutcome', (recordOutcome) => async (id, outcome) => {
        if (isFailing) throw new Error('The journal does not respond.');
        return recordOutcome(id, outcome);
      }),
    });
    for (let count = 0; count < 300; count += 50)
      await Promise.all(Array.from({ length: 50 }, () => harness.create('payment', newKey())));
    const outcomes = () =>
      harness.store.rows('SELECT outcome, count(*) AS count FROM attempts GROUP BY outcome');
    expect(await outcomes()).toMatchObject([{ outcome: 'in_progress', count: 300 }]);
    isFailing = false;
    await harness.close();
    expect(await outcomes()).toMatchObject([{ outcome: 'succeeded', count: 300 }]);
  });
});

describeSqlite('The purge of the journal', (harnesses) => {
  test('deletes attempts and confirms older than JOURNAL_RETENTION_DAYS, and is retried within a minute of a failure', async () => {
    let steps = 0;
    const harness = await harnesses.start({
      env: { JOURNAL_RETENTION_DAYS: '30' },
      wrap: replacing('purgeStep', (purgeStep) => async (step) => {
        if ((steps += 1) <= 3) throw new Error('The journal does not respond.');
        return purgeStep(step);
      }),
    });
    const count = async (table: string): Promise<number> =>
      (await harness.store.rows(`SELECT 1 FROM ${table}`)).length;
    const old = newKey();
    await harness.create('payout', old);
    await until(async () => (await harness.attempt(old))?.outcome === 'SUCCEEDED');
    await harness.store.rows("UPDATE stored_attempts SET settled_at = 1 WHERE state = 's'");
    const { transactionId } = await harness.create('payment', newKey());
    await harness.confirm(transactionId ?? '');
    harness.clock.advance(10 * SECOND);
    for (let failures = 1; failures <= 3; failures += 1) {
      await until(() => steps >= failures);
      await new Promise(setImmediate);
      harness.clock.advance(MINUTE);
    }
    await until(async () => (await count('attempts')) === 1);
    expect(await count('reserved_external_ids')).toBe(0);
    harness.clock.advance(20 * DAY);
    const key = newKey();
    await harness.create('payout', key);
    expect(await count('confirmed')).toBe(1);
    harness.clock.advance(11 * DAY);
    await until(async () => {
      harness.clock.advance(60 * MINUTE);
      return (await count('confirmed')) + (await count('attempts')) === 1;
    });
    expect(await harness.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
  });
});

const UTR = '749302847561';
const ACCOUNT = '000987612345';

describeSqlite('The journal and the log', (harnesses) => {
  // gateway/secrets.system.test.ts tests card numbers, security codes and credentials.
  test('contain neither the account number of a payout nor the UTR of a confirmed payment', async () => {
    const logLines: string[] = [];
    const harness = await harnesses.start({ logLines });
    const { method } = createInput('payout', '') as { method: { imps: object } };
    const imps = { ...method.imps, accountNumber: ACCOUNT };
    const replies: (FaultReply | undefined)[] = [undefined, reset, status(400), status(503), status(401)];
    for (const reply of replies) {
      if (reply) harness.service.next('create-payout', { acts: false, reply });
      await harness.create('payout', newKey(), { method: { imps } });
    }
    const confirms = [['PaymentSuccess'], ['OutcomeUnknownError', 'PaymentSuccess'], ['OutcomeUnknownError']];
    for (const results of confirms) {
      const { transactionId } = await harness.create('payment', newKey());
      for (const result of results) {
        if (result === 'OutcomeUnknownError') harness.service.next('confirm', { acts: false, reply: reset });
        expect(await harness.confirm(transactionId ?? '', { upi: { utr: UTR } })).toMatchObject({ result });
      }
    }
    // The hash of an input differs from payment to payment.
    const hashes = await harness.store.rows('SELECT DISTINCT input_hash FROM confirmed');
    expect(hashes).toHaveLength(2);
    const written = `${(await harness.store.bytes()).toString('latin1')}${logLines.join('')}`;
    expect(written).toContain('BANK01');
    for (const secret of [ACCOUNT, UTR])
      expect(cardNumberSpellings(secret).filter(({ standsIn }) => standsIn(written))).toEqual([]);
  });
});
