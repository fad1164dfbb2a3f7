import { latch } from '../support/latch';
import type { Fault, FaultPlan, FaultReply } from '../support/payment-service/fake-payment-service';
import { LOST_RESPONSES, altered, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import {
  KINDS,
  MINUTE,
  SETTLE,
  SUCCESS,
  loseResponse,
  loseHiddenResponse,
  repeatFor,
  sent,
  untilDone,
  untilSent,
} from './support/creates';

/** Number of faults checked at once. With more, calls on a slow machine exceed the time limit of the recovery. */
const AT_ONCE = 8;
const TIMEOUT_MS = 4000;
/** Allowance for a busy machine. */
const SLACK_MS = 5000;

describeSqlite('A create whose response is lost or wrong', (harnesses) => {
  /** Faults by key. */
  const faultOf = new Map<unknown, Fault>();
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start({ env: { SERVICE_TIMEOUT_MS: String(TIMEOUT_MS) } });
    harness.service.plan((_endpoint, { json }) => faultOf.get(json['description']));
  });

  test.each(KINDS)('finds the created %s in the same call, and replays it in later calls', async (kind) => {
    const check = async (reply: FaultReply): Promise<void> => {
      const key = newKey();
      faultOf.set(key, { acts: true, reply });
      const startedAt = performance.now();
      const first = await harness.create(kind, key);
      expect(performance.now() - startedAt).toBeLessThan(2 * TIMEOUT_MS + SLACK_MS);
      const { transactionId } = harness.service.created(key)[0] ?? {};
      const found = { result: SUCCESS[kind], replayed: true, transactionId };
      expect([first, await untilDone(() => harness.create(kind, key))]).toMatchObject([found, found]);
      expect(await harness.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
      expect([harness.service.created(key).length, sent(harness.service, kind, key)]).toEqual([1, 1]);
    };
    const [left, failed] = [Object.entries(LOST_RESPONSES), new Map<string, unknown>()];
    const checkNext = async (): Promise<void> => {
      for (let next = left.shift(); next; next = left.shift()) {
        const [name, reply] = next;
        await check(reply).catch((error: unknown) => failed.set(name, error));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, checkNext));
    expect(failed).toEqual(new Map());
  });

  test.each(KINDS)('finds the %s if the response has the id of another transaction', async (kind) => {
    const [key, other] = [newKey(), newKey()];
    const { transactionId } = await harness.create(kind, other);
    harness.service.next(`create-${kind}`, { acts: true, reply: altered({ transaction_id: transactionId }) });
    const first = await harness.create(kind, key);
    expect(first.transactionId).not.toBe(transactionId);
    const end = await untilDone(() => harness.create(kind, key));
    const [created] = harness.service.created(key);
    expect(end).toMatchObject({ replayed: true, transactionId: created?.transactionId });
  });
});

describeSqlite('A late second response to a create', (harnesses) => {
  let harness: Harness;

  beforeEach(async () => {
    harness = await harnesses.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
  });

  test.each(KINDS)('is not used for the next %s on the same connection', async (kind) => {
    const [key, next] = [newKey(), newKey()];
    const [late, written] = [latch(), latch()];
    harness.service.next(
      `create-${kind}`,
      {
        acts: true,
        reply: (connection, response) => {
          connection.send(response);
          void late.opened.then(() => {
            connection.send(response);
            written.open();
          });
        },
      },
      { acts: true, first: written.opened },
    );
    const first = await harness.create(kind, key);
    const second = harness.create(kind, next);
    await untilSent(harness.service, kind, next);
    late.open();
    expect(first.transactionId).toBe(harness.service.created(key)[0]?.transactionId);
    expect((await second).transactionId).toBe(harness.service.created(next)[0]?.transactionId);
  });
});

const notFound =
  (type: string, body: string): FaultReply =>
  (connection) =>
    connection.send({ status: 404, json: {}, headers: { 'content-type': type } }, body);

const NGINX = '<html>\r\n<head><title>404 Not Found</title></head>\r\n</html>\r\n';
const KONG = notFound('application/json', '{"message":"no Route matched with those values"}');
const FOREIGN: [string, FaultReply][] = [
  ['in the HTML of a proxy', notFound('text/html', NGINX)],
  ['without a body', notFound('application/json', '')],
  ['as JSON that is cut short', notFound('application/json', '{"message":"no')],
];

const lookupsAnswer =
  (reply: FaultReply): FaultPlan =>
  (endpoint) =>
    endpoint.startsWith('look-up') ? { acts: true, reply } : undefined;

describeSqlite('A 404 that a proxy or another backend sends for a lookup', (harnesses) => {
  test.each(FOREIGN)(
    'neither releases the key of a payment whose response was lost nor allows a payout: %s',
    async (_, reply) => {
      const harness = await harnesses.start();
      const [payment, payout] = [newKey(), newKey()];
      harness.service.plan(lookupsAnswer(reply));
      await loseResponse(harness, 'payment', payment, true);
      await repeatFor(harness, payment, 2 * SETTLE);
      expect(sent(harness.service, 'payment', payment)).toBe(1);
      expect(await harness.attempt(payment)).toMatchObject({ outcome: 'UNKNOWN' });
      const refused = await harness.create('payout', payout);
      expect(refused).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(sent(harness.service, 'payout', payout)).toBe(0);
      harness.service.plan(() => undefined);
      harness.clock.advance(MINUTE);
      expect(await harness.create('payment', payment)).toMatchObject({ replayed: true });
      expect(harness.service.created(payment)).toHaveLength(1);
      expect(await harness.create('payout', payout)).toMatchObject({ replayed: false });
    },
  );

  test.each(['', 'code,message'])(
    'does not release the key of a payment whose response was lost, even in JSON (SERVICE_NOT_FOUND_FIELDS: %j)',
    async (fields) => {
      const harness = await harnesses.start({ env: { SERVICE_NOT_FOUND_FIELDS: fields } });
      // Without expected fields, the gateway needs an earlier transaction, which the other backend does not know.
      if (fields === '') await harness.create('payment', newKey());
      const key = newKey();
      harness.service.plan(lookupsAnswer(KONG));
      await loseResponse(harness, 'payment', key, true);
      await repeatFor(harness, key, 2 * SETTLE);
      expect(sent(harness.service, 'payment', key)).toBe(1);
    },
  );
});

describeSqlite('Many 404s for lookups within a short time', (harnesses) => {
  test('do not release the key of a payment whose response was lost', async () => {
    const harness = await harnesses.start();
    const key = newKey();
    await loseHiddenResponse(harness, 'payment', key);
    harness.clock.advance(MINUTE);
    for (let round = 0; round < 20; round += 1) await harness.create('payment', key);
    harness.service.plan(lookupsAnswer(status(503)));
    await repeatFor(harness, key, 2 * SETTLE);
    harness.service.plan(() => undefined);
    await harness.create('payment', key);
    expect(sent(harness.service, 'payment', key)).toBe(1);
  });
});
