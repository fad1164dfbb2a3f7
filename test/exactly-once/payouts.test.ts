import { CHANNEL, type End } from '../support/caller';
import { gate } from '../support/latch';
import { reset, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Rig } from '../support/harness';
import { sent, untilSent } from './support/creates';

const OTHER_CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11';
const TAKEN: End = {
  result: 'InvalidInputError',
  fields: [{ path: ['externalId'], rule: 'unused' }],
};

const DETAILS = `query ($channel: UUID!, $id: UUID, $externalId: String) {
  payout(channel: $channel, transactionId: $id, externalId: $externalId) {
    __typename
    ... on PayoutResource { transactionId externalId method status amount { currency value } }
    ... on ImpsPayout { bankCode accountMask }
    ... on OtherPayout { type }
  }
}`;

const paidElsewhere = ({ service }: Rig, externalId: string, channel = CHANNEL) =>
  service.ledger.create(
    'payout',
    {
      channel,
      external_id: externalId,
      amount: { currency: 'INR', value: '10.00' },
      payout_method: { type: 'imps', bank_code: 'X' },
    },
    service.now(),
  );

describeSqlite('The external id of a payout', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  test('that the service already has is refused with rule `unused`, nothing is sent, and the key stays free', async () => {
    const [key, externalId] = [newKey(), newKey()];
    paidElsewhere(rig, externalId);
    expect(await rig.create('payout', key, { externalId })).toMatchObject(TAKEN);
    expect(sent(rig.service, 'payout', key)).toBe(0);
    expect(await rig.attempt(key)).toBeNull();
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('that the service has on another channel is free', async () => {
    const [key, externalId] = [newKey(), newKey()];
    paidElsewhere(rig, externalId, OTHER_CHANNEL);
    expect(await rig.create('payout', key, { externalId })).toMatchObject({ result: 'PayoutSuccess' });
  });

  test('of a payout in flight or of unknown outcome is refused to another key', async () => {
    const [key, other] = [newKey(), newKey()];
    const hold = gate();
    rig.service.next('create-payout', { acts: false, first: hold.opened, reply: reset });
    const first = rig.create('payout', key);
    await untilSent(rig.service, 'payout', key);
    expect(await rig.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    hold.open();
    expect(await first).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await rig.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    expect(sent(rig.service, 'payout', other)).toBe(0);
  });

  test('of a payout that the service refused is free for another key', async () => {
    const [key, other] = [newKey(), newKey()];
    rig.service.next('create-payout', { acts: false, reply: status(400) });
    expect(await rig.create('payout', key)).toMatchObject({ result: 'RejectedByServiceError' });
    const end = await rig.create('payout', other, { externalId: `order ${key}` });
    expect(end).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('is used by one of 20 concurrent keys', async () => {
    const externalId = newKey();
    const keys = Array.from({ length: 20 }, newKey);
    const ends = await Promise.all(keys.map((key) => rig.create('payout', key, { externalId })));
    expect(rig.service.created(externalId)).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'PayoutSuccess')).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'InvalidInputError')).toHaveLength(19);
  });

  test.each([
    ['answers 503', status(503), 'SERVICE_UNAVAILABLE'],
    ['says nothing', () => undefined, 'SERVICE_TIMEOUT'],
    ['answers 401', status(401), 'SERVICE_AUTH_FAILED'],
  ])('is not used while the preflight lookup fails: the service %s', async (_name, reply, error) => {
    const key = newKey();
    rig.service.plan((endpoint) => (endpoint === 'look-up-payout' ? { acts: false, reply } : undefined));
    const end = await rig.create('payout', key).finally(() => rig.service.plan(() => undefined));
    expect(end).toMatchObject({ error });
    expect(sent(rig.service, 'payout', key)).toBe(0);
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('is not looked up again in a replay', async () => {
    const key = newKey();
    await rig.create('payout', key);
    const { length } = rig.service.requestsTo('look-up-payout');
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    const asked = rig.service.requestsTo('look-up-payout').slice(length);
    expect(asked.filter(({ parameters }) => !parameters.has('transaction_id'))).toEqual([]);
  });
});

describeSqlite('With PAYOUT_PREFLIGHT=off', (rigs) => {
  test('a payout is one request to the service, and the same key still creates once', async () => {
    const rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
    expect(await rig.create('payout', newKey())).toMatchObject({ result: 'PayoutSuccess', replayed: false });
    expect(rig.service.requests.map(({ endpoint }) => endpoint)).toEqual(['create-payout']);
    const key = newKey();
    rig.service.next('create-payout', { acts: true, reply: reset });
    for (let times = 0; times < 2; times += 1)
      expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    expect(rig.service.created(key)).toHaveLength(1);
  });
});

describeSqlite('A payout that is looked up', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  test('shows its method and masked details from the journal, after a lost response and through another gateway', async () => {
    const other = await rigs.start({ service: rig.service, clock: rig.clock });
    const key = newKey();
    rig.service.next('create-payout', { acts: true, reply: reset });
    const { transactionId: id } = await rig.create('payout', key);
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
    for (const asked of [{ id }, { externalId: `order ${key}` }]) {
      for (const gateway of [rig, other])
        expect(await gateway.ask(DETAILS, { channel: CHANNEL, ...asked })).toEqual({ data: { payout } });
    }
  });

  test('is of an unknown method if it is not in the journal', async () => {
    const { transactionId: id } = paidElsewhere(rig, newKey());
    const { data } = await rig.ask(DETAILS, { channel: CHANNEL, id });
    expect(data).toMatchObject({ payout: { __typename: 'OtherPayout', type: null, amount: null } });
  });
});
