import type { Fault } from './service/faulty-service';
import { reset } from './service/faults';
import { describeSqlite, newKey, type Rig } from './support/rig';

const MINUTE = 60_000;
/** UNKNOWN_SETTLE_SECONDS where it is not set. */
const SETTLE = 15 * MINUTE;

type Reply = NonNullable<Fault['reply']>;

/** A 404 with that content type and body. */
const notFound =
  (type: string, body: string): Reply =>
  (connection) =>
    connection.send({ status: 404, json: {}, headers: { 'content-type': type } }, body);

const NGINX = '<html>\r\n<head><title>404 Not Found</title></head>\r\n</html>\r\n';
const FOREIGN: [string, Reply][] = [
  ['in the HTML of a proxy', notFound('text/html', NGINX)],
  ['without a body', notFound('application/json', '')],
  ['in plain text', notFound('text/plain', '{}')],
  ['as a JSON list', notFound('application/json', '[]')],
  ['as a JSON text', notFound('application/json', '"not found"')],
  ['as JSON that is cut short', notFound('application/json', '{"message":"no')],
];

const sent = ({ service }: Rig, key: string): number =>
  service.seen.filter(({ purpose, json }) => purpose.startsWith('create-') && json['description'] === key)
    .length;

async function lose(rig: Rig, key: string): Promise<void> {
  rig.service.next('create-payment', { acts: true, reply: reset });
  expect(await rig.create('payment', key)).toMatchObject({ result: 'OutcomeUnknownError' });
}

/** Asks with the same key, again and again, while that much time passes. */
async function askFor(rig: Rig, key: string, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += MINUTE) {
    rig.clock.advance(MINUTE);
    await rig.create('payment', key);
  }
}

describeSqlite('A lost payment, when lookups are answered with 404', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start();
  });

  test.each(FOREIGN)('%s, is not sent again, however long that lasts', async (_name, reply) => {
    const key = newKey();
    rig.service.plan((purpose) => (purpose === 'look-up-payment' ? { acts: true, reply } : undefined));
    await lose(rig, key);
    await askFor(rig, key, 2 * SETTLE);
    expect(sent(rig, key)).toBe(1);
    expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN' });
    rig.service.plan(() => undefined);
    rig.clock.advance(MINUTE);
    expect(await rig.create('payment', key)).toMatchObject({ result: 'PaymentSuccess', replayed: true });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test('in JSON, by a backend that does not know what was created before either, is not sent again', async () => {
    await rig.create('payment', newKey());
    const key = newKey();
    const reply = notFound('application/json', '{"message":"no Route matched with those values"}');
    rig.service.plan((purpose) => (purpose === 'look-up-payment' ? { acts: true, reply } : undefined));
    await lose(rig, key);
    await askFor(rig, key, 2 * SETTLE);
    expect(sent(rig, key)).toBe(1);
  });

  test('in JSON without the fields of SERVICE_NOT_FOUND_FIELDS, is not sent again', async () => {
    const strict = await rigs.start({ env: { SERVICE_NOT_FOUND_FIELDS: 'code,message' } });
    const key = newKey();
    const reply = notFound('application/json', '{"message":"no Route matched with those values"}');
    strict.service.plan((purpose) => (purpose === 'look-up-payment' ? { acts: true, reply } : undefined));
    await lose(strict, key);
    await askFor(strict, key, 2 * SETTLE);
    expect(sent(strict, key)).toBe(1);
  });

  test('for one bad moment only, is not sent again', async () => {
    const key = newKey();
    const { ledger } = rig.service;
    ledger.lag = { ms: 0, lookups: 1_000_000 };
    await lose(rig, key);
    rig.clock.advance(MINUTE);
    for (let round = 0; round < 20; round += 1) await rig.create('payment', key);
    const reply: Reply = (connection) => connection.send({ status: 503, json: {} });
    rig.service.plan((purpose) => (purpose === 'look-up-payment' ? { acts: true, reply } : undefined));
    await askFor(rig, key, 2 * SETTLE);
    rig.service.plan(() => undefined);
    await rig.create('payment', key);
    expect(sent(rig, key)).toBe(1);
  });
});

describeSqlite('A payout whose external id is looked up first', (rigs) => {
  test.each(FOREIGN)('is not sent when the answer is a 404 %s', async (_name, reply) => {
    const rig = await rigs.start();
    const key = newKey();
    rig.service.plan((purpose) => (purpose === 'look-up-payout' ? { acts: true, reply } : undefined));
    expect(await rig.create('payout', key)).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(sent(rig, key)).toBe(0);
    rig.service.plan(() => undefined);
    expect(await rig.create('payout', key)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });
});
