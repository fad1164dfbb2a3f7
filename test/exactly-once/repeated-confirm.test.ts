import { openJournal } from '../../src/datasources/journal/open';
import { reset, status } from './service/faults';
import type { Fault, Plan } from './service/faulty-service';
import { CHANNEL, type End, type Json } from './support/caller';
import { gate, until } from './support/gate';
import { OUTAGES } from './support/outage';
import { describeStores, newKey, type Rig } from './support/rig';
import { openStore } from './support/stores';

const UTR = '749302847561';
const OTHER_UTR = '318840275593';
const DAY_MS = 24 * 60 * 60 * 1000;

const utr = (value: string): Json => ({ upi: { utr: value } });

/** The lookups of payments fail. */
const lookupsDown: Plan = (purpose) =>
  purpose === 'look-up-payment' ? { acts: false, reply: status(503) } : undefined;

describeStores('A repeated confirm', (rigs) => {
  let rig: Rig;
  let id: string;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  beforeEach(async () => {
    const { transactionId } = await rig.create('payment', newKey());
    id = transactionId ?? '';
  });

  afterEach(() => {
    rig.service.plan(() => undefined);
    rig.service.ledger.acceptsRepeats = false;
  });

  const sent = (): number => rig.service.asked('confirm').filter(({ json }) => json['id'] === id).length;
  const done = (): number | undefined => rig.service.ledger.byId('payment', id)?.confirms;
  const success = (replayed: boolean): End => ({ result: 'PaymentSuccess', replayed, transactionId: id });
  const refused = { result: 'RejectedByServiceError', httpStatus: 400 };
  const first = (): Promise<End> => rig.confirm(id, utr(UTR));
  const lost: Fault = { acts: true, reply: reset };

  /** A confirm that is carried out, and of which the gateway does not learn. */
  const unknownFirst = async (): Promise<void> => {
    rig.service.plan(lookupsDown);
    rig.service.next('confirm', lost);
    expect(await first()).toMatchObject({ result: 'OutcomeUnknownError' });
    rig.service.plan(() => undefined);
  };

  describe('with the same input', () => {
    test('answers the current state and sends nothing', async () => {
      expect(await first()).toMatchObject(success(false));
      rig.service.ledger.byId('payment', id)!.status = 'completed';
      expect(await first()).toMatchObject({ ...success(true), status: 'COMPLETED' });
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('makes one lookup', async () => {
      await first();
      const lookups = rig.service.asked('look-up-payment').length;
      await first();
      expect(rig.service.asked('look-up-payment')).toHaveLength(lookups + 1);
    });

    test('answers the last known state if the lookup fails', async () => {
      await first();
      rig.service.plan(lookupsDown);
      expect(await first()).toMatchObject({ ...success(true), status: 'PROCESSING' });
      expect(sent()).toBe(1);
    });

    test('sends nothing through another instance', async () => {
      const other = await rigs.start({ service: rig.service, clock: rig.clock });
      await first();
      expect(await other.confirm(id, utr(UTR))).toMatchObject(success(true));
      expect(sent()).toBe(1);
    });

    test('sends nothing if the service would carry it out again', async () => {
      rig.service.ledger.acceptsRepeats = true;
      await first();
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('sends nothing after the client of the first one has hung up', async () => {
      const hold = gate();
      rig.service.next('confirm', { acts: true, first: hold.opened });
      const leaving = new AbortController();
      const query =
        'mutation ($input: ConfirmPaymentInput!) { done: confirmPayment(input: $input) { __typename } }';
      const input = { channel: CHANNEL, transactionId: id, confirmation: utr(UTR) };
      const left = rig.call(query, input, leaving.signal).catch(() => 'left');
      await until(sent, (count) => count === 1);
      leaving.abort();
      expect(await left).toBe('left');
      expect(await first()).toMatchObject({ result: 'RequestInProgressError' });
      hold.open();
      const end = await until(first, ({ result }) => result !== 'RequestInProgressError');
      expect(end).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('sends nothing after the lost response of the first one was resolved by its own lookup', async () => {
      rig.service.next('confirm', lost);
      expect(await first()).toMatchObject(success(true));
      rig.service.plan(lookupsDown);
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('sends nothing after the lost response of the first one was resolved by a later lookup', async () => {
      await unknownFirst();
      expect(await first()).toMatchObject(success(true));
      rig.service.plan(lookupsDown);
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('sends nothing for a payment by c2c', async () => {
      const c2c = { c2c: { firstName: 'Ann', surname: 'Payer', email: 'ann@example.com' } };
      const amount = { currency: 'KZT', value: '10.00' };
      const created = await rig.create('payment', newKey(), { method: c2c, amount });
      id = created.transactionId ?? '';
      expect(await rig.confirm(id, { c2c: 'TRANSFER_MADE' })).toMatchObject(success(false));
      expect(await rig.confirm(id, { c2c: 'TRANSFER_MADE' })).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('succeeds for each of 30 at the same time', async () => {
      await first();
      const ends = await Promise.all(Array.from({ length: 30 }, first));
      expect(ends).toEqual(Array.from({ length: 30 }, (): unknown => expect.objectContaining(success(true))));
      expect(sent()).toBe(1);
    });
  });

  describe('with another input', () => {
    test('is sent, and its refusal is told', async () => {
      await first();
      expect(await rig.confirm(id, utr(OTHER_UTR))).toMatchObject(refused);
      expect([sent(), done()]).toEqual([2, 1]);
    });

    test('is sent, and both inputs are replayed afterwards, if the service accepts it', async () => {
      rig.service.ledger.acceptsRepeats = true;
      await first();
      expect(await rig.confirm(id, utr(OTHER_UTR))).toMatchObject(success(false));
      for (const value of [UTR, OTHER_UTR])
        expect(await rig.confirm(id, utr(value))).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([2, 2]);
    });

    test('is unknown if its response is lost: that the payment has moved on says nothing about it', async () => {
      await first();
      rig.service.next('confirm', { acts: false, reply: reset });
      for (let times = 0; times < 2; times += 1)
        expect(await rig.confirm(id, utr(OTHER_UTR))).toMatchObject({ result: 'OutcomeUnknownError' });
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([2, 1]);
    });

    test('does not count as accepted when the first one turns out to have been carried out', async () => {
      await unknownFirst();
      expect(await rig.confirm(id, utr(OTHER_UTR))).toMatchObject(refused);
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([2, 1]);
    });

    test('leaves the first one to be looked up, where it was refused itself', async () => {
      rig.service.next('confirm', { acts: false, reply: reset }, { acts: false, reply: status(400) });
      expect(await first()).toMatchObject({ result: 'OutcomeUnknownError' });
      expect(await rig.confirm(id, utr(OTHER_UTR))).toMatchObject(refused);
      rig.service.ledger.confirm({ id });
      expect(await first()).toMatchObject(success(true));
      expect(sent()).toBe(2);
    });
  });

  describe('that the service refuses', () => {
    test('succeeds if the payment was confirmed around the gateway', async () => {
      rig.service.ledger.confirm({ id });
      expect(await first()).toMatchObject(success(true));
      expect([sent(), done()]).toEqual([1, 1]);
    });

    test('is refused if the payment still waits', async () => {
      rig.service.next('confirm', { acts: false, reply: status(400) });
      expect(await first()).toMatchObject(refused);
      expect(await first()).toMatchObject(success(false));
    });

    test.each(['failed', 'mispaid'])('is refused if the payment is %s', async (ended) => {
      Object.assign(rig.service.ledger.byId('payment', id)!, { status: ended, state: null });
      expect(await first()).toMatchObject(refused);
    });

    test('is refused if the payment cannot be looked up', async () => {
      rig.service.ledger.confirm({ id });
      rig.service.plan(lookupsDown);
      expect(await first()).toMatchObject(refused);
    });
  });

  describe('after FINGERPRINT_KEY was changed', () => {
    let changed: Rig;

    beforeAll(async () => {
      const env = { FINGERPRINT_KEY: 'another-key' };
      changed = await rigs.start({ env, service: rig.service, clock: rig.clock });
    });

    test('is looked up, and not sent if the payment has moved on', async () => {
      await first();
      rig.service.plan(lookupsDown);
      expect(await changed.confirm(id, utr(UTR))).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
      rig.service.plan(() => undefined);
      expect(await changed.confirm(id, utr(UTR))).toMatchObject(success(true));
      expect(sent()).toBe(1);
    });

    test('is sent if the payment waits', async () => {
      await first();
      rig.service.ledger.byId('payment', id)!.state = 'waiting_for_utr';
      expect(await changed.confirm(id, utr(UTR))).toMatchObject(success(false));
      expect(sent()).toBe(2);
    });
  });

  test('sends each input at most once in a storm of confirms with retries, and reports no refusal of it', async () => {
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    for (const acceptsRepeats of [false, true]) {
      rig.service.ledger.acceptsRepeats = acceptsRepeats;
      const { refusedRetries, twice } = await storm([rig, other], Number(process.env['CONFIRMS'] ?? 30));
      expect({ refusedRetries, twice }).toEqual({ refusedRetries: 0, twice: 0 });
    }
  });

  test('is recognised after the first one ended while the journal was down', async () => {
    const [prepare] = Object.values(OUTAGES[rigs.kind]);
    const store = await openStore(rigs.kind);
    rigs.closeAtEnd(() => store.drop());
    const outage = await prepare!(store);
    rigs.closeAtEnd(() => outage.close());
    const { service, clock } = rig;
    const open = (url: string) => openJournal(url, 1_500);
    const logLines: string[] = [];
    const cut = await rigs.start({ store: outage.store, service, clock, open, logLines });
    const created = await cut.create('payment', newKey());
    id = created.transactionId ?? '';

    const hold = gate();
    service.next('confirm', { acts: true, first: hold.opened });
    const confirmed = cut.confirm(id, utr(UTR));
    await until(sent, (count) => count === 1);
    await outage.down();
    hold.open();
    expect(await confirmed).toMatchObject(success(false));
    await until(
      () => logLines.join(''),
      (lines) => lines.includes('confirm_not_recorded'),
    );
    await outage.up();
    const recorded = () => store.rows('SELECT * FROM confirmed');
    await until(recorded, (rows) => rows.length === 1);
    service.plan(lookupsDown);
    expect(await cut.confirm(id, utr(UTR))).toMatchObject({ ...success(true), status: 'PROCESSING' });
    expect(sent()).toBe(1);
  });

  test('is recognised for as long as attempts are kept', async () => {
    const short = await rigs.start({
      store: await openStore(rigs.kind),
      env: { JOURNAL_RETENTION_DAYS: '30' },
      service: rig.service,
    });
    rigs.closeAtEnd(() => short.store.drop());
    const created = await short.create('payment', newKey());
    id = created.transactionId ?? '';
    await short.confirm(id, utr(UTR));
    const count = async (): Promise<number> => (await short.store.rows('SELECT 1 FROM confirmed')).length;
    expect(await count()).toBe(1);
    short.clock.advance(31 * DAY_MS);
    await until(count, (rows) => rows === 0);
  });

  test('leaves hashes that differ from payment to payment, and no UTR, in the journal', async () => {
    await first();
    const { transactionId } = await rig.create('payment', newKey());
    await rig.confirm(transactionId ?? '', utr(UTR));
    rig.service.next('confirm', { acts: false, reply: reset });
    const { transactionId: third } = await rig.create('payment', newKey());
    await rig.confirm(third ?? '', utr(UTR));
    const hashes = (await rig.store.rows('SELECT input_hash FROM confirmed')).map((row) => row['input_hash']);
    expect(new Set(hashes).size).toBe(hashes.length);
    expect((await rig.store.bytes()).toString('latin1')).not.toContain(UTR);
  });
});

interface StormResult {
  retries: number;
  /** Retries that were answered with RejectedByServiceError although the payment is confirmed with this very input. */
  refusedRetries: number;
  /** How many inputs the service carried out more than once. */
  twice: number;
  ends: Record<string, number>;
}

/**
 * Confirms payments with their UTRs, each four times: twice at once, of which one client hangs up half of the time, and
 * twice more afterwards; a third of the responses of the service are lost.
 */
async function storm(gateways: readonly Rig[], payments: number): Promise<StormResult> {
  const [rig] = gateways as [Rig];
  const { ledger } = rig.service;
  const before = ledger.confirmBodies.length;
  let calls = 0;
  rig.service.plan((purpose) =>
    purpose === 'confirm' && (calls += 1) % 3 === 0 ? { acts: true, reply: reset } : undefined,
  );
  const result: StormResult = { retries: 0, refusedRetries: 0, twice: 0, ends: {} };
  const pay = async (place: number): Promise<void> => {
    const gateway = (turn: number): Rig => gateways[(place + turn) % gateways.length]!;
    const { transactionId } = await until(
      () => rig.create('payment', newKey()),
      ({ result: name }) => name === 'PaymentSuccess',
    );
    const input = { channel: CHANNEL, transactionId, confirmation: utr(String(100_000_000_000 + place)) };
    const query = `mutation ($input: ConfirmPaymentInput!) {
      done: confirmPayment(input: $input) { __typename ... on PaymentSuccess { replayed } } }`;
    const call = (turn: number, signal?: AbortSignal): Promise<End> =>
      gateway(turn)
        .call(query, input, signal)
        .catch((): End => ({ result: 'left' }));
    const leaving = new AbortController();
    if (place % 2) setImmediate(() => leaving.abort());
    await Promise.all([call(0, leaving.signal), call(1)]);
    for (let turn = 0; turn < 2; turn += 1) {
      const end = await until(
        () => call(turn),
        ({ result: name }) => name !== 'RequestInProgressError',
      );
      result.retries += 1;
      if (end.result === 'RejectedByServiceError') result.refusedRetries += 1;
      const name = `${end.result ?? end.error}${end.replayed ? ' (replayed)' : ''}`;
      result.ends[name] = (result.ends[name] ?? 0) + 1;
    }
  };
  const places = Array.from({ length: payments }, (_, place) => place);
  const next = async (): Promise<void> => {
    for (let place = places.pop(); place !== undefined; place = places.pop()) await pay(place);
  };
  await Promise.all(Array.from({ length: 16 }, next));
  rig.service.plan(() => undefined);
  const carriedOut = ledger.confirmBodies.slice(before).map((body) => JSON.stringify(body));
  result.twice = carriedOut.length - new Set(carriedOut).size;
  if (process.env['CONFIRMS'])
    console.info(`repeats ${ledger.acceptsRepeats ? 'accepted' : 'refused'}`, result);
  return result;
}
