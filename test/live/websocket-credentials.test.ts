import { UnsecuredJWT } from 'jose';
import { Issuer, goodClaims, newKey, tokenBy, type SigningKey } from '../access/support/issuer';
import { bearer, clientOf, keyOf } from '../access/support/rig';
import { until } from '../exactly-once/support/gate';
import { AUTHORIZED } from '../support/credentials';
import { liveRig, standing, watching, type LiveRig } from './support/live-rig';
import { Silent, textFrame, upgradeLines } from './support/upgrade';
import { WireClient, type Closing } from './support/wire-client';

let rig: LiveRig;
let issuer: Issuer;
let key: SigningKey;
let stolen: SigningKey;

beforeAll(async () => {
  [key, stolen] = await Promise.all([newKey('ES256'), newKey('ES256')]);
  issuer = await Issuer.start(key);
  rig = await liveRig({ clients: [clientOf('shop', {})], env: issuer.settings });
});

/** How the connection of a client ends that says this about itself. */
async function refusal(payload: unknown, headers: Record<string, string> = {}, of = rig): Promise<Closing> {
  const client = await WireClient.open(of.client.url, { headers });
  client.say({ type: 'connection_init', ...(payload !== undefined && { payload }) });
  const closing = await client.closed;
  expect(client.heard).toEqual([]);
  return closing;
}

/** The seconds of now, by the gateway's clock. */
const seconds = (more = 0): number => Math.floor(rig.clock.now() / 1000) + more;

const UNAUTHENTICATED = { code: 4401, reason: expect.stringMatching(/^UNAUTHENTICATED: /) as unknown };

describe('A connection is acknowledged', () => {
  const shop = bearer(keyOf('shop')).authorization;

  test.each([
    ['authorization', { authorization: shop }],
    ['Authorization', { Authorization: shop }],
    ['AUTHORIZATION', { AUTHORIZATION: shop }],
    ['authorization beside other things', { other: 1, authorization: shop, more: { a: [] } }],
    ['a scheme in small letters', { authorization: shop.replace('Bearer', 'bearer') }],
  ])('with %s in the payload', async (_what, payload) => {
    const client = await WireClient.ready(rig.client.url, payload);
    client.subscribe('a', watching());
    expect(await client.next()).toEqual({ type: 'next', id: 'a', payload: standing('PENDING') });
  });

  test.each([[undefined], [{}], [{ authorization: null }], [{ authorization: ['x'] }]])(
    'with the header of the request, where the payload %j names none',
    async (payload) => {
      const client = await WireClient.open(rig.client.url, { headers: { authorization: shop } });
      client.say({ type: 'connection_init', ...(payload && { payload }) });
      expect((await client.next()).type).toBe('connection_ack');
    },
  );

  test('with a token', async () => {
    const client = await WireClient.ready(rig.client.url, bearer(await tokenBy(key)));
    client.subscribe('a', watching());
    expect((await client.next()).payload).toEqual(standing('PENDING'));
  });

  test('for whom the payload names, whatever the header says', async () => {
    const nobody = { authorization: 'Bearer nobody' };
    await WireClient.ready(rig.client.url, AUTHORIZED, { headers: nobody });
    expect(await refusal(nobody, AUTHORIZED)).toEqual(UNAUTHENTICATED);
  });

  test('where nobody is told apart, with nothing', async () => {
    const open = await liveRig({
      env: { CLIENT_KEYS_FILE: '', SERVICE_BASE_URL: '', SERVICE_API_KEY: '', SERVICE_SECRET_KEY: '' },
    });
    const client = await WireClient.ready(open.client.url);
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
  });
});

describe('A connection is closed, and nothing is said before', () => {
  const WRONG: [string, unknown][] = [
    ['nothing', undefined],
    ['an empty payload', {}],
    ['an empty text', { authorization: '' }],
    ['no text', { authorization: { Bearer: keyOf('shop') } }],
    ['a key that nobody has', bearer('pgk_nobody-nobody-nobody-CANARY')],
    ['a key without Bearer', { authorization: keyOf('shop') }],
    ['another scheme', { authorization: `Basic ${keyOf('shop')}` }],
    ['two keys', { authorization: `Bearer ${keyOf('shop')} ${keyOf('shop')}` }],
    ['a key in another place', { headers: bearer(keyOf('shop')), token: keyOf('shop') }],
    ['a very long key', bearer(`CANARY${'x'.repeat(9000)}`)],
    ['a key with a line break', bearer(`CANARY\r\n${keyOf('shop')}`)],
  ];

  test.each(WRONG)('with %s', async (_what, payload) => {
    const closing = await refusal(payload);
    expect(closing).toEqual(UNAUTHENTICATED);
    expect(closing.reason + rig.logLines.join('')).not.toContain('CANARY');
  });

  test('with a wrong header', async () => {
    expect(await refusal(undefined, bearer('pgk_CANARY'))).toEqual(UNAUTHENTICATED);
  });

  test('with two headers of which each names somebody', async () => {
    const lines = upgradeLines(rig.client.url, { Authorization: AUTHORIZED.authorization });
    const silent = await Silent.open(rig.client.url, [
      ...lines,
      `Authorization: ${bearer(keyOf('shop')).authorization}`,
    ]);
    silent.write(textFrame('{"type":"connection_init"}'));
    await until(() => silent.isGone || silent.body.length > 0 || silent.status >= 400, Boolean);
    silent.socket.destroy();
    expect(silent.bytes.toString('latin1')).not.toContain('connection_ack');
  });

  const FORGED: [string, () => string | Promise<string>][] = [
    ['that has expired', () => tokenBy(key, { claims: { exp: seconds(-60) } })],
    ['that is not yet good', () => tokenBy(key, { claims: { nbf: seconds(600) } })],
    ['by another key', () => tokenBy(stolen, { header: { kid: key.kid } })],
    ['by a key that nobody published', () => tokenBy(stolen)],
    ['without a signature', () => new UnsecuredJWT(goodClaims(rig.clock.now())).encode()],
    ['of another issuer', () => tokenBy(key, { claims: { iss: 'https://evil.example/' } })],
    ['for another audience', () => tokenBy(key, { claims: { aud: 'other' } })],
    ['without an end', () => tokenBy(key, { claims: { exp: undefined } })],
    ['without a subject', () => tokenBy(key, { claims: { sub: undefined } })],
  ];

  test.each(FORGED)('with a token %s, of which nothing is repeated', async (_what, make) => {
    const token = await make();
    for (const closing of [await refusal(bearer(token)), await refusal(undefined, bearer(token))]) {
      expect(closing).toEqual(UNAUTHENTICATED);
      for (const part of token.split('.').filter(({ length }) => length > 8))
        expect(closing.reason + rig.logLines.join('')).not.toContain(part);
    }
  });

  test('with the words that a query hears', async () => {
    for (const headers of [{}, bearer('nobody'), bearer(await tokenBy(stolen))]) {
      const { errors } = await rig.client.ask('{ __typename }', {}, headers);
      const [{ message, extensions } = { message: '', extensions: {} }] = errors ?? [];
      const { reason } = await refusal(headers);
      expect(reason).toBe(`${String(extensions['code'])}: ${message}`);
    }
  });

  test('with 1013, which says that it may be tried again, while tokens cannot be checked', async () => {
    const down = await Issuer.start(key);
    await down.down();
    const lone = await liveRig({ env: down.settings });
    const token = bearer(await tokenBy(key));
    expect(await refusal(token, {}, lone)).toEqual({
      code: 1013,
      reason: expect.stringMatching(/^SERVICE_UNAVAILABLE: /) as unknown,
    });
    await down.up();
    lone.clock.advance(31_000);
    await WireClient.ready(lone.client.url, token);
  });

  test('and nothing was asked of the service', () => {
    expect(rig.service.seen.filter(({ method }) => method !== 'GET')).toEqual([]);
  });
});

test('A client that leaves while it is found out who it is takes no seat with it', async () => {
  const held = Promise.withResolvers<undefined>();
  const slow = await Issuer.start(key);
  slow.answering = (response) =>
    void held.promise.then(() => response.end(JSON.stringify({ keys: [key.jwk] })));
  const lone = await liveRig({ env: { ...slow.settings, MAX_WATCHERS_PER_CLIENT: '1' } });
  const token = bearer(await tokenBy(key));
  const gone = await WireClient.open(lone.client.url);
  gone.say({ type: 'connection_init', payload: token });
  await new Promise((resolve) => gone.socket.ping(resolve));
  gone.socket.terminate();
  await gone.closed;
  held.resolve(undefined);
  await WireClient.ready(lone.client.url, token);
});
