import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
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
  type SubscriptionHarness,
} from './support/harness';
import { upgradeLines } from './support/upgrade';
import { TRANSPORTS, firstOf, watchStatus } from './support/subscriptions';
import { WireClient, errorsIn, type Closing } from './support/wire-client';

const LIFE_S = 300;
const shop = bearer(keyOf('shop'));
const UNAUTHENTICATED = { statuses: ['PENDING'], completed: false, codes: ['UNAUTHENTICATED'] };

let harness: SubscriptionHarness;
let issuer: Issuer;
let key: SigningKey;

beforeAll(async () => {
  key = await newKey('ES256');
  issuer = await Issuer.start(key);
  harness = await startHarness({
    env: issuer.settings,
    clients: [clientOf('shop', {}), clientOf('ours', { channels: [CHANNEL] })],
  });
});

/** Returns the time of the gateway's clock, plus `more`, in seconds since 1970. */
const seconds = (more = 0): number => Math.floor(harness.clock.now() / 1000) + more;

/** Returns the header with a token that expires at `exp`. */
const token = async (exp = seconds(LIFE_S)): Promise<{ authorization: string }> => {
  const claims = { ...goodClaims(harness.clock.now()), channels: [CHANNEL], exp };
  return bearer(await tokenBy(key, { claims }));
};

const REFUSED: [string, () => Promise<{ authorization?: string }>][] = [
  ['no credentials', async () => ({})],
  ['an unknown key', async () => bearer('pgk_nobody-nobody-nobody-CANARY')],
  ['a token that expired 60 s ago', () => token(seconds(-60))],
  ['a token that expired 5 s ago, which queries still accept', () => token(seconds(-5))],
];

describe.each(TRANSPORTS)('A subscription over %s', (name, connect) => {
  test.each(REFUSED)('with %s is refused, and no credentials are logged', async (_what, forged) => {
    const [credentials, id] = [await forged(), harness.addPayment()];
    const { refusedWith, codes, data } = await watchStatus(connect(harness, credentials), id);
    expect([4401, 401, 'UNAUTHENTICATED']).toContain(refusedWith ?? codes[0]);
    expect([data, harness.lookups(id)]).toEqual([[], 0]);
    for (const part of (credentials.authorization ?? '').split('.').filter(({ length }) => length > 8))
      expect(harness.logLines.join('')).not.toContain(part);
  });

  test('is refused as unavailable while the keys of the token issuer cannot be loaded', async () => {
    const down = await Issuer.start(key);
    await down.down();
    const lone = await startHarnessOn(harness.clock, { env: down.settings });
    const { refusedWith, data } = await watchStatus(connect(lone, await token()), lone.addPayment());
    expect([refusedWith, data]).toEqual([name === 'WebSocket' ? 1013 : 503, []]);
  });

  test("to another merchant's channel gets the same error as a query", async () => {
    const before = harness.service.requests.length;
    const payload = subscription(randomUUID(), 'payment', THEIRS);
    const { errors, data } = await firstOf(connect(harness, bearer(keyOf('ours'))), payload);
    expect(data).toEqual([]);
    const extensions = { code: 'FORBIDDEN', retryable: false };
    expect(errors).toMatchObject([{ path: ['paymentUpdated'], extensions }]);
    const query = await harness.client.request(lookupQuery(), payload.variables, bearer(keyOf('ours')));
    expect(errors?.[0]?.message).toBe(query.errors?.[0]?.message);
    expect(harness.service.requests.length).toBe(before);
    expect(harness.subscriptionLines().at(-1)).toMatchObject({ results: 0, errors: ['FORBIDDEN'] });
  });

  test('ends without leeway when its token expires, and then causes no polling and uses no quota', async () => {
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

  test('gets no change after its token has expired, even within the same second', async () => {
    const still = await startHarnessOn(harness.clock, { env: { ...issuer.settings, ...NO_POLLING } });
    const id = still.addPayment();
    const short = await watchStatus(connect(still, await token()), id);
    const long = await watchStatus(connect(still, await token(seconds(3600))), id);
    // The check runs at the end of each second.
    harness.clock.advance(LIFE_S * 1000 - 1);
    harness.clock.advance(1);
    await still.change(id, { status: 'completed' });
    await Promise.all([short.ended(), long.ended()]);
    expect(short.outcome).toEqual(UNAUTHENTICATED);
    expect(long.outcome).toEqual({ statuses: ['PENDING', 'COMPLETED'], completed: true, codes: [] });
  });

  test('ends when the key that signed its token is withdrawn', async () => {
    const next = await newKey('ES256');
    const rotating = await Issuer.start(key, next);
    const lone = await startHarnessOn(harness.clock, { env: rotating.settings });
    const id = lone.addPayment();
    const watching = await watchStatus(connect(lone, await token(seconds(600))), id);
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

describe.each(TRANSPORTS)('A change of CLIENT_KEYS_FILE, with subscriptions over %s,', (name, connect) => {
  test('ends only the subscriptions of changed keys, and new subscriptions have the new rights', async () => {
    const all = ['revoked', 'renamed', 'fewer-scopes', 'other-channels', 'unchanged'];
    const [revoked, renamed, fewer, other, unchanged] = all.map((id) =>
      clientOf(id, { channels: [CHANNEL] }),
    );
    const file = clientKeysFile(revoked!, renamed!, fewer!, other!, unchanged!);
    const changed = await startHarness({ env: { CLIENT_KEYS_FILE: file } });
    const watch = (id: string) => watchStatus(connect(changed, bearer(keyOf(id))), changed.addPayment());
    const subscribers = await Promise.all(all.map(watch));
    const before = changed.logLines.length;
    writeFileSync(
      file,
      clientKeysText([
        { ...renamed!, id: 'new' },
        { ...fewer!, scopes: ['payments:read'] },
        { ...other!, channels: [CHANNEL, THEIRS] },
        unchanged!,
      ]),
    );
    await until(() => changed.logLines.slice(before).join('').includes('CLIENT_KEYS_FILE'));
    changed.clock.advance(1000);
    const continuing = subscribers.pop();
    for (const watching of subscribers) {
      await watching.ended();
      expect(watching.outcome).toEqual(UNAUTHENTICATED);
    }
    await changed.lookUp(randomUUID());
    expect(continuing?.errors).toBeUndefined();
    expect((await watch('revoked')).refusedWith).toBe(name === 'WebSocket' ? 4401 : 401);
    const theirs = subscription(changed.addPayment(), 'payment', THEIRS);
    const moved = await firstOf(connect(changed, bearer(keyOf('other-channels'))), theirs);
    expect(moved.statuses).toEqual(['PENDING']);
  });
});

describe('A WebSocket connection', () => {
  /** Sends these credentials. Returns the close event; expects no message before it. */
  async function closing(payload: unknown, headers: Record<string, string> = {}): Promise<Closing> {
    const client = await WireClient.open(harness.url, { headers });
    client.say({ type: 'connection_init', ...(payload !== undefined && { payload }) });
    const closed = await client.closed;
    expect(client.messages).toEqual([]);
    return closed;
  }

  test('is accepted with credentials in connection_init or, if that has none, in the request header', async () => {
    await WireClient.ready(harness.url, { other: 1, AUTHORIZATION: shop.authorization, more: { a: [] } });
    for (const payload of [undefined, { authorization: null }])
      await WireClient.ready(harness.url, payload, { headers: shop });
    await WireClient.ready(harness.url, AUTHORIZED, { headers: bearer('nobody') });
    expect(await closing(bearer('nobody'), AUTHORIZED)).toMatchObject({ code: 4401 });
  });

  test.each([
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

  test('is closed with 4403 when it subscribes again after its token has expired', async () => {
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
