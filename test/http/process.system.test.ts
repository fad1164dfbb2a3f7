import { readdirSync } from 'node:fs';
import { Caller, createInput, type CallResult } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { latch, until, type Latch } from '../support/latch';
import { closeAfterTests, serviceSettings, testGateway } from '../support/gateway';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program, listening, startWithDescriptorLimit } from '../support/program';
import { post, raw } from '../support/raw';
import { newKey } from '../support/harness';
import { openStore, type Store } from '../support/stores';
import { Wire, postText, requestText } from '../support/wire';

/** Timeouts that are longer than the tests. */
const ENDLESS = { SHUTDOWN_GRACE_MS: '600000', CLIENT_TIMEOUT_MS: '300000' };
const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
const CREATED = { data: { createPayment: { __typename: 'PaymentSuccess' } } };

let store: Store;
let service: FakePaymentService;

beforeEach(async () => {
  const opened = await openStore('SQLite');
  store = closeAfterTests({ ...opened, close: () => opened.drop() });
  service = closeAfterTests(await FakePaymentService.start());
});

const start = (env: Record<string, string>): Promise<Program> =>
  Program.start({
    serviceUrl: service.url,
    databaseUrl: store.url,
    env: { SERVICE_TIMEOUT_MS: '60000', ...env },
    hasSlowJournal: true,
  });

const baseOf = (program: Program): string => program.url.replace(/\/graphql$/, '');

async function terminate(program: Program): Promise<void> {
  program.signal('SIGTERM');
  await until(() => program.output().includes('"msg":"stopping"'));
}

const createText = (key: string): string =>
  postText(JSON.stringify({ query: CREATE, variables: { input: createInput('payment', key) } }), [
    'Host: localhost',
    `Authorization: ${AUTHORIZED.authorization}`,
  ]);

const HEALTH = requestText('GET /healthz HTTP/1.1', ['Host: localhost']);

function holdCreates(): Latch {
  const hold = latch();
  service.plan((purpose) => (purpose === 'create-payment' ? { acts: true, first: hold.opened } : undefined));
  return hold;
}

const arrived = (count: number): Promise<boolean> =>
  until(() => service.requestsTo('create-payment').length === count);

async function inFlight(program: Program, count: number) {
  const hold = holdCreates();
  const before = service.requestsTo('create-payment').length;
  const keys = Array.from({ length: count }, newKey);
  const calls = keys.map((key) => program.create('payment', key).catch((): CallResult => ({ error: 'CUT' })));
  await arrived(before + count);
  return { keys, calls, release: hold.open };
}

const statusAt = (url: string): Promise<number | 'refused'> =>
  fetch(url).then(
    ({ status }) => status,
    () => 'refused',
  );

const bodiesOf = (responses: readonly { body: string }[]): unknown[] =>
  responses.map(({ body }) => JSON.parse(body) as unknown);

describe('A gateway after SIGTERM or SIGINT', () => {
  test('completes requests in flight, accepts no new requests, and does not wait for idle clients', async () => {
    const program = await start(ENDLESS);
    expect(await statusAt(`${baseOf(program)}/readyz`)).toBe(200);
    const idle = ['', 'POST /graphql HTTP/1.1\r\nHost: ', HEALTH, createText(newKey()).slice(0, -1)];
    const wires = await Promise.all([...idle, ...idle].map(() => Wire.open(program.url)));
    wires.forEach((wire, place) => wire.write(idle[place % idle.length] ?? ''));
    const { keys, calls, release } = await inFlight(program, 10);
    const pipeline = await Wire.open(program.url);
    const first = newKey();
    pipeline.write(createText(first));
    await arrived(11);

    await terminate(program);
    expect([503, 'refused']).toContain(await statusAt(`${baseOf(program)}/readyz`));
    const late = await program.create('payment', newKey()).catch((): CallResult => ({ error: 'CUT' }));
    expect(late.result).toBeUndefined();
    const second = newKey();
    pipeline.write(createText(second));
    release();

    const ends = await Promise.all(calls);
    expect(ends.map(({ result }) => result)).toEqual(keys.map(() => 'PaymentSuccess'));
    const [response, refused] = await pipeline.end();
    expect(JSON.parse(response?.body ?? '')).toEqual(CREATED);
    expect([undefined, 503]).toContain(refused?.status);
    expect(await program.exited).toBe(0);
    expect(service.requestsTo('create-payment')).toHaveLength(11);
    const rows = await store.rows('SELECT key, outcome FROM attempts');
    expect(new Map(rows.map(({ key, outcome }) => [key, outcome]))).toEqual(
      new Map([...keys, first].map((key) => [key, 'succeeded'])),
    );
    wires.forEach((wire) => wire.close());
  });

  test('exits with 1 at a second signal or after the grace period, and keeps interrupted creates in the journal', async () => {
    const stopped = await start(ENDLESS);
    const bySignal = await inFlight(stopped, 3);
    await terminate(stopped);
    stopped.signal('SIGINT');
    expect(await stopped.exited).toBe(1);
    bySignal.release();

    const late = await start({ SHUTDOWN_GRACE_MS: '200' });
    const byGrace = await inFlight(late, 3);
    late.signal('SIGINT');
    expect(await late.exited).toBe(1);
    byGrace.release();

    const keys = [...bySignal.keys, ...byGrace.keys];
    const ends = await Promise.all([...bySignal.calls, ...byGrace.calls]);
    expect(ends).toEqual(keys.map(() => ({ error: 'CUT' })));
    expect(await store.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const rows = await store.rows('SELECT key, outcome FROM attempts');
    expect(rows.map(({ key }) => key).sort()).toEqual(keys.toSorted());
    // For the other keys, rechecks by the second gateway may have found other outcomes.
    const cut = rows.filter(({ key }) => byGrace.keys.includes(String(key)));
    for (const { outcome } of cut) expect(['in_progress', 'unknown']).toContain(outcome);

    const { gateway } = await testGateway(service.url, { env: { DATABASE_URL: store.url } });
    const next = new Caller(gateway.url);
    for (const key of keys) {
      const end = await until(
        () => next.create('payment', key),
        ({ result }) => result === 'PaymentSuccess',
      );
      expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
      expect(service.created(key)).toHaveLength(1);
    }
  });
});

test('A gateway serves requests during SHUTDOWN_DELAY_MS, reports that it is not ready, and exits at a second signal', async () => {
  const program = await start({ SHUTDOWN_DELAY_MS: '300000' });
  const idle = (await Wire.open(program.url)).write(HEALTH);
  expect((await idle.responses(1))[0]?.headers['connection']).not.toBe('close');
  const hold = holdCreates();
  const busy = (await Wire.open(program.url)).write(createText(newKey()));
  await arrived(1);
  await terminate(program);

  const ready = await fetch(`${baseOf(program)}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toMatchObject({ checks: { draining: true, journal: 'up' } });
  expect(await statusAt(`${baseOf(program)}/healthz`)).toBe(200);

  const pipelined = (await Wire.open(program.url)).write(createText(newKey()) + createText(newKey()));
  // The second pipelined create waits for the response to the first.
  await arrived(2);
  hold.open();
  const [first, ...others] = await pipelined.end();
  const [, onIdle] = await idle.write(createText(newKey())).end();
  const onNew = await (await Wire.open(program.url)).write(createText(newKey())).end();
  const last = [...others, ...(await busy.end()), ...(onIdle ? [onIdle] : []), ...onNew];
  expect(bodiesOf([...(first ? [first] : []), ...last])).toEqual(Array<unknown>(5).fill(CREATED));
  expect(last.map(({ headers }) => headers['connection'])).toEqual(Array<string>(4).fill('close'));

  program.signal('SIGTERM');
  expect(await program.exited).toBe(1);
});

test('A gateway closes idle connections after SHUTDOWN_DELAY_MS, and completes requests in flight', async () => {
  const program = await start({ ...ENDLESS, SHUTDOWN_DELAY_MS: '1000' });
  const hold = holdCreates();
  const idle = await Wire.open(program.url);
  const busy = (await Wire.open(program.url)).write(createText(newKey()));
  await arrived(1);
  await terminate(program);
  await until(async () => (await statusAt(`${baseOf(program)}/healthz`)) === 'refused');
  await idle.end();
  hold.open();
  expect(bodiesOf(await busy.end())).toEqual([CREATED]);
  expect(await program.exited).toBe(0);
});

test('A gateway with 128 file descriptors serves requests while 160 connections send nothing, and recovers', async () => {
  const settings = { ...serviceSettings(service.url), SERVICE_TIMEOUT_MS: '60000' };
  const program = startWithDescriptorLimit(128, settings);
  const base = await listening(program);

  async function expectServes(): Promise<void> {
    expect((await raw(`${base}/healthz`)).status).toBe(200);
    expect((await post(`${base}/graphql`, '{"query":"{ __typename }"}')).status).toBe(200);
  }

  const timeOfGateway = async (): Promise<number> =>
    Number(/^paygraph_time_seconds (\S+)$/m.exec((await raw(`${base}/metrics`)).text)?.[1]);

  const key = newKey();
  const held = service.hold();
  const created = new Caller(base).create('payment', key);
  // It is awaited below; an unhandled rejection before that would hide the real test failure.
  created.catch(() => undefined);
  await held.arrived;
  const silent = await Promise.all(Array.from({ length: 160 }, () => Wire.open(base)));
  try {
    // All periodic work runs within three seconds.
    const startedAt = await timeOfGateway();
    await until(timeOfGateway, (seconds) => seconds > startedAt + 3);
    await expectServes();
    held.release();
    expect(await created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
    expect(service.created(key)).toHaveLength(1);
  } finally {
    silent.forEach((wire) => wire.close());
  }
  await until(() => readdirSync(`/proc/${program.pid}/fd`).length < 64);
  await expectServes();
  expect(await new Caller(base).create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
  for (const line of program.output().split('\n').filter(Boolean))
    expect(JSON.parse(line)).not.toHaveProperty('err.stack');
  expect(program.output()).not.toContain('EMFILE');
});
