import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { parse, validate } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';
import { Issuer, goodClaims, newKey, tokenBy } from '../access/support/issuer';
import { until } from '../exactly-once/support/gate';
import { CLIENT_KEY } from '../support/credentials';
import { CHANNEL, closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { LANGUAGES, PAYMENT_UPDATED, SAMPLES, runSample, type RunningSample } from './support/doc-samples';
import { liveGateway, sold } from './support/live-gateway';

// A program is bundled and started, and other tests run beside this one.
jest.setTimeout(120_000);

/** Where an application fetches its tokens. */
async function tokenServer(token: () => Promise<string>): Promise<{ url: string; asked: () => number }> {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    void token().then((text) => response.end(text));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closeAfterTests({
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, asked: () => asked };
}

/** Nobody is at that port, until somebody has come for nothing. */
async function refuseOnce(port: number): Promise<void> {
  const nobody = createTcpServer((socket) => socket.on('error', () => undefined).resetAndDestroy());
  await new Promise<void>((resolve) => nobody.listen(port, '127.0.0.1', resolve));
  await once(nobody, 'connection');
  nobody.close();
  await once(nobody, 'close');
}

const running: RunningSample[] = [];
afterAll(() => running.forEach((sample) => sample.kill()));

async function started(...given: Parameters<typeof runSample>): Promise<RunningSample> {
  const sample = await runSample(...given);
  running.push(sample);
  return sample;
}

/** Waits until a sample has shown that; fails at once where it ended before. */
async function shows(sample: RunningSample, isSo: (shown: RunningSample['shown']) => boolean): Promise<void> {
  let code: number | null | undefined;
  void sample.exited.then((exit) => (code = exit));
  await until(
    () => isSo(sample.shown) || code !== undefined,
    (isOver) => isOver,
    60_000,
  );
  if (!isSo(sample.shown)) throw new Error(`It ended with ${code}: ${sample.errors()}`);
}

/** What a sample has shown, without what was shown again: urql gives the last state once more as it ends. */
const different = ({ shown }: RunningSample): RunningSample['shown'] =>
  shown.filter((state, place) => JSON.stringify(state) !== JSON.stringify(shown[place - 1]));

/** Those that run in Node.js as in a browser. */
const PROGRAMS = ['apollo-client', 'urql', 'graphql-sse', 'eventsource'];

test('every sample of docs/live-updates.md is run by a test: these here, "browser" in Chromium', () => {
  expect([...SAMPLES.keys()]).toEqual([...PROGRAMS, 'browser']);
  expect([...LANGUAGES]).toEqual(['graphql', 'ts']);
});

test('its subscription fits the schema', () => {
  expect(validate(gatewaySchema(), parse(PAYMENT_UPDATED))).toEqual([]);
});

describe.each(PROGRAMS)('The sample %s', (name) => {
  test('shows the current state, then the last, and ends by itself', async () => {
    const live = await liveGateway();
    const transactionId = await live.sell();
    const { url: tokenUrl } = await tokenServer(() => Promise.resolve(CLIENT_KEY));
    const sample = await started(name, { url: live.client.url, channel: CHANNEL, transactionId, tokenUrl });
    await shows(sample, ({ length }) => length === 1);
    live.sandbox.control.settle(transactionId);
    await live.look(transactionId);
    await shows(sample, (shown) => shown.at(-1)?.status === 'COMPLETED');
    expect(different(sample)).toMatchObject([
      { __typename: 'CardPayment', status: 'PENDING', nextAction: { url: expect.any(String) as unknown } },
      { __typename: 'CardPayment', status: 'COMPLETED', nextAction: null },
    ]);
    expect(await sample.exited).toBe(0);
    expect(sample.errors()).toBe('');
  });

  test('goes on with a new token when its own has expired', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    let seconds = 3;
    const tokens = await tokenServer(async () => {
      const exp = Math.floor(Date.now() / 1000) + seconds;
      seconds = 600;
      return tokenBy(key, { claims: { ...goodClaims(), channels: [CHANNEL], exp } });
    });
    const sandbox = await testSandbox();
    const gateway = await testGateway(sandbox.url, { env: issuer.settings });
    const transactionId = await sold(gateway);
    const surroundings = { url: gateway.url, channel: CHANNEL, transactionId, tokenUrl: tokens.url };
    const sample = await started(name, surroundings);
    await until(tokens.asked, (count) => count === 2, 60_000);
    const before = sample.shown.length;
    await shows(sample, ({ length }) => length > before);
    sandbox.control.settle(transactionId);
    await shows(sample, (shown) => shown.at(-1)?.status === 'COMPLETED');
    expect(await sample.exited).toBe(0);
  });

  test('goes on at the gateway that takes the place of its own, and shows the end', async () => {
    const sandbox = await testSandbox();
    const gateway = await testGateway(sandbox.url);
    const transactionId = await sold(gateway);
    const { url: tokenUrl } = await tokenServer(() => Promise.resolve(CLIENT_KEY));
    const surroundings = { url: gateway.url, channel: CHANNEL, transactionId, tokenUrl };
    const sample = await started(name, surroundings, 'its own');
    await shows(sample, ({ length }) => length === 1);
    await gateway.gateway.close();
    sandbox.control.settle(transactionId);
    const { port } = new URL(gateway.url);
    await refuseOnce(Number(port));
    await testGateway(sandbox.url, { env: { PORT: port } });
    await shows(sample, (shown) => shown.at(-1)?.status === 'COMPLETED');
    expect(different(sample)).toMatchObject([{ status: 'PENDING' }, { status: 'COMPLETED' }]);
    sample.kill();
  });
});
