import { EventStream } from '../subscriptions/support/event-stream';
import { CHANNEL, type CallResult } from '../support/caller';
import { latch } from '../support/latch';
import { reset, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { failing, sent, untilSent } from './support/creates';

const CREATED: CallResult = { result: 'PayoutSuccess', replayed: false };
const TAKEN: CallResult = { result: 'InvalidInputError', fields: [{ path: ['externalId'], rule: 'unused' }] };

const DETAILS = `query ($channel: UUID!, $id: UUID, $externalId: String) {
  payout(channel: $channel, transactionId: $id, externalId: $externalId) {
    __typename
    ... on PayoutResource { transactionId externalId method status amount { currency value } }
    ... on ImpsPayout { bankCode accountMask }
    ... on OtherPayout { type }
  }
}`;

const paidElsewhere = ({ service }: Harness, externalId: string) =>
  service.ledger.create(
    'payout',
    {
      channel: CHANNEL,
      external_id: externalId,
      amount: { currency: 'INR', value: '10.00' },
      payout_method: { type: 'imps', bank_code: 'X' },
    },
    service.now(),
  );

describeSqlite('The external id of a payout', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
  });

  test('is refused, without a create request, if the service already has a payout with it', async () => {
    const [key, externalId] = [newKey(), newKey()];
    paidElsewhere(harness, externalId);
    expect(await harness.create('payout', key, { externalId })).toMatchObject(TAKEN);
    expect(sent(harness.service, 'payout', key)).toBe(0);
    expect(await harness.attempt(key)).toBeNull();
    expect(await harness.create('payout', key)).toMatchObject(CREATED);
  });

  test('cannot be used with another key while the payout is in flight or its outcome is unknown', async () => {
    const [key, other] = [newKey(), newKey()];
    const hold = latch();
    harness.service.next('create-payout', { acts: false, first: hold.opened, reply: reset });
    const first = harness.create('payout', key);
    await untilSent(harness.service, 'payout', key);
    expect(await harness.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    hold.open();
    expect(await first).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await harness.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    expect(sent(harness.service, 'payout', other)).toBe(0);
  });

  test('is used by only one of 20 concurrent creates with different keys', async () => {
    const externalId = newKey();
    const keys = Array.from({ length: 20 }, newKey);
    const ends = await Promise.all(keys.map((key) => harness.create('payout', key, { externalId })));
    expect(harness.service.created(externalId)).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'PayoutSuccess')).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'InvalidInputError')).toHaveLength(19);
  });

  test.each([
    ['responds with 503', status(503), 'SERVICE_UNAVAILABLE'],
    ['does not respond', () => undefined, 'SERVICE_TIMEOUT'],
    ['responds with 401', status(401), 'SERVICE_AUTH_FAILED'],
  ])(
    'is looked up before the create, which is not sent if the lookup fails: the service %s',
    async (_name, reply, error) => {
      const key = newKey();
      const other = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: '1000' } });
      other.service.plan(failing('look-up-payout', reply));
      expect(await other.create('payout', key)).toMatchObject({ error });
      expect(sent(other.service, 'payout', key)).toBe(0);
      other.service.plan(() => ({ acts: true }));
      expect(await other.create('payout', key)).toMatchObject(CREATED);
    },
  );
});

describeSqlite('A gateway with PAYOUT_PREFLIGHT=off', (harnesses) => {
  test('leaves the outcome of two payouts with the same external id unknown, as a lookup cannot tell them apart', async () => {
    const harness = await harnesses.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    const { service } = harness;
    const externalId = newKey();
    const unknown = { result: 'OutcomeUnknownError' };
    service.next('create-payout', { acts: true, reply: reset });
    service.ledger.lag = { ms: 0, lookups: 1_000_000 };
    expect(await harness.create('payout', newKey(), { externalId })).toMatchObject(unknown);
    service.ledger.entries.at(-1)!.hiddenLookups = 0;
    service.next('create-payout', { acts: false, reply: reset });
    const amount = { currency: 'INR', value: '11.00' };
    expect(await harness.create('payout', newKey(), { externalId, amount })).toMatchObject(unknown);
  });

  test('does not show the subscribers of a payout the details of another payout with the same external id', async () => {
    const harness = await harnesses.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    const externalId = newKey();
    const { transactionId } = await harness.create('payout', newKey(), { externalId });
    const query = `subscription { payoutUpdated(channel: "${CHANNEL}", transactionId: "${transactionId}") {
      ... on PayoutResource { status amount { value } } } }`;
    const stream = await EventStream.open(`${harness.url}/stream`, { query });
    const update = (status: string) => ({ data: { payoutUpdated: { status, amount: { value: '10.00' } } } });
    expect(await stream.next()).toMatchObject({ data: update('PROCESSING') });
    harness.service.next('create-payout', { acts: false, reply: reset });
    const amount = { currency: 'INR', value: '11.00' };
    await harness.create('payout', newKey(), { externalId, amount });
    harness.service.ledger.byId('payout', transactionId!)!.status = 'completed';
    harness.clock.advance(5000);
    expect(await stream.next()).toMatchObject({ data: update('COMPLETED') });
    expect(await stream.next()).toEqual({ event: 'complete' });
  });

  test('creates a payout with a single request to the service', async () => {
    const harness = await harnesses.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    expect(await harness.create('payout', newKey())).toMatchObject(CREATED);
    expect(harness.service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-payout']);
  });
});

describeSqlite('A payout that is looked up', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start();
  });

  test('has its method and masked details from the journal, also after a lost response and on another gateway', async () => {
    const other = await harnesses.start({ service: harness.service, clock: harness.clock });
    const key = newKey();
    harness.service.next('create-payout', { acts: true, reply: reset });
    const { transactionId: id } = await harness.create('payout', key);
    const payout = {
      __typename: 'ImpsPayout',
      transactionId: id,
      externalId: `order ${key}`,
      method: 'IMPS',
      status: 'PROCESSING',
      amount: { currency: 'INR', value: '10.00' },
      bankCode: 'BANK01',
      accountMask: '****6789',
    };
    for (const request of [{ id }, { externalId: `order ${key}` }])
      for (const gateway of [harness, other]) {
        const found = await gateway.request(DETAILS, { channel: CHANNEL, ...request });
        expect(found).toEqual({ data: { payout } });
      }
  });

  test('has an unknown method if it is not in the journal', async () => {
    const { transactionId: id } = paidElsewhere(harness, newKey());
    const { data } = await harness.request(DETAILS, { channel: CHANNEL, id });
    expect(data).toMatchObject({ payout: { __typename: 'OtherPayout', type: null, amount: null } });
  });
});
