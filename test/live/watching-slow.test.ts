import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { until } from '../changes/support/feeds';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { CountedService } from './support/counted-service';
import { SELDOM } from './support/instances';
import { ServerSockets } from './support/server-sockets';
import { askPayment, liveClient, watchPayment } from './support/watching';

const CHANGES = 2000;
/** A change is as large as an address may be, as often as a document may ask for it: no socket holds all of them. */
const TIMES = 20;
const address = (place: number): string => `https://pay.example/${place}/${'x'.repeat(8000)}`;
const DOCUMENT = (id: string): string =>
  `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${id}") { ... on PaymentResource {
    ${Array.from({ length: TIMES }, (_, place) => `u${place}: redirectUrl`).join(' ')} } } }`;

let service: CountedService;
let gateway: TestClient;
let sockets: ServerSockets;

beforeAll(async () => {
  sockets = new ServerSockets();
  service = await CountedService.start();
  gateway = await testGateway(service.url, { env: { ...SELDOM, WATCH_HEARTBEAT_SECONDS: '3600' } });
});

afterAll(() => sockets.stop());

/** A client that can stop reading: what it has read, as the numbers of the changes. */
async function slowClient(id: string) {
  let raw: Socket | undefined;
  const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', {
    headers: AUTHORIZED,
    createConnection: (() => (raw = connect(Number(new URL(gateway.url).port), '127.0.0.1'))) as never,
  });
  const seen: number[] = [];
  let completed = false;
  socket.on('message', (data: Buffer) => {
    const text = data.toString();
    const { type } = JSON.parse(text) as { type: string };
    if (type === 'connection_ack')
      socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: DOCUMENT(id) } }));
    if (type === 'next') seen.push(Number(/pay\.example\/(\d+)\//.exec(text)?.[1]));
    if (type === 'complete') completed = true;
  });
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send('{"type":"connection_init"}');
  await until('it watches', () => seen.length === 1);
  return {
    seen,
    isCompleted: () => completed,
    socket,
    server: sockets.to(raw?.localPort),
  };
}

const withAddress = (place: number) => ({ payment_method: { type: 'card' }, redirect_url: address(place) });

/** Every one of them is seen by the gateway, one after the other. Returns the most that it kept for the client. */
async function changeOften(id: string, from: number, until: number, kept: () => number): Promise<number> {
  let most = 0;
  for (let place = from; place < until; place += 1) {
    service.change(id, withAddress(place));
    await askPayment(gateway, id, '... on PaymentResource { status }');
    most = Math.max(most, kept());
  }
  return most;
}

test(`A watcher that stops reading for ${CHANGES} changes is given the newest, and the gateway keeps no queue for it`, async () => {
  const id = service.payment(withAddress(0));
  const fast = watchPayment(liveClient(gateway), id, '... on PaymentResource { redirectUrl }');
  const slow = await slowClient(id);
  await fast.told(1);
  slow.socket.pause();
  const most = await changeOften(id, 1, CHANGES, () => slow.server.writableLength);
  // No more than the one result that is being sent.
  expect(most).toBeLessThan(2 * TIMES * 8100);
  expect(most).toBeGreaterThan(0);
  await fast.sees({ redirectUrl: address(CHANGES - 1) });
  slow.socket.resume();
  await until('it has caught up', () => slow.seen.at(-1) === CHANGES - 1);
  // What the operating system had taken before it was full, then the newest.
  expect(slow.seen.length).toBeLessThan(CHANGES / 4);
  expect(slow.seen).toEqual([...slow.seen].sort((a, b) => a - b));
  service.change(id, { status: 'completed', redirect_url: address(CHANGES) });
  await askPayment(gateway, id);
  await until('it is completed', slow.isCompleted);
  expect(slow.seen.at(-1)).toBe(CHANGES);
  slow.socket.terminate();
});

test('A watcher that does not read while a payment is completed is given that when it does', async () => {
  const id = service.payment(withAddress(0));
  const slow = await slowClient(id);
  slow.socket.pause();
  await changeOften(id, 1, 200, () => 0);
  service.change(id, { status: 'completed', redirect_url: address(200) });
  await askPayment(gateway, id);
  slow.socket.resume();
  await until('it is completed', slow.isCompleted);
  expect(slow.seen.at(-1)).toBe(200);
  expect(slow.seen.length).toBeLessThan(150);
  slow.socket.terminate();
});

test('A watcher that does not read holds no other back', async () => {
  const id = service.payment(withAddress(0));
  const slow = await slowClient(id);
  slow.socket.pause();
  const others = Array.from({ length: 5 }, () =>
    watchPayment(liveClient(gateway), id, '... on PaymentResource { redirectUrl }'),
  );
  await Promise.all(others.map((other) => other.told(1)));
  for (let place = 1; place <= 100; place += 1) {
    service.change(id, withAddress(place));
    await askPayment(gateway, id, '... on PaymentResource { status }');
    await Promise.all(others.map((other) => other.sees({ redirectUrl: address(place) })));
  }
  expect(others.map(({ values }) => values.length)).toEqual(others.map(() => 101));
  slow.socket.terminate();
});
