import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { UnsecuredJWT } from 'jose';
import { THEIRS, bearer, clientOf, keyOf } from '../auth/support/harness';
import { AUTHORIZED, clientKeysFile, clientKeysText } from '../support/credentials';
import { until } from '../support/latch';
import { CHANNEL } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy, type SigningKey } from '../support/issuer';
import { exchange } from '../support/wire';
import {
  NO_POLLING,
  startHarness,
  startHarnessOn,
  lookupQuery,
  subscription,
  type Kind,
  type SubscriptionHarness,
} from './support/harness';
import { upgradeLines } from './support/upgrade';
import { TRANSPORTS, type Watching, firstOf, watchStatus } from './support/subscriptions';
import { WireClient, errorsIn, stablePart, type Closing, type WireError } from './support/wire-client';

const LIFE_S = 300;
const shop = bearer(keyOf('shop'));
const UNAUTHENTICATED = { statuses: ['PENDING'], completed: false, codes: ['UNAUTHENTICATED'] };

let harness: SubscriptionHarness;
let issuer: Issuer;
let [key, stolen]: SigningKey[] = [];

beforeAll(async () => {
  [key, stolen] = await Promise.all([newKey('ES256'), newKey('ES256')]);
  issuer = await Issuer.start(key!);
  harness = await startHarness({
    env: issuer.settings,
    clients: [
      clientOf('shop', {}),
      clientOf('payouts', { scopes: ['payouts:read', 'payments:create', 'payments:confirm'] }),
      clientOf('payments', { scopes: ['payments:read', 'payouts:create'] }),
      clientOf('ours', { channels: [CHANNEL] }),
    ],
  });
});

/** Returns the time of the gateway's clock, plus `more`, in seconds since 1970. */
const seconds = (more = 0): number => Math.floor(harness.clock.now() / 1000) + more;

/** Returns the header with a token that expires after LIFE_S. A claim that is undefined is left out. */
const token = async (claims: object = {}, by = key!): Promise<{ authorization: string }> =>
  bearer(
    await tokenBy(by, {
      claims: { ...goodClaims(harness.clock.now()), channels: [CHANNEL], exp: seconds(LIFE_S), ...claims },
      header: { kid: key!.kid },
    }),
  );

const REFUSED: [string, () => Promise<{ authorization?: string }>][] = [
  ['no credentials', async () => ({})],
  ['an unknown key', async () => bearer('pgk_nobody-nobody-nobody-CANARY')],
  ['a very long key', async () => bearer(`CANARY${'x'.repeat(9000)}`)],
  ['an expired token', () => token({ exp: seconds(-60) })],
  ['a token signed with another key', () => token({}, stolen)],
  ['an unsigned token', async () => bearer(new UnsecuredJWT(goodClaims(harness.clock.now())).encode())],
  ['a token for another audience', () => token({ aud: 'other' })],
];

describe.each(TRANSPORTS)('Over %s', (name, connect) => {
  const [unauthenticated, unavailable] = name === 'WebSocket' ? [4401, 1013] : [401, 503];

  test.each(REFUSED)('a client with %s is refused, and no credentials are logged', async (_what, forged) => {
    const [credentials, id] = [await forged(), harness.addPayment()];
    const watching = await watchStatus(connect(harness, credentials), id);
    expect(watching).toMatchObject({ refusedWith: unauthenticated, data: [] });
    expect(harness.lookups(id)).toBe(0);
    for (const part of (credentials.authorization ?? '').split('.').filter(({ length }) => length > 8))
      expect(harness.logLines.join('')).not.toContain(part);
  });

  test('a token is refused as unavailable while the keys of its issuer cannot be loaded', async () => {
    const down = await Issuer.start(key!);
    await down.down();
    const lone = await startHarnessOn(harness.clock, { env: down.settings });
    const id = lone.addPayment();
    const refused = await watchStatus(connect(lone, await token()), id);
    expect(refused).toMatchObject({ refusedWith: unavailable, data: [] });
    await down.up();
    harness.clock.advance(31_000);
    expect((await watchStatus(connect(lone, await token()), id)).statuses).toEqual(['PENDING']);
  });

  const FORBIDDEN: [string, string, Kind, string][] = [
    ['without the scope for payments', 'payouts', 'payment', CHANNEL],
    ['without the scope for payouts', 'payments', 'payout', CHANNEL],
    ["on another merchant's channel", 'ours', 'payment', THEIRS],
  ];

  test.each(FORBIDDEN)('a client %s gets the same error as for a query', async (_what, id, kind, channel) => {
    const before = harness.service.requests.length;
    const payload = subscription(randomUUID(), kind, channel);
    const client = connect(harness, bearer(keyOf(id)));
    const { errors, data } = await firstOf(client, payload);
    expect(data).toEqual([]);
    const extensions = { code: 'FORBIDDEN', retryable: false };
    expect(errors).toMatchObject([{ path: [`${kind}Updated`], extensions }]);
    const query = await harness.client.request(lookupQuery(kind), payload.variables, bearer(keyOf(id)));
    const known = (faults: readonly unknown[] = []): object[] =>
      faults.map((fault) => ({ ...stablePart(fault as WireError), locations: undefined }));
    expect(known(errors)).toEqual(known(query.errors));
    expect(harness.service.requests.length).toBe(before);
    expect(harness.subscriptionLines().at(-1)).toMatchObject({ results: 0, errors: ['FORBIDDEN'] });
  });

  test('a subscription ends without leeway when its token expires, and causes no polling and uses no quota any more', async () => {
    const lone = await startHarnessOn(harness.clock, {
      env: { ...issuer.settings, MAX_SUBSCRIPTIONS_PER_CLIENT: '1' },
    });
    const id = lone.addPayment();
    const watching = await watchStatus(connect(lone, await token()), id);
    harness.clock.advance((LIFE_S - 2) * 1000);
    await lone.lookUp(randomUUID());
    expect(watching.outcome).toEqual({ statuses: ['PENDING'], completed: false, codes: [] });
    harness.clock.advance(3000);
    await watching.ended();
    expect(watching.outcome).toEqual(UNAUTHENTICATED);
    expect(watching.errors).toMatchObject([{ extensions: { retryable: false } }]);
    await lone.expectNotPolled(id);
    expect((await watchStatus(connect(lone, await token()), id)).statuses).toEqual(['PENDING']);
  });

  test('a change in the second in which a token expires is sent only to clients with other tokens', async () => {
    const still = await startHarnessOn(harness.clock, { env: { ...issuer.settings, ...NO_POLLING } });
    const id = still.addPayment();
    const short = await watchStatus(connect(still, await token()), id);
    const long = await watchStatus(connect(still, await token({ exp: seconds(3600) })), id);
    // The check runs at the end of each second.
    harness.clock.advance(LIFE_S * 1000 - 1);
    harness.clock.advance(1);
    await still.change(id, { status: 'completed' });
    await Promise.all([short.ended(), long.ended()]);
    expect(short.outcome).toEqual(UNAUTHENTICATED);
    expect(long.outcome).toEqual({ statuses: ['PENDING', 'COMPLETED'], completed: true, codes: [] });
  });

  test('an expired token is refused, although queries accept it within the leeway', async () => {
    const credentials = await token({ exp: seconds(-5) });
    const id = harness.addPayment();
    const { variables } = subscription(id);
    expect((await harness.client.request(lookupQuery(), variables, credentials)).errors).toBeUndefined();
    const watching = await watchStatus(connect(harness, credentials), id);
    expect(watching.data).toEqual([]);
    expect([watching.refusedWith, ...watching.codes]).toContain(
      name === 'WebSocket' ? unauthenticated : 'UNAUTHENTICATED',
    );
  });

  test('a subscription ends when the key that signed its token is withdrawn', async () => {
    const next = await newKey('ES256');
    const rotating = await Issuer.start(key!, next);
    const lone = await startHarnessOn(harness.clock, { env: rotating.settings });
    const id = lone.addPayment();
    const watching = await watchStatus(connect(lone, await token({ exp: seconds(600) })), id);
    const claims = { ...goodClaims(harness.clock.now()), channels: [CHANNEL] };
    const byNext = bearer(await tokenBy(next, { claims }));
    const staying = await watchStatus(connect(lone, byNext), id);
    rotating.keys = [next];
    const from = harness.clock.now();
    await harness.advanceUntil(() => watching.errors !== undefined);
    expect(harness.clock.now() - from).toBeLessThanOrEqual(65_000);
    expect(watching.codes).toEqual(['UNAUTHENTICATED']);
    expect(staying.errors).toBeUndefined();
  });
});

describe('When CLIENT_KEYS_FILE changes', () => {
  const ALL = ['revoked', 'renamed', 'fewer scopes', 'other channels', 'unchanged'];
  const of = (id: string) => clientOf(id.replace(' ', '-'), { channels: [CHANNEL] });
  const subscribers = new Map<string, readonly Watching[]>();
  let changed: SubscriptionHarness;
  let wire: WireClient;

  beforeAll(async () => {
    const file = clientKeysFile(...ALL.map(of));
    changed = await startHarness({ env: { CLIENT_KEYS_FILE: file } });
    for (const id of ALL) {
      const clients = TRANSPORTS.map(([, connect]) => connect(changed, bearer(of(id).key)));
      const started = clients.map((client) => watchStatus(client, changed.addPayment()));
      subscribers.set(id, await Promise.all(started));
    }
    wire = await WireClient.ready(changed.url, bearer(of('revoked').key));
    const before = changed.logLines.length;
    writeFileSync(
      file,
      clientKeysText([
        { ...of('renamed'), id: 'new' },
        { ...of('fewer scopes'), scopes: ['payments:read'] },
        { ...of('other channels'), channels: [CHANNEL, THEIRS] },
        of('unchanged'),
      ]),
    );
    await until(() => changed.logLines.slice(before).join('').includes('CLIENT_KEYS_FILE'));
    changed.clock.advance(1000);
  });

  test.each(ALL.slice(0, -1))('subscriptions with a changed key end: %s', async (id) => {
    for (const watching of subscribers.get(id)!) {
      await watching.ended();
      expect(watching.outcome).toEqual(UNAUTHENTICATED);
    }
  });

  test('subscriptions with an unchanged key continue', async () => {
    await changed.lookUp(randomUUID());
    expect(subscribers.get('unchanged')!.map(({ errors }) => errors)).toEqual([undefined, undefined]);
  });

  test.each(TRANSPORTS)('a new subscription over %s has the new rights', async (name, connect) => {
    const [revoked, moved] = [connect(changed, bearer(of('revoked').key)), of('other channels')];
    const { refusedWith } = await watchStatus(revoked, changed.addPayment());
    expect(refusedWith).toBe(name === 'WebSocket' ? 4401 : 401);
    const client = connect(changed, bearer(moved.key));
    const { statuses } = await firstOf(client, subscription(changed.addPayment(), 'payment', THEIRS));
    expect(statuses).toEqual(['PENDING']);
  });

  test('a WebSocket of a revoked key is closed with 4403 by its next subscription', async () => {
    wire.subscribe('a', subscription(changed.addPayment()));
    expect((await wire.closed).code).toBe(4403);
  });
});

describe('A WebSocket', () => {
  /** Sends these credentials. Returns the close event; expects no message before it. */
  async function closing(payload: unknown, headers: Record<string, string> = {}): Promise<Closing> {
    const client = await WireClient.open(harness.url, { headers });
    client.say({ type: 'connection_init', ...(payload !== undefined && { payload }) });
    const closed = await client.closed;
    expect(client.messages).toEqual([]);
    return closed;
  }

  test('is acknowledged for credentials in the payload or, without those, in the request header', async () => {
    await WireClient.ready(harness.url, { other: 1, AUTHORIZATION: shop.authorization, more: { a: [] } });
    for (const payload of [undefined, { authorization: null }])
      await WireClient.ready(harness.url, payload, { headers: shop });
    await WireClient.ready(harness.url, AUTHORIZED, { headers: bearer('nobody') });
    expect(await closing(bearer('nobody'), AUTHORIZED)).toMatchObject({ code: 4401 });
  });

  test('needs no credentials when the gateway has no clients', async () => {
    const open = await startHarness({
      env: { CLIENT_KEYS_FILE: '', SERVICE_BASE_URL: '', SERVICE_API_KEY: '', SERVICE_SECRET_KEY: '' },
    });
    await WireClient.ready(open.client.url);
  });

  test.each([
    ['an authorization that is not a string', { authorization: { Bearer: keyOf('shop') } }],
    ['a key in other fields', { headers: shop, token: keyOf('shop') }],
    ['a key with a line break', bearer(`CANARY\r\n${keyOf('shop')}`)],
  ])('is closed with 4401 for %s', async (_what, payload) => {
    const { code, reason } = await closing(payload);
    expect([code, reason.split(':')[0]]).toEqual([4401, 'UNAUTHENTICATED']);
    expect(reason).not.toContain('CANARY');
  });

  test('is refused when the request has two authorization headers', async () => {
    const lines = upgradeLines(harness.url, { Authorization: AUTHORIZED.authorization });
    const { status } = await exchange(harness.url, [...lines, `Authorization: ${shop.authorization}`]);
    expect(status).toBe(400);
  });

  test('is closed with 4403 by the next subscription after its token expired', async () => {
    const client = await WireClient.ready(harness.url, await token());
    const id = harness.addPayment();
    client.subscribe('a', subscription(id));
    await client.next();
    harness.clock.advance((LIFE_S + 2) * 1000);
    expect(errorsIn(await client.next())).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    client.subscribe('b', subscription(id));
    const { code, reason } = await client.closed;
    expect([code, reason.split(':')[0]]).toEqual([4403, 'UNAUTHENTICATED']);
    expect(client.messages.map(({ type }) => type)).toEqual(['connection_ack', 'next', 'error']);
  });
});
