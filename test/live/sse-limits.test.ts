import { Issuer, goodClaims, newKey, tokenBy, type SigningKey } from '../access/support/issuer';
import { bearer, clientOf, keyOf } from '../access/support/rig';
import { liveRig, moveUntil, subscriptionLines, watching } from './support/live-rig';
import { LOOK_UP, ended, expectNobodyLooks, open, opened, refusedWith } from './support/streams';

describe('Caps', () => {
  const CLIENTS = [clientOf('one', {}), clientOf('two', {})];
  const [one, two] = [bearer(keyOf('one')), bearer(keyOf('two'))];

  test('a client has so many streams and no more; others have their own', async () => {
    const rig = await liveRig({ clients: CLIENTS, env: { MAX_WATCHERS_PER_CLIENT: '2' } });
    const taken = [await opened(rig, watching(), one), await opened(rig, watching(), one)];
    const refused = await open(rig, watching(), one);
    expect(await refused.rest()).toMatchObject([
      {
        event: 'next',
        data: { errors: [{ extensions: { code: 'RATE_LIMITED', retryable: true, retryAfterMs: 10_000 } }] },
      },
      { event: 'complete' },
    ]);
    const others = await opened(rig, watching(), two);
    for (const stream of [...taken, others]) stream.leave();
  });

  test('a process has so many in all', async () => {
    const rig = await liveRig({ clients: CLIENTS, env: { MAX_WATCHERS: '2' } });
    const taken = [await opened(rig, watching(), one), await opened(rig, watching(), one)];
    expect(await (await open(rig, watching(), two)).rest()).toMatchObject(refusedWith('RATE_LIMITED'));
    for (const stream of taken) stream.leave();
  });

  test('a seat is free again however a stream ended: left, complete, refused, cut or not begun', async () => {
    const rig = await liveRig({ clients: CLIENTS, env: { MAX_WATCHERS_PER_CLIENT: '1' } });
    let count = 0;
    const again = async (end: () => Promise<unknown>): Promise<void> => {
      await end();
      count += 1;
      await ended(rig, count);
    };
    for (let round = 0; round < 20; round += 1) {
      await again(async () => (await opened(rig, watching(), one)).leave());
      await again(async () => {
        const asked = watching();
        rig.service.set(asked.variables.t, { status: 'completed' });
        expect(await (await open(rig, asked, one)).rest()).toHaveLength(2);
      });
      await again(async () => (await open(rig, watching(), one)).leave());
      await again(async () => (await open(rig, { ...watching(), variables: {} }, one)).rest());
      await again(async () => {
        rig.service.absent = true;
        expect(await (await open(rig, watching(), one)).rest()).toMatchObject(refusedWith('NOT_FOUND'));
        rig.service.absent = false;
      });
    }
    (await opened(rig, watching(), one)).leave();
  });
});

describe('A token', () => {
  let key: SigningKey;
  let issuer: Issuer;

  beforeAll(async () => {
    key = await newKey('ES256');
    issuer = await Issuer.start(key);
  });

  const EXPIRES_AFTER_S = 40;

  async function rigAndToken() {
    const rig = await liveRig({ env: issuer.settings });
    const exp = Math.floor(rig.clock.now() / 1000) + EXPIRES_AFTER_S;
    const token = bearer(await tokenBy(key, { claims: { ...goodClaims(rig.clock.now()), exp } }));
    return { rig, token };
  }

  test('that expires ends the stream with UNAUTHENTICATED and its completion; nothing comes after', async () => {
    const { rig, token } = await rigAndToken();
    const asked = watching();
    const stream = await opened(rig, asked, token);
    await moveUntil(rig, () => !stream.isQuiet);
    const events = await stream.rest();
    expect(events).toMatchObject(refusedWith('UNAUTHENTICATED'));
    expect(stream.text).not.toContain(token.authorization.slice(-20));
    await ended(rig, 1);
    expect(subscriptionLines(rig)).toMatchObject([{ errors: ['UNAUTHENTICATED'] }]);
    await expectNobodyLooks(rig, asked.variables.t);
  });

  test('that has expired when a change comes in the same second gives nothing of it away', async () => {
    const { rig, token } = await rigAndToken();
    const asked = watching();
    const stream = await opened(rig, asked, token);
    const other = await opened(rig, asked);
    for (let seconds = 0; seconds < EXPIRES_AFTER_S; seconds += 5) {
      rig.clock.advance(5000);
      await rig.client.ask(LOOK_UP, asked.variables);
    }
    rig.service.set(asked.variables.t, { status: 'completed' });
    await rig.client.ask(LOOK_UP, asked.variables);
    expect(await other.nextData()).toEqual({ status: 'COMPLETED' });
    expect(await stream.rest()).toMatchObject(refusedWith('UNAUTHENTICATED'));
  });

  test('that has expired long ago is refused before the stream, a new one is not', async () => {
    const { rig, token } = await rigAndToken();
    // The keys of the issuer have been loaded then: the clock ends a load that takes too long.
    (await opened(rig, watching(), token)).leave();
    rig.clock.advance((EXPIRES_AFTER_S + 60) * 1000);
    const refused = await open(rig, watching(), token);
    expect(refused.status).toBe(401);
    const fresh = bearer(await tokenBy(key, { claims: goodClaims(rig.clock.now()) }));
    (await opened(rig, watching(), fresh)).leave();
  });
});
