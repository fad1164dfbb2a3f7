import { clientKeysFile } from '../support/credentials';
import { testGateway, testSandbox, type TestClient } from '../support/gateway';
import { DOCUMENTS, unused, validCall, type Json, type MoneyResult } from '../gateway/fixtures/calls';
import { Issuer, newKey, tokenBy, type SigningKey } from './support/issuer';
import { OURS, bearer, clientOf, keyOf } from './support/rig';

const ATTEMPTS = `query Q($c: UUID!, $after: String) { attempts(channel: $c, first: 100, after: $after) {
  edges { cursor node { idempotencyKey } } } }`;

let client: TestClient;
let signing: SigningKey;

/** Whoever calls here may act on the same channel. */
const who: Record<string, () => Promise<{ authorization: string }>> = {
  shop: async () => bearer(keyOf('shop')),
  kiosk: async () => bearer(keyOf('kiosk')),
  'the frontend of shop': async () => bearer(await tokenBy(signing, { claims: { sub: 'shop' } })),
  'the frontend of service:shop': async () =>
    bearer(await tokenBy(signing, { claims: { sub: 'service:shop' } })),
  'another frontend': async () => bearer(await tokenBy(signing, { claims: { sub: 'kiosk' } })),
};

beforeAll(async () => {
  signing = await newKey('ES256');
  const issuer = await Issuer.start(signing);
  const { url } = await testSandbox();
  client = await testGateway(url, {
    env: {
      ...issuer.settings,
      CLIENT_KEYS_FILE: clientKeysFile(...['shop', 'kiosk'].map((id) => clientOf(id, { channels: [OURS] })), {
        ...clientOf('shop', { channels: [OURS] }),
        key: keyOf('shop-next'),
      }),
    },
  });
});

async function create(name: string, input: Json): Promise<MoneyResult> {
  const { data } = await client.ask<{ createPayment: MoneyResult }>(
    DOCUMENTS.createPayment,
    { input },
    await who[name]!(),
  );
  return data.createPayment;
}

const payment = (more: Json = {}): Json => ({
  ...validCall('createPayment', 'upi').input,
  channel: OURS,
  ...more,
});

async function keysOf(headers: { authorization: string }, after?: string): Promise<string[]> {
  type Page = { attempts: { edges: { cursor: string; node: { idempotencyKey: string } }[] } };
  const { data } = await client.ask<Page>(ATTEMPTS, { c: OURS, after }, headers);
  return data.attempts.edges.map(({ node }) => node.idempotencyKey);
}

test('The same idempotency key of several clients makes a payment for each, and again none', async () => {
  const { idempotencyKey } = unused();
  const made = new Map<string, string | undefined>();
  for (const name of Object.keys(who)) {
    const result = await create(name, payment({ idempotencyKey }));
    expect(result).toMatchObject({ __typename: 'PaymentSuccess', replayed: false });
    made.set(name, result.payment?.transactionId);
  }
  expect(new Set(made.values()).size).toBe(made.size);
});

test('The same call again is the same payment for its client, and another one for another', async () => {
  const input = payment({ externalId: undefined });
  const once = await create('shop', input);
  const again = await create('shop', input);
  const other = await create('kiosk', input);
  expect(again).toMatchObject({ replayed: true, payment: { transactionId: once.payment?.transactionId } });
  expect(other).toMatchObject({ __typename: 'PaymentSuccess', replayed: false });
  expect(other.payment?.transactionId).not.toBe(once.payment?.transactionId);
});

test('What one client did with a key is no conflict for another', async () => {
  const { idempotencyKey } = unused();
  await create('shop', payment({ idempotencyKey }));
  const more = { idempotencyKey, amount: { currency: 'INR', value: '99.00' } };
  expect((await create('shop', payment(more))).__typename).toBe('IdempotencyConflictError');
  expect((await create('kiosk', payment(more))).__typename).toBe('PaymentSuccess');
});

test('attempts has the calls of the caller alone, from whichever place it is read on', async () => {
  const keys = new Map<string, string>();
  for (const name of Object.keys(who)) {
    const { idempotencyKey } = unused();
    keys.set(name, idempotencyKey);
    await create(name, payment({ idempotencyKey }));
  }
  // A place behind all that there is.
  const cursor = Buffer.from('attempt:999999999999999:999999999').toString('base64url');
  for (const [name, own] of keys) {
    const headers = await who[name]!();
    const others = [...keys.values()].filter((key) => key !== own);
    for (const seen of [await keysOf(headers), await keysOf(headers, cursor)]) {
      expect(seen).toContain(own);
      for (const other of others) expect(seen).not.toContain(other);
    }
  }
});

test('Two keys of one client are the same client', async () => {
  const { idempotencyKey } = unused();
  await create('shop', payment({ idempotencyKey }));
  expect(await keysOf(bearer(keyOf('shop-next')))).toContain(idempotencyKey);
});

test('Another token for the same subject is the same client', async () => {
  const { idempotencyKey } = unused();
  await create('another frontend', payment({ idempotencyKey }));
  const later = await tokenBy(signing, { claims: { sub: 'kiosk', jti: 'another', scope: 'payments:read' } });
  expect(await keysOf(bearer(later))).toContain(idempotencyKey);
  expect(await keysOf(bearer(keyOf('kiosk')))).not.toContain(idempotencyKey);
});
