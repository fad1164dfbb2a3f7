import { WebSocket } from 'ws';
import { until } from '../changes/support/feeds';
import { movedClock } from '../support/moved-clock';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, type TestClient } from '../support/gateway';
import { AT_PROVIDER, CountedService } from './support/counted-service';
import { EventStream } from './support/event-stream';
import { askPayment, liveClient, watchPayment } from './support/watching';

let clock: ReturnType<typeof movedClock>;
let service: CountedService;
let gateway: TestClient;
let logLines: string[];

beforeEach(async () => {
  clock = movedClock();
  logLines = [];
  service = await CountedService.start(clock);
  gateway = await testGateway(service.url, { clock, logLines, env: { WATCH_HEARTBEAT_SECONDS: '3600' } });
});

/** A round through gateway and service, in which a look that had begun before would have arrived. */
const round = (): Promise<unknown> => askPayment(gateway, service.payment());

/** Resolves when the gateway has noticed that so many have gone. */
const gone = (count: number): Promise<void> =>
  until('the gateway has noticed', () => {
    return logLines.filter((line) => line.includes('"operation":"subscription"')).length >= count;
  });

async function expectPolled(id: string): Promise<void> {
  const before = service.count(id);
  clock.advance(5000);
  await until('it is looked at', () => service.count(id) > before);
}

async function expectNotPolled(id: string): Promise<void> {
  await round();
  const before = service.count(id);
  for (let minute = 0; minute < 10; minute += 1) {
    clock.advance(60_000);
    await round();
  }
  expect(service.count(id)).toBe(before);
}

const QUERY = (id: string): string =>
  `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${id}") { ... on PaymentResource { status } } }`;

describe('When the last watcher has left, nobody looks at the payment', () => {
  test('by completing the subscription', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    const [first, second] = [watchPayment(client, id), watchPayment(client, id)];
    await Promise.all([first.told(1), second.told(1)]);
    first.leave();
    await gone(1);
    await expectPolled(id);
    second.leave();
    await gone(2);
    await expectNotPolled(id);
  });

  test('by closing the connection', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    const watchers = Array.from({ length: 20 }, () => watchPayment(client, id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    await expectPolled(id);
    await client.dispose();
    await gone(20);
    await expectNotPolled(id);
  });

  test('by vanishing', async () => {
    const id = service.payment();
    const socket = new WebSocket(gateway.url.replace('http', 'ws'), 'graphql-transport-ws', {
      headers: AUTHORIZED,
    });
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => {
      heard.push(data.toString());
      if (heard.length === 1)
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: QUERY(id) } }));
    });
    await until('it watches', () => heard.length === 2);
    await expectPolled(id);
    socket.terminate();
    await gone(1);
    await expectNotPolled(id);
  });

  test('by closing an event stream', async () => {
    const id = service.payment();
    const stream = await EventStream.open(`${gateway.url}/stream`, { query: QUERY(id) });
    expect(await stream.nextData()).toEqual({ status: 'PROCESSING' });
    await expectPolled(id);
    stream.leave();
    await gone(1);
    await expectNotPolled(id);
  });

  test('before the first answer came', async () => {
    const id = service.payment();
    const held = service.hold();
    const watcher = watchPayment(liveClient(gateway), id);
    await held.arrived;
    watcher.leave();
    await gone(1);
    held.release();
    await expectNotPolled(id);
    expect(service.count(id)).toBe(1);
    expect(watcher.values).toEqual([]);
  });

  test('while a look is under way', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    const held = service.hold();
    await service.looksAgain(clock, id);
    await held.arrived;
    watcher.leave();
    await gone(1);
    held.release();
    await expectNotPolled(id);
  });

  test('while the service fails', async () => {
    const id = service.payment();
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    service.instead = ({ query }) => (query.includes(id) ? { status: 401, json: {} } : undefined);
    await service.looksAgain(clock, id, 2);
    watcher.leave();
    await gone(1);
    await expectNotPolled(id);
  });

  test('and whoever comes later begins a new watch', async () => {
    const id = service.payment();
    const client = liveClient(gateway);
    for (let time = 1; time <= 5; time += 1) {
      const watcher = watchPayment(client, id);
      await watcher.told(1);
      await expectPolled(id);
      watcher.leave();
      await gone(time);
      service.change(id, { amount: { currency: 'INR', value: `${time}.00` } });
      expect(watcher.values).toHaveLength(1);
    }
    await expectNotPolled(id);
  });
});

test.each(['completed', 'failed'])(
  'Nobody looks at a payment that is %s, though its watcher stays connected',
  async (status) => {
    const id = service.payment({ payment_method: AT_PROVIDER });
    const watcher = watchPayment(liveClient(gateway), id);
    await watcher.told(1);
    await expectPolled(id);
    service.change(id, { status });
    await service.looksAgain(clock, id);
    await watcher.ended();
    expect(watcher.completed).toBe(true);
    await expectNotPolled(id);
  },
);

test('A thousand watches that began and ended leave nothing that looks', async () => {
  const ids = Array.from({ length: 100 }, () => service.payment());
  const client = liveClient(gateway);
  for (let turn = 0; turn < 10; turn += 1) {
    const watchers = ids.map((id) => watchPayment(client, id));
    await Promise.all(watchers.map((watcher) => watcher.told(1)));
    for (const watcher of watchers) watcher.leave();
    await gone(100 * (turn + 1));
  }
  await round();
  const before = service.lookups.length;
  for (let minute = 1; minute <= 5; minute += 1) {
    clock.advance(60_000);
    await round();
    expect(service.lookups.length).toBe(before + minute);
  }
});
