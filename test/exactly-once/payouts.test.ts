import { reset, status } from './service/faults';
import { CHANNEL, type End } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const OTHER_CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11';
const TAKEN: End = {
  result: 'InvalidInputError',
  fields: [{ path: ['externalId'], rule: expect.any(String) as unknown as string }],
};

const DETAILS = `query ($channel: UUID!, $id: UUID, $externalId: String) {
  payout(channel: $channel, transactionId: $id, externalId: $externalId) {
    __typename
    ... on PayoutResource { transactionId externalId method status amount { currency value } }
    ... on ImpsPayout { bankCode accountMask }
    ... on OtherPayout { type }
  }
}`;

/** Puts a payout into the service behind the gateway's back. */
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

describeStores('The external id of a payout', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  const sent = (key: string): number =>
    rig.service.asked('create-payout').filter(({ json }) => json['description'] === key).length;

  test('that the service has already is refused, nothing is sent, and the key stays free', async () => {
    const [key, externalId] = [newKey(), newKey()];
    paidElsewhere(rig, externalId);
    expect(await rig.create('payout', key, { externalId })).toMatchObject(TAKEN);
    expect(sent(key)).toBe(0);
    expect(await rig.attempt(key)).toBeNull();
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('that the service has on another channel is free', async () => {
    const [key, externalId] = [newKey(), newKey()];
    paidElsewhere(rig, externalId, OTHER_CHANNEL);
    expect(await rig.create('payout', key, { externalId })).toMatchObject({ result: 'PayoutSuccess' });
  });

  test('of a payout under way is refused to another key', async () => {
    const [key, other] = [newKey(), newKey()];
    const hold = gate();
    rig.service.next('create-payout', { acts: true, first: hold.opened });
    const first = rig.create('payout', key);
    await until(
      () => sent(key),
      (count) => count === 1,
    );
    expect(await rig.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    hold.open();
    expect(await first).toMatchObject({ result: 'PayoutSuccess' });
    expect(sent(other)).toBe(0);
  });

  test('of a payout whose outcome is unknown is refused to another key', async () => {
    const [key, other] = [newKey(), newKey()];
    rig.service.next('create-payout', { acts: false, reply: reset });
    expect(await rig.create('payout', key)).toMatchObject({ result: 'OutcomeUnknownError' });
    expect(await rig.create('payout', other, { externalId: `order ${key}` })).toMatchObject(TAKEN);
    expect(sent(other)).toBe(0);
  });

  test('of a payout that the service refused is free for another key', async () => {
    const [key, other] = [newKey(), newKey()];
    rig.service.next('create-payout', { acts: false, reply: status(400) });
    expect(await rig.create('payout', key)).toMatchObject({ result: 'RejectedByServiceError' });
    const end = await rig.create('payout', other, { externalId: `order ${key}` });
    expect(end).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('is taken by one of many keys that use it at the same time', async () => {
    const externalId = newKey();
    const keys = Array.from({ length: 30 }, newKey);
    const ends = await Promise.all(keys.map((key) => rig.create('payout', key, { externalId })));
    expect(rig.service.created(externalId)).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'PayoutSuccess')).toHaveLength(1);
    expect(ends.filter(({ result }) => result === 'InvalidInputError')).toHaveLength(29);
  });

  test.each([
    ['answers 503', status(503), 'SERVICE_UNAVAILABLE'],
    ['resets the connection', reset, 'SERVICE_UNAVAILABLE'],
    ['says nothing', () => undefined, 'SERVICE_TIMEOUT'],
    ['answers 401', status(401), 'SERVICE_AUTH_FAILED'],
  ])('is not used while it cannot be looked up: the service %s', async (_name, reply, error) => {
    const key = newKey();
    rig.service.plan((purpose) => (purpose === 'look-up-payout' ? { acts: false, reply } : undefined));
    const end = await rig.create('payout', key).finally(() => rig.service.plan(() => undefined));
    expect(end).toMatchObject({ error });
    expect(sent(key)).toBe(0);
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test('is not looked up again for a key that has its payout', async () => {
    const key = newKey();
    await rig.create('payout', key);
    const { length } = rig.service.asked('look-up-payout');
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    const asked = rig.service.asked('look-up-payout').slice(length);
    expect(asked.filter(({ query }) => !query.has('transaction_id'))).toEqual([]);
  });
});

describeStores('With PAYOUT_PREFLIGHT=off', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
  });

  test('a payout is one call to the service', async () => {
    const key = newKey();
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
    expect(rig.service.seen.map(({ purpose }) => purpose)).toEqual(['create-payout']);
  });

  test('the same key still creates once', async () => {
    const key = newKey();
    rig.service.next('create-payout', { acts: true, reply: reset });
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: true });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('200 calls with one key at the same time create once', async () => {
    const key = newKey();
    const ends = await Promise.all(Array.from({ length: 200 }, () => rig.create('payout', key)));
    expect(rig.service.created(key)).toHaveLength(1);
    expect(ends.filter(({ result, error }) => error || !/Success|InProgress/.test(result ?? ''))).toEqual([]);
  });
});

describeStores('A payout that is looked up', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  test('has its method and its details from the journal, masked', async () => {
    const key = newKey();
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
      expect(await rig.ask(DETAILS, { channel: CHANNEL, ...asked })).toEqual({ data: { payout } });
    }
  });

  test('has them also after its create was found again', async () => {
    const key = newKey();
    rig.service.next('create-payout', { acts: true, reply: reset });
    const { transactionId: id } = await rig.create('payout', key);
    const { data } = await rig.ask(DETAILS, { channel: CHANNEL, id });
    expect(data).toMatchObject({ payout: { __typename: 'ImpsPayout', bankCode: 'BANK01' } });
  });

  test('is of an unknown method where this gateway did not create it', async () => {
    const { transactionId: id } = paidElsewhere(rig, newKey());
    const { data } = await rig.ask(DETAILS, { channel: CHANNEL, id });
    expect(data).toMatchObject({ payout: { __typename: 'OtherPayout', type: null, amount: null } });
  });
});
