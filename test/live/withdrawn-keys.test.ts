import { Issuer, newKey, tokenBy } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { liveRig, moveUntil, standing, watching } from './support/live-rig';
import { WireClient } from './support/wire-client';

/** The longest that a key that is no longer published is believed by a subscription. */
const BOUND_MS = 65_000;

test('Subscriptions end when the key that signed their token is withdrawn', async () => {
  const [old, next] = await Promise.all([newKey('ES256'), newKey('ES256')]);
  const issuer = await Issuer.start(old, next);
  const rig = await liveRig({ env: issuer.settings });
  const credentials = bearer(await tokenBy(old));
  const socket = await WireClient.ready(rig.client.url, credentials);
  const staying = await WireClient.ready(rig.client.url, bearer(await tokenBy(next)));
  socket.subscribe('a', watching());
  staying.subscribe('a', watching());
  expect(await socket.next()).toMatchObject({ type: 'next', payload: standing('PENDING') });
  expect(await staying.next()).toMatchObject({ type: 'next', payload: standing('PENDING') });
  issuer.keys = [next];
  const from = rig.clock.now();
  await moveUntil(rig, () => socket.heard.some(({ type }) => type === 'error'));
  expect(rig.clock.now() - from).toBeLessThanOrEqual(BOUND_MS);
  expect(socket.heard.at(-1)).toMatchObject({ payload: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  expect(staying.heard.map(({ type }) => type)).not.toContain('error');
});
