import { Wire, postText, requestText } from '../attack/wire';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { CHANNEL, createInput } from '../exactly-once/support/caller';
import { gate, until } from '../exactly-once/support/gate';
import { Program } from '../exactly-once/support/program';
import { newKey } from '../exactly-once/support/rig';
import { openStore, type Store } from '../exactly-once/support/stores';
import { EventStream } from '../live/support/event-stream';
import { WireClient } from '../live/support/wire-client';
import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests } from '../support/gateway';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

/** Longer than any test here may take. */
const ENDLESS = { SHUTDOWN_DELAY_MS: '300000' };
/** The grace period only: a test that takes it has waited for something that it must not wait for. */
const SHORT = { SHUTDOWN_DELAY_MS: '300', SHUTDOWN_GRACE_MS: '600000', CLIENT_TIMEOUT_MS: '300000' };

const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on PaymentResource { status } }
}`;
const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
const CREATED = { data: { createPayment: { __typename: 'PaymentSuccess' } } };

let store: Store;
let service: FaultyService;

beforeEach(async () => {
  const opened = await openStore('SQLite');
  store = closeAfterTests({ ...opened, close: () => opened.drop() });
  service = closeAfterTests(await FaultyService.start());
});

async function start(env: Record<string, string>): Promise<Program> {
  const program = await Program.start({
    serviceUrl: service.url,
    databaseUrl: store.url,
    env: { SERVICE_TIMEOUT_MS: '60000', ...env },
  });
  closeAfterTests({ close: () => program.kill() });
  return program;
}

const baseOf = (program: Program): string => program.url.replace(/\/graphql$/, '');

async function terminate(program: Program): Promise<void> {
  program.signal('SIGTERM');
  await until(
    () => program.output(),
    (output) => output.includes('"msg":"stopping"'),
  );
}

const createText = (key: string): string =>
  postText(JSON.stringify({ query: CREATE, variables: { input: createInput('payment', key) } }), [
    'Host: localhost',
    `Authorization: ${AUTHORIZED.authorization}`,
  ]);

/** Has the service keep creates to itself until the result is opened. */
function holdCreates() {
  const hold = gate();
  service.plan((purpose) => (purpose === 'create-payment' ? { acts: true, first: hold.opened } : undefined));
  return hold;
}

describe('SHUTDOWN_DELAY_MS after SIGTERM', () => {
  test('fails readiness with its reason, and liveness not', async () => {
    const program = await start(ENDLESS);
    await terminate(program);
    const ready = await fetch(`${baseOf(program)}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.json()).toMatchObject({ checks: { draining: true, journal: 'up' } });
    expect((await fetch(`${baseOf(program)}/healthz`)).status).toBe(200);
  });

  test('serves creates over new connections, and closes each connection after its response', async () => {
    const program = await start(ENDLESS);
    await terminate(program);
    const wire = await Wire.open(program.url);
    wire.write(createText(newKey()));
    const [answer] = await wire.end();
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect(JSON.parse(answer?.body ?? '')).toEqual(CREATED);
  });

  test('keeps an idle connection open, serves the next request on it, and then closes it', async () => {
    const program = await start(ENDLESS);
    const wire = await Wire.open(program.url);
    wire.write(requestText('GET /healthz HTTP/1.1', ['Host: localhost']));
    expect((await wire.answers(1))[0]?.headers['connection']).not.toBe('close');
    await terminate(program);
    expect((await fetch(`${baseOf(program)}/readyz`)).status).toBe(503);
    expect(wire.isOpen).toBe(true);
    wire.write(createText(newKey()));
    const [, created] = await wire.end();
    expect(created).toMatchObject({ status: 200, headers: { connection: 'close' } });
  });

  test('closes a connection after the response to a request that was in flight at the signal', async () => {
    const program = await start(ENDLESS);
    const hold = holdCreates();
    const wire = await Wire.open(program.url);
    wire.write(createText(newKey()));
    await until(
      () => service.asked('create-payment').length,
      (count) => count === 1,
    );
    await terminate(program);
    hold.open();
    expect((await wire.end()).map(({ headers }) => headers['connection'])).toEqual(['close']);
  });

  test('serves pipelined requests before it closes their connection', async () => {
    const program = await start(ENDLESS);
    const hold = holdCreates();
    await terminate(program);
    const wire = await Wire.open(program.url);
    wire.write(createText(newKey()) + createText(newKey()));
    // The second waits for the response to the first.
    await until(
      () => service.asked('create-payment').length,
      (count) => count === 1,
    );
    hold.open();
    const answers = await wire.end();
    expect(answers.map(({ body }) => JSON.parse(body) as unknown)).toEqual([CREATED, CREATED]);
    expect(answers[1]?.headers['connection']).toBe('close');
  });

  test('keeps subscriptions and takes new ones, and ends all of them after the delay', async () => {
    const program = await start({ ...SHORT, SHUTDOWN_DELAY_MS: '3000' });
    const created = await program.create('payment', newKey());
    const operation = { query: WATCH, variables: { channel: CHANNEL, id: created.transactionId } };
    const before = await WireClient.ready(program.url, AUTHORIZED);
    before.subscribe('1', operation);
    expect(await before.next()).toMatchObject({ type: 'next' });
    await terminate(program);
    const after = await EventStream.open(`${program.url}/stream`, operation);
    expect(after.headers['connection']).toBe('close');
    expect(await after.nextData()).toMatchObject({ status: created.status });
    expect(before.socket.readyState).toBe(before.socket.OPEN);
    expect((await before.closed).code).toBe(1001);
    expect(await after.rest()).toEqual([]);
    expect(await program.exited).toBe(0);
  });

  test('lets work in flight end after the delay', async () => {
    const program = await start(SHORT);
    const hold = holdCreates();
    const create = program.create('payment', newKey());
    await until(
      () => service.asked('create-payment').length,
      (count) => count === 1,
    );
    await terminate(program);
    await until(
      () =>
        fetch(`${baseOf(program)}/healthz`).then(
          () => 'accepted',
          () => 'refused',
        ),
      (connection) => connection === 'refused',
    );
    hold.open();
    expect(await create).toMatchObject({ result: 'PaymentSuccess' });
    expect(await program.exited).toBe(0);
  });

  test('sends the response of a create in flight when an incomplete request is pipelined behind it', async () => {
    const program = await start(SHORT);
    const hold = holdCreates();
    const [wire, silent] = await Promise.all([Wire.open(program.url), Wire.open(program.url)]);
    wire.write(createText(newKey()) + createText(newKey()).slice(0, -1));
    await until(
      () => service.asked('create-payment').length,
      (count) => count === 1,
    );
    await terminate(program);
    // The gateway closes silent connections when it ends the others.
    await silent.end();
    hold.open();
    const [created] = await wire.end();
    expect(JSON.parse(created?.body ?? '')).toEqual(CREATED);
    expect(await program.exited).toBe(0);
    expect(service.asked('create-payment')).toHaveLength(1);
  });

  test('does not wait beyond it for connections that are idle or silent', async () => {
    const program = await start(SHORT);
    const wires = await Promise.all(Array.from({ length: 3 }, () => Wire.open(program.url)));
    wires[1]?.write('POST /graphql HTTP/1.1\r\nHost: ');
    wires[2]?.write(requestText('GET /healthz HTTP/1.1', ['Host: localhost']));
    await wires[2]?.answers(1);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    wires.forEach((wire) => wire.close());
  });

  test('serves a request whose connection was accepted before the end of the delay', async () => {
    const program = await start(SHORT);
    const wire = await Wire.open(program.url);
    const text = createText(newKey());
    wire.write(text.slice(0, 20));
    await terminate(program);
    await until(
      () =>
        Wire.open(program.url).then(
          (other) => other.close(),
          () => 'refused',
        ),
      (connection) => connection === 'refused',
    );
    wire.write(text.slice(20));
    const [answer] = await wire.end();
    expect(JSON.parse(answer?.body ?? '')).toEqual(CREATED);
    expect(await program.exited).toBe(0);
  });

  test('ends at once at a second signal, with exit code 1', async () => {
    const program = await start(ENDLESS);
    await terminate(program);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
  });

  test('drains every worker', async () => {
    const program = await start({ ...ENDLESS, WORKERS: '2' });
    await terminate(program);
    // Connections are given to the workers in turn, and each worker learns of the signal by itself.
    await until(
      () => Promise.all([1, 2, 3, 4].map(async () => (await fetch(`${baseOf(program)}/readyz`)).status)),
      (statuses) => statuses.every((status) => status === 503),
    );
    expect(await program.create('payment', newKey())).toMatchObject({ result: 'PaymentSuccess' });
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
  });

  test('lets workers end in order after the delay', async () => {
    const program = await start({ ...SHORT, WORKERS: '2' });
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });
});
