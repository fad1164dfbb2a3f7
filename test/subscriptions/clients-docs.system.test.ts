import { once } from 'node:events';
import { createServer } from 'node:net';
import { CLIENT_KEY } from '../support/credentials';
import { serverOf } from '../support/http-server';
import { until } from '../support/latch';
import { CHANNEL, closeAfterTests } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy } from '../support/issuer';
import { LANGUAGES, SAMPLES, SOCKET, runSamples, type RunningSamples } from './support/doc-samples';
import { startHarness, startHarnessOn, type SubscriptionHarness } from './support/harness';

const IN_DOCS = ['apollo-client', 'urql', 'graphql-sse'];
const NAMES = [...IN_DOCS, 'eventsource'];
const START_MS = 60_000;

const tokenServer = (token: () => Promise<string>): Promise<string> =>
  serverOf((_request, response) => void token().then((text) => response.end(text)));

/** Resets the next connection to a port. */
async function refuseOnce(port: number): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => undefined).resetAndDestroy());
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await once(server, 'connection');
  server.close();
  await once(server, 'close');
}

async function started(harness: SubscriptionHarness, tokenUrl: string, stays: boolean) {
  const fields = { payment_method: { type: 'card' }, redirect_url: 'https://pay.example/1' };
  const ids = new Map(NAMES.map((name) => [name, harness.addPayment(fields)]));
  const common = { url: harness.url, channel: CHANNEL, tokenUrl };
  const samples = await runSamples(NAMES, (name) => ({ ...common, transactionId: ids.get(name)! }), stays);
  closeAfterTests({ close: async () => void samples.kill() });
  return { ids: [...ids.values()], samples };
}

async function show({ shown, exited, errors }: RunningSamples, status: string): Promise<void> {
  let code: number | null | undefined;
  void exited.then((exit) => (code = exit));
  const isShown = (): boolean => [...shown.values()].every((states) => states.at(-1)?.['status'] === status);
  await until(() => isShown() || code !== undefined, Boolean, START_MS);
  if (!isShown()) throw new Error(`Exit code ${code}, shown ${JSON.stringify([...shown])}: ${errors()}`);
}

test('Every code sample in docs/live-updates.md is run by a test', () => {
  expect([...SAMPLES.keys()]).toEqual([SOCKET, ...IN_DOCS, 'browser']);
  expect([...LANGUAGES]).toEqual(['graphql', 'ts']);
});

test('The client samples in docs/live-updates.md show each state, and get a new token when the old token expires', async () => {
  const key = await newKey('ES256');
  const issuer = await Issuer.start(key);
  const harness = await startHarness({ env: issuer.settings });
  let issued = 0;
  const tokenUrl = await tokenServer(() => {
    issued += 1;
    const exp = Math.floor(harness.clock.now() / 1000) + (issued <= NAMES.length ? 60 : 6000);
    return tokenBy(key, { claims: { ...goodClaims(harness.clock.now()), channels: [CHANNEL], exp } });
  });
  const { ids, samples } = await started(harness, tokenUrl, false);
  await show(samples, 'PENDING');
  expect(issued).toBe(NAMES.length);
  harness.clock.advance(62_000);
  for (const id of ids) harness.service.update(id, { status: 'mispaid' });
  await show(samples, 'MISPAID');
  expect(issued).toBeGreaterThanOrEqual(2 * NAMES.length);
  for (const id of ids) await harness.change(id, { status: 'completed' });
  expect(await samples.exited).toBe(0);
  for (const states of samples.shown.values())
    expect(states).toMatchObject([
      { __typename: 'CardPayment', status: 'PENDING', nextAction: { url: 'https://pay.example/1' } },
      { status: 'MISPAID' },
      { status: 'COMPLETED', nextAction: null },
    ]);
  expect(samples.errors()).toBe('');
});

test('The client samples in docs/live-updates.md continue when another gateway replaces their gateway', async () => {
  const harness = await startHarness();
  const tokenUrl = await tokenServer(() => Promise.resolve(CLIENT_KEY));
  const { ids, samples } = await started(harness, tokenUrl, true);
  await show(samples, 'PENDING');
  await harness.client.gateway.close();
  for (const id of ids) harness.service.update(id, { status: 'completed' });
  const { port } = new URL(harness.url);
  await refuseOnce(Number(port));
  await startHarnessOn(harness.clock, { service: harness.service, env: { PORT: port } });
  await show(samples, 'COMPLETED');
  for (const states of samples.shown.values())
    expect(states).toMatchObject([{ status: 'PENDING' }, { status: 'COMPLETED' }]);
});
