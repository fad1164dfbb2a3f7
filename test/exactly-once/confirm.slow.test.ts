import { CHANNEL, type CallResult, type Json } from '../support/caller';
import { latch, until } from '../support/latch';
import type { Fault, FaultReply } from '../support/payment-service/fake-payment-service';
import { html, reset, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { disconnect, failing, replacing, untilDone } from './support/creates';

const UTR = '749302847561';
const OTHER_UTR = '318840275593';
const CONFIRM = `mutation ($input: ConfirmPaymentInput!) {
  done: confirmPayment(input: $input) { __typename ... on PaymentSuccess { replayed } } }`;

const utr = (value: string): Json => ({ upi: { utr: value } });

const lookupsDown = failing('look-up-payment');

describeSqlite('A confirm', (harnesses) => {
  let harness: Harness;
  let other: Harness;
  let id: string;

  beforeAll(async () => {
    harness = await harnesses.start();
    other = await harnesses.start({ service: harness.service, clock: harness.clock });
  });

  beforeEach(async () => {
    id = (await harness.create('payment', newKey())).transactionId ?? '';
  });

  afterEach(() => {
    harness.service.plan(() => undefined);
    harness.service.ledger.acceptsRepeats = false;
  });

  const sent = (): number =>
    harness.service.requestsTo('confirm').filter(({ json }) => json['id'] === id).length;
  /** Returns how many confirms were sent, and how many the service executed. */
  const sentAndCarriedOut = (): unknown[] => [sent(), harness.service.ledger.byId('payment', id)?.confirms];
  const success = (replayed: boolean) => ({ result: 'PaymentSuccess', replayed, transactionId: id });
  const refused = { result: 'RejectedByServiceError', httpStatus: 400 };
  const unknown: CallResult = { result: 'OutcomeUnknownError', idempotencyKey: null, externalId: null };
  const first = (): Promise<CallResult> => harness.confirm(id, utr(UTR));
  const second = (): Promise<CallResult> => harness.confirm(id, utr(OTHER_UTR));
  const lost: Fault = { acts: true, reply: reset };
  const dropped: Fault = { acts: false, reply: reset };

  test('is sent to the service once and executed once for 40 concurrent calls through two gateways', async () => {
    const ends = await Promise.all(
      Array.from({ length: 40 }, (_, place) => (place % 2 ? harness : other).confirm(id, utr(UTR))),
    );
    expect(sentAndCarriedOut()).toEqual([1, 1]);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(ends.filter(({ error }) => error)).toEqual([]);
  });

  test.each<[string, FaultReply, CallResult]>([
    ['400 in HTML', html(400), refused],
    ['401', status(401), { error: 'SERVICE_AUTH_FAILED' }],
    ['429', status(429, { 'retry-after': '3' }), { error: 'SERVICE_UNAVAILABLE', retryAfterMs: 3000 }],
  ])('can be repeated after the service has responded with %s', async (_name, reply, end) => {
    harness.service.next('confirm', { acts: false, reply });
    expect(await first()).toMatchObject(end);
    expect(await first()).toMatchObject(success(false));
    expect(sentAndCarriedOut()).toEqual([2, 1]);
  });

  test('for a method other than that of the payment is refused and not sent', async () => {
    const fields = [{ path: ['confirmation', 'c2c'] }];
    const end = await harness.confirm(id, { c2c: 'TRANSFER_MADE' });
    expect(end).toMatchObject({ result: 'InvalidInputError', fields });
    expect(sent()).toBe(0);
  });

  test('is sent for a payment that is not in the journal, whatever its method', async () => {
    const method = { type: 'dcb', user_id: 'u' };
    const body = { channel: CHANNEL, external_id: newKey(), payment_method: method };
    id = harness.service.ledger.create('payment', body, harness.service.now()).transactionId;
    expect(await harness.confirm(id, { dcb: { code: '1234' } })).toMatchObject(success(false));
  });

  describe('that follows a confirm of unknown outcome', () => {
    beforeEach(async () => {
      harness.service.next('confirm', dropped);
      expect(await first()).toMatchObject(unknown);
    });

    test('is sent if the payment still waits for a confirm', async () => {
      expect(await first()).toMatchObject(success(false));
      expect(sentAndCarriedOut()).toEqual([2, 1]);
    });

    test.each([
      ['fails', status(503)],
      ['gets a 404 of a proxy', html(404)],
    ])(
      'is not sent while the lookup %s, nor if the payment no longer waits for a confirm',
      async (_how, reply) => {
        harness.service.ledger.confirm({ id });
        harness.service.plan(failing('look-up-payment', reply));
        expect(await first()).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
        harness.service.plan(() => undefined);
        for (const gateway of [other, harness])
          expect(await gateway.confirm(id, utr(UTR))).toMatchObject(success(true));
        expect(sent()).toBe(1);
      },
    );

    test('also has an unknown outcome if it has another input and its response is lost', async () => {
      harness.service.next('confirm', lost);
      expect(await second()).toMatchObject(unknown);
      expect(sentAndCarriedOut()).toEqual([2, 1]);
    });

    test('leaves the outcome of the first confirm unknown if the second has another input and is refused by the service', async () => {
      harness.service.next('confirm', { acts: false, reply: status(400) });
      expect(await second()).toMatchObject(refused);
      harness.service.ledger.confirm({ id });
      expect(await first()).toMatchObject(success(true));
      expect(sent()).toBe(2);
    });
  });

  describe('with the input of a successful confirm', () => {
    test('is not sent, and returns the current state of the payment, or its last known state if the lookup fails', async () => {
      harness.service.ledger.acceptsRepeats = true;
      expect(await first()).toMatchObject(success(false));
      harness.service.plan(lookupsDown);
      expect(await first()).toMatchObject({ ...success(true), status: 'PROCESSING' });
      harness.service.plan(() => undefined);
      harness.service.ledger.byId('payment', id)!.status = 'completed';
      const lookups = harness.service.requestsTo('look-up-payment').length;
      expect(await first()).toMatchObject({ ...success(true), status: 'COMPLETED' });
      expect(harness.service.requestsTo('look-up-payment')).toHaveLength(lookups + 1);
      expect(await other.confirm(id, utr(UTR))).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([1, 1]);
    });

    test('is not sent even if the caller of the first confirm has disconnected', async () => {
      const hold = latch();
      harness.service.next('confirm', { acts: true, first: hold.opened });
      const input = { channel: CHANNEL, transactionId: id, confirmation: utr(UTR) };
      await disconnect((signal) => harness.call(CONFIRM, input, signal), sent);
      const inProgress = { result: 'RequestInProgressError', retryAfterMs: expect.any(Number) as number };
      for (const gateway of [harness, other])
        expect(await gateway.confirm(id, utr(UTR))).toMatchObject(inProgress);
      hold.open();
      expect(await untilDone(first)).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([1, 1]);
    });

    test('is not sent if the response to the first confirm was lost, but a lookup showed its effect', async () => {
      harness.service.next('confirm', lost);
      expect(await first()).toMatchObject(success(true));
      harness.service.plan(lookupsDown);
      expect(await first()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([1, 1]);
    });
  });

  describe('that follows an executed confirm whose response was lost', () => {
    beforeEach(async () => {
      harness.service.plan(lookupsDown);
      harness.service.next('confirm', lost);
      expect(await first()).toMatchObject(unknown);
      harness.service.plan(() => undefined);
    });

    test('is not sent if a lookup shows that the first confirm was executed', async () => {
      expect(await first()).toMatchObject(success(true));
      harness.service.plan(lookupsDown);
      expect(await first()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([1, 1]);
    });

    test('is sent if it has another input, and returns the refusal of the service', async () => {
      expect(await second()).toMatchObject(refused);
      expect(await first()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([2, 1]);
    });
  });

  describe('with an input other than that of a successful confirm', () => {
    beforeEach(first);

    test('is sent, and once it has succeeded both inputs are replayed without a request', async () => {
      harness.service.ledger.acceptsRepeats = true;
      expect(await second()).toMatchObject(success(false));
      for (const again of [first, second]) expect(await again()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([2, 2]);
    });

    test('has an unknown outcome if its response is lost, although the payment no longer waits for a confirm', async () => {
      harness.service.next('confirm', dropped);
      for (let times = 0; times < 2; times += 1) expect(await second()).toMatchObject(unknown);
      expect(await first()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([2, 1]);
    });
  });

  describe('that the service rejects with 400', () => {
    test('succeeds if the payment was already confirmed outside the gateway', async () => {
      harness.service.ledger.confirm({ id });
      expect(await first()).toMatchObject(success(true));
      expect(sentAndCarriedOut()).toEqual([1, 1]);
    });

    test.each([
      ['failed', null],
      ['mispaid', null],
      ['processing', 'a_state_that_the_gateway_does_not_know'],
    ])('returns the rejection if the payment has the status %s and the state %s', async (ended, state) => {
      Object.assign(harness.service.ledger.byId('payment', id)!, { status: ended, state });
      expect(await first()).toMatchObject(refused);
    });

    test('returns the rejection if the payment cannot be looked up', async () => {
      harness.service.ledger.confirm({ id });
      harness.service.plan(lookupsDown);
      expect(await first()).toMatchObject(refused);
    });
  });

  test('is sent again after a change of FINGERPRINT_KEY only if a lookup shows that the payment waits for a confirm', async () => {
    const env = { FINGERPRINT_KEY: 'another-key' };
    const changed = await harnesses.start({ env, service: harness.service, clock: harness.clock });
    await first();
    harness.service.plan(lookupsDown);
    expect(await changed.confirm(id, utr(UTR))).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
    harness.service.plan(() => undefined);
    expect(await changed.confirm(id, utr(UTR))).toMatchObject(success(true));
    expect(sent()).toBe(1);
    id = (await harness.create('payment', newKey())).transactionId ?? '';
    await first();
    harness.service.ledger.byId('payment', id)!.state = 'waiting_for_utr';
    expect(await changed.confirm(id, utr(UTR))).toMatchObject(success(false));
    expect(sent()).toBe(2);
  });
});

describeSqlite('A confirm that the journal recorded late, after the gateway had given it up', (harnesses) => {
  test('does not block later confirms of the payment, even while other calls are in flight', async () => {
    let beginLate: (() => Promise<unknown>) | undefined;
    let isJournalStalled = false;
    let endCount = 0;
    const stalling = replacing('beginConfirm', (begin) => (claim) => {
      if (!isJournalStalled) return begin(claim);
      beginLate = () => begin(claim);
      return Promise.reject(new Error('The commit takes too long.'));
    });
    const counting = replacing('endConfirm', (end) => (confirmId, result) => {
      endCount += 1;
      return end(confirmId, result);
    });
    const harness = await harnesses.start({ wrap: (journal) => stalling(counting(journal)) });
    const { clock, service } = harness;
    const { transactionId } = await harness.create('payment', newKey());
    isJournalStalled = true;
    expect(await harness.confirm(transactionId ?? '')).toMatchObject({ error: 'SERVICE_UNAVAILABLE' });
    isJournalStalled = false;
    // The gateway ends the confirm, which the journal does not show yet.
    await until(() => {
      clock.advance(1000);
      return endCount > 0;
    });
    await beginLate?.();
    const held = service.hold();
    const inFlight = harness.create('payment', newKey());
    await held.arrived;
    const confirmed = await untilDone(() => {
      clock.advance(1000);
      return harness.confirm(transactionId ?? '');
    });
    expect(confirmed).toMatchObject({ result: 'PaymentSuccess' });
    held.release();
    await inFlight;
  });
});
