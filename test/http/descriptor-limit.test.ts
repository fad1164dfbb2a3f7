import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { Caller } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { newKey } from '../exactly-once/support/rig';
import { listening, startWithDescriptorLimit, type Program } from '../gateway/fixtures/program';
import { post, raw } from '../gateway/fixtures/raw';
import { AUTHORIZED } from '../support/credentials';
import { API_KEY, SECRET_KEY, closeAfterTests, testSettings } from '../support/gateway';
import { holdNext } from './support/held';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const DESCRIPTORS = 256;
const CONNECTIONS = 300;

/** Opens connections until the server accepts or resets each of them, and sends nothing on them. */
async function silentConnections(base: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(base);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: hostname, port: Number(port) });
      socket.on('error', () => undefined);
      await new Promise<void>((resolve) => {
        socket.once('connect', resolve);
        socket.once('close', () => resolve());
      });
      return socket;
    }),
  );
}

const openDescriptors = ({ pid }: Program): number => readdirSync(`/proc/${pid}/fd`).length;

const ask = (base: string) => post(`${base}/graphql`, '{"query":"{ __typename }"}', AUTHORIZED);

/** Makes one request of each kind. Returns the time of the gateway, in seconds since 1970. */
async function served(base: string): Promise<number> {
  expect((await raw(`${base}/healthz`)).status).toBe(200);
  expect((await ask(base)).status).toBe(200);
  const { status, text } = await raw(`${base}/metrics`);
  expect(status).toBe(200);
  return Number(/^paygraph_time_seconds (\S+)$/m.exec(text)?.[1]);
}

describe.each(['1', '2'])('A gateway with 256 file descriptors and WORKERS=%s', (WORKERS) => {
  let service: FaultyService;
  let program: Program;
  let base: string;
  let silent: Socket[] = [];

  beforeAll(async () => {
    service = closeAfterTests(await FaultyService.start());
    program = startWithDescriptorLimit(DESCRIPTORS, {
      ...testSettings(),
      PORT: '0',
      WORKERS,
      SERVICE_BASE_URL: service.url,
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET_KEY: SECRET_KEY,
      SERVICE_TIMEOUT_MS: '60000',
      PAYOUT_PREFLIGHT: 'off',
    });
    base = await listening(program);
  });

  afterAll(() => silent.forEach((socket) => socket.destroy()));

  test('serves requests while 300 connections send nothing, and completes a create that is in flight', async () => {
    const key = newKey();
    const held = holdNext(service, 'create-payment');
    const created = new Caller(base).create('payment', key);
    // Awaited below: until then a failure of the test is not to be hidden by its rejection.
    created.catch(() => undefined);
    await held.arrived();
    silent = await silentConnections(base, CONNECTIONS);
    // Everything that runs periodically does so within three seconds.
    const start = await served(base);
    await until(
      () => served(base),
      (seconds) => seconds > start + 3,
    );
    held.release();
    expect(await created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
    expect(service.created(key)).toHaveLength(1);
  });

  test('closes the connections once they are gone, and serves as before', async () => {
    silent.forEach((socket) => socket.destroy());
    await until(
      () => openDescriptors(program),
      (count) => count < DESCRIPTORS / 2,
    );
    expect((await ask(base)).status).toBe(200);
    expect(await new Caller(base).create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
  });

  test('logs lines of JSON, and no stack trace', () => {
    const lines = program.output().split('\n').filter(Boolean);
    for (const line of lines) expect(JSON.parse(line)).not.toHaveProperty('err.stack');
    expect(program.output()).not.toContain('EMFILE');
  });
});
