import { describeStores, newKey } from '../exactly-once/support/rig';
import { ARMS, make, validCall, withValue, type MoneyCall } from '../gateway/fixtures/calls';
import { newRig } from '../gateway/fixtures/rig';
import { expectSigned } from '../gateway/fixtures/strict-service';
import { addressOf } from './support/called-back';

const CREATES = [
  ['payment', 'createPayment', 'upi'],
  ['payout', 'createPayout', 'imps'],
] as const;

const OWN = 'https://shop.example/hooks/1?from=service&order=%C3%A9';

const withOwn = ({ mutation, input }: MoneyCall, callbackUrl: string | null): MoneyCall => ({
  mutation,
  input: withValue(input, ['callbackUrl'], callbackUrl),
});

describe.each(CREATES)('A %s that names no callbackUrl', (_kind, mutation, arm) => {
  test.each([
    ['https://gateway.example', 'https://gateway.example'],
    ['https://gateway.example/', 'https://gateway.example'],
    ['https://gateway.example:8443', 'https://gateway.example:8443'],
    ['https://gateway.example/money/in', 'https://gateway.example/money/in'],
    ['https://gateway.example/money/in/', 'https://gateway.example/money/in'],
    ['HTTPS://Gateway.Example/Money/', 'https://gateway.example/Money'],
    ['http://127.0.0.1:4000', 'http://127.0.0.1:4000'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['http://[::1]:4000/', 'http://[::1]:4000'],
  ])('names an address below PUBLIC_URL %s, in the body that is signed', async (publicUrl, base) => {
    const { client, service } = await newRig({ PUBLIC_URL: publicUrl });
    const { result } = await make(client, validCall(mutation, arm));
    expect(result?.__typename).toMatch(/Success$/);
    const [sent] = service.seen;
    expect(service.seen).toHaveLength(1);
    const address = String(sent?.json['callback_url']);
    expect(address.slice(0, base.length)).toBe(base);
    expect(address.slice(base.length)).toMatch(/^\/callbacks\/[\w-]{43}$/);
    expect(sent?.body.split('callback_url')).toHaveLength(2);
    expectSigned(sent!);
  });

  test('names another address each time, also where it says null, and whatever hosts callers may name', async () => {
    const { client, service } = await newRig({
      PUBLIC_URL: 'https://gateway.example',
      ALLOWED_URL_HOSTS: 'shop.example',
    });
    for (let times = 0; times < 3; times += 1) await make(client, validCall(mutation, arm));
    await make(client, withOwn(validCall(mutation, arm), null));
    const addresses = service.seen.map(({ json }) => json['callback_url']);
    expect(addresses).toHaveLength(4);
    expect(new Set(addresses).size).toBe(4);
    for (const address of addresses) expect(address).toMatch(/^https:\/\/gateway\.example\/callbacks\//);
  });

  test('names none where PUBLIC_URL is not set', async () => {
    const { client, service } = await newRig();
    await make(client, validCall(mutation, arm));
    expect(service.seen).toHaveLength(1);
    expect(service.seen[0]?.json).not.toHaveProperty('callback_url');
  });

  test.each<Record<string, string>>([{ PUBLIC_URL: 'https://gateway.example/pay' }, {}])(
    'and one that names its own keeps it as it is written: with %j',
    async (env) => {
      const { client, service } = await newRig(env);
      await make(client, withOwn(validCall(mutation, arm), OWN));
      const [sent] = service.seen;
      expect(sent?.json['callback_url']).toBe(OWN);
      expect(JSON.stringify(sent)).not.toMatch(/gateway\.example|callbacks/);
      expectSigned(sent!);
    },
  );
});

test('The address is named whatever the method', async () => {
  const { client, service } = await newRig({ PUBLIC_URL: 'https://gateway.example' });
  for (const mutation of ['createPayment', 'createPayout'] as const)
    for (const arm of ARMS[mutation]) await make(client, validCall(mutation, arm));
  const addresses = service.seen.map(({ json }) => json['callback_url']);
  expect(addresses).toHaveLength(ARMS.createPayment.length + ARMS.createPayout.length);
  for (const address of addresses)
    expect(address).toMatch(/^https:\/\/gateway\.example\/callbacks\/[\w-]{43}$/);
});

test('A confirm names none: the service was told with the create', async () => {
  const { client, service } = await newRig({ PUBLIC_URL: 'https://gateway.example' });
  await make(client, validCall('confirmPayment', 'upi'));
  const confirms = service.seen.filter(({ method }) => method === 'POST');
  expect(confirms).toHaveLength(1);
  expect(JSON.stringify(confirms)).not.toContain('gateway.example');
});

describeStores('A retry by the same key', (rigs) => {
  const SET = { PUBLIC_URL: 'https://gateway.example' };
  const OTHER = { PUBLIC_URL: 'https://other.example/pay' };

  test.each([
    ['before PUBLIC_URL was set', {}, SET],
    ['before PUBLIC_URL was changed', SET, OTHER],
    ['before PUBLIC_URL was taken away', SET, {}],
    ['with the same PUBLIC_URL', SET, SET],
  ])('replays a create that was made %s', async (_when, before, after) => {
    const first = await rigs.start({ env: before });
    const second = await rigs.start({ env: after, service: first.service, clock: first.clock });
    for (const kind of ['payment', 'payout'] as const) {
      const key = newKey();
      const { transactionId } = await first.create(kind, key);
      for (const rig of [second, first])
        expect(await rig.create(kind, key)).toMatchObject({ replayed: true, transactionId });
      expect(first.service.created(key)).toHaveLength(1);
      expect(addressOf(first, key)).toMatch('PUBLIC_URL' in before ? /^https:\/\/gateway\.ex/ : 'undefined');
    }
  });

  test('with a callbackUrl that the first did not name is a conflict, as it is without PUBLIC_URL', async () => {
    for (const env of [SET, {}]) {
      const rig = await rigs.start({ env });
      const key = newKey();
      await rig.create('payment', key);
      const again = await rig.create('payment', key, { callbackUrl: OWN });
      expect(again.result).toMatch(/Conflict|Idempotency/);
      expect(rig.service.created(key)).toHaveLength(1);
    }
  });
});
