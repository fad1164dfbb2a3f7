import { DEPARTURES, LEAVES, comeAndLeave, type Departure, type Leave } from '../attack/departures';
import { Wire, postText } from '../attack/wire';
import { Caller, createInput } from '../exactly-once/support/caller';
import { until } from '../exactly-once/support/gate';
import { newKey } from '../exactly-once/support/rig';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { holdNext } from './support/held';
import { heapInUse, openSockets } from './support/resources';
import { startServer, type Server } from './support/servers';

const headers = [`Authorization: ${AUTHORIZED.authorization}`];

let server: Server;
let caller: Caller;

beforeAll(async () => {
  server = await startServer();
  caller = new Caller(server.base);
  // What is made once, and stays: connections to the service, caches, compiled code.
  await caller.create('payment', newKey());
});

const lookup = (): string =>
  JSON.stringify({
    query: `{ payment(channel: "${CHANNEL}", externalId: "${newKey()}") { __typename } }`,
  });

const create = (key: string): string =>
  JSON.stringify({
    query: 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
    variables: { input: createInput('payment', key) },
  });

/** Waits until the gateway holds no more connections than that. */
const backTo = (count: number): Promise<number> => until(openSockets, (now) => now <= count);

/** Those of the gateway to the service are kept for the next call. */
const SPARE_CONNECTIONS = 30;

const cases = DEPARTURES.flatMap((departure) =>
  LEAVES.map(([how, leave]): [string, string, Departure, Leave] => [how, departure.name, departure, leave]),
);

test.each(cases)(
  'a client that %s %s, 60 times over, leaves nothing behind',
  async (_how, _when, departure, leave) => {
    const before = openSockets();
    for (let round = 0; round < 6; round += 1) {
      const leaving = Array.from({ length: 10 }, () =>
        comeAndLeave(server.base, departure, lookup(), { headers, leave }),
      );
      await Promise.all(leaving);
    }
    await backTo(before + SPARE_CONNECTIONS);
    expect((await server.client.ask('{ __typename }')).status).toBe(200);
  },
);

test('a thousand clients that come and go take no memory along', async () => {
  const departure = DEPARTURES.find(({ name }) => name === 'before the answer')!;
  const [, leave] = LEAVES[1]!;
  const rounds = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round += 1)
      await Promise.all(
        Array.from({ length: 20 }, () => comeAndLeave(server.base, departure, lookup(), { headers, leave })),
      );
    server.service.seen.length = 0;
    server.logLines.length = 0;
  };
  await rounds(10);
  const before = heapInUse();
  await rounds(50);
  expect(heapInUse() - before).toBeLessThan(50);
});

describe('A create whose caller has left', () => {
  test.each(LEAVES)('is carried out once: it %s when the service has the request', async (_how, leave) => {
    const key = newKey();
    const held = holdNext(server.service, 'create-payment');
    const wire = await Wire.open(server.base);
    wire.write(postText(create(key), [`Host: ${new URL(server.base).host}`, ...headers]));
    await held.arrived();
    leave(wire);
    wire.socket.resume();
    await wire.closed;
    held.release();
    const attempt = await until(
      () => caller.attempt(key),
      (seen) => seen?.outcome === 'SUCCEEDED',
    );
    expect(attempt?.payment?.transactionId).toBe(server.service.created(key)[0]?.transactionId);
    expect(await caller.create('payment', key)).toMatchObject({ result: 'PaymentSuccess', replayed: true });
    expect(server.service.created(key)).toHaveLength(1);
  });

  test.each(LEAVES)('is carried out once or never: it %s as soon as all is sent', async (_how, leave) => {
    const keys = Array.from({ length: 40 }, newKey);
    const departure = DEPARTURES.find(({ name }) => name === 'before the answer')!;
    await Promise.all(
      keys.map((key) => comeAndLeave(server.base, departure, create(key), { headers, leave })),
    );
    for (const key of keys) {
      const end = await until(
        () => caller.create('payment', key),
        ({ result }) => result !== 'RequestInProgressError',
      );
      expect(end.result).toBe('PaymentSuccess');
      expect(server.service.created(key)).toHaveLength(1);
    }
  });

  test('in the middle of its body is not carried out at all', async () => {
    const key = newKey();
    const text = postText(create(key), [`Host: ${new URL(server.base).host}`, ...headers]);
    const wire = await Wire.open(server.base);
    wire.write(text.slice(0, -1));
    wire.socket.end();
    wire.socket.resume();
    await wire.closed;
    expect(await caller.attempt(key)).toBeNull();
    expect(server.service.created(key)).toHaveLength(0);
  });
});
