import { gate } from '../support/latch';
import type { Endpoint, Fault, FaultReply } from '../support/payment-service/fake-payment-service';
import { LOST_ANSWERS, altered, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Rig } from '../support/harness';
import {
  KINDS,
  MINUTE,
  SETTLE,
  SUCCESS,
  forEveryFault,
  lose,
  loseHidden,
  repeatFor,
  sent,
  untilDone,
  untilOutcome,
  untilSent,
} from './support/creates';

const FAULTS = Object.entries(LOST_ANSWERS);
/** A confirm has no amount and no external id that its response could contradict. */
const CONFIRM_FAULTS = FAULTS.filter(([name]) => !/currency|value|external id/.test(name));

const TIMEOUT_MS = 2000;
/** Allowance for a busy machine. */
const SLACK_MS = 5000;

describeSqlite('When the response of the service is lost in any way', (rigs) => {
  /** The fault of a create by its key, and of a confirm by its payment. */
  const faultOf = new Map<unknown, Fault>();
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start({ env: { SERVICE_TIMEOUT_MS: String(TIMEOUT_MS) } });
    rig.service.plan((endpoint, { json }) =>
      faultOf.get(endpoint === 'confirm' ? json['id'] : json['description']),
    );
  });

  test.each(KINDS)('a %s that was created is found, at once and by the same key', async (kind) => {
    await forEveryFault(FAULTS, async (reply) => {
      const key = newKey();
      faultOf.set(key, { acts: true, reply });
      const startedAt = performance.now();
      const first = await rig.create(kind, key);
      expect(performance.now() - startedAt).toBeLessThan(2 * TIMEOUT_MS + SLACK_MS);
      const { transactionId } = rig.service.created(key)[0] ?? {};
      const found = { result: SUCCESS[kind], replayed: true, transactionId };
      expect([first, await rig.create(kind, key)]).toMatchObject([found, found]);
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED', [kind]: { transactionId } });
      expect([rig.service.created(key).length, sent(rig.service, kind, key)]).toEqual([1, 1]);
    });
  });

  test.each(KINDS)('a %s that was not created is unknown, and not sent again', async (kind) => {
    await forEveryFault(FAULTS, async (reply) => {
      const key = newKey();
      faultOf.set(key, { acts: false, reply });
      const unknown = {
        result: 'OutcomeUnknownError',
        idempotencyKey: key,
        externalId: `order ${key}`,
        transactionId: null,
      };
      const first = await rig.create(kind, key);
      expect([first, await rig.create(kind, key)]).toMatchObject([unknown, unknown]);
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'UNKNOWN', settledAt: null, [kind]: null });
      expect([rig.service.created(key).length, sent(rig.service, kind, key)]).toEqual([0, 1]);
    });
  });

  test.each([true, false])(
    'a confirm returns the resulting state, or is unknown (carried out: %s)',
    async (acts) => {
      await forEveryFault(CONFIRM_FAULTS, async (reply) => {
        const id = (await rig.create('payment', newKey())).transactionId ?? '';
        faultOf.set(id, { acts, reply });
        const success = { result: 'PaymentSuccess', replayed: true };
        const unknown = { result: 'OutcomeUnknownError', idempotencyKey: null, externalId: null };
        expect(await rig.confirm(id)).toMatchObject({ ...(acts ? success : unknown), transactionId: id });
        const requests = rig.service.requestsTo('confirm').filter(({ json }) => json['id'] === id);
        const confirms = rig.service.ledger.byId('payment', id)?.confirms;
        expect([requests.length, confirms]).toEqual([1, Number(acts)]);
      });
    },
  );

  test.each(KINDS)('a %s that lookups show later is found in the background', async (kind) => {
    const key = newKey();
    const show = await loseHidden(rig, kind, key);
    const transactionId = show();
    expect(await untilOutcome(rig, key, 'SUCCEEDED')).toMatchObject({ [kind]: { transactionId } });
    expect(rig.service.created(key)).toHaveLength(1);
  });

  test.each(KINDS)(
    'a %s is found by its own id after a response with another id',
    async (kind) => {
      const [key, other] = [newKey(), newKey()];
      const { transactionId } = await rig.create(kind, other);
      rig.service.next(`create-${kind}`, { acts: true, reply: altered({ transaction_id: transactionId }) });
      await rig.create(kind, key);
      const end = await untilDone(() => rig.create(kind, key));
      expect(end).toMatchObject({
        replayed: true,
        transactionId: rig.service.created(key)[0]?.transactionId,
      });
    },
  );
});

describeSqlite('A connection to the service', (rigs) => {
  let rig: Rig;

  beforeEach(async () => {
    rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off' } });
  });

  test('that the service closes after its response loses no create, as each create opens a new one', async () => {
    const reply: FaultReply = (connection, response) => {
      connection.send(response);
      connection.end();
    };
    rig.service.plan((endpoint) => (endpoint.startsWith('create') ? { acts: true, reply } : undefined));
    for (let round = 0; round < 20; round += 1)
      expect(await rig.create(KINDS[round % 2]!, newKey())).toMatchObject({ replayed: false });
    expect(rig.service.connections).toBe(20);
  });

  test.each(KINDS)('does not use a late second response for the next %s', async (kind) => {
    const [key, next] = [newKey(), newKey()];
    const [late, written] = [gate(), gate()];
    rig.service.next(
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
    const first = await rig.create(kind, key);
    const second = rig.create(kind, next);
    await untilSent(rig.service, kind, next);
    late.open();
    expect(first.transactionId).toBe(rig.service.created(key)[0]?.transactionId);
    expect((await second).transactionId).toBe(rig.service.created(next)[0]?.transactionId);
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
  ['as a JSON list', notFound('application/json', '[]')],
  ['as JSON that is cut short', notFound('application/json', '{"message":"no')],
];

const lookupsAnswer =
  (reply: FaultReply) =>
  (endpoint: Endpoint): Fault | undefined =>
    endpoint.startsWith('look-up') ? { acts: true, reply } : undefined;

describeSqlite('A 404 to a lookup that the service itself did not send', (rigs) => {
  test.each(FOREIGN)('never releases a lost payment, and no payout is sent: %s', async (_name, reply) => {
    const rig = await rigs.start();
    const [payment, payout] = [newKey(), newKey()];
    rig.service.plan(lookupsAnswer(reply));
    await lose(rig, 'payment', payment, true);
    await repeatFor(rig, payment, 2 * SETTLE);
    expect(sent(rig.service, 'payment', payment)).toBe(1);
    expect(await rig.attempt(payment)).toMatchObject({ outcome: 'UNKNOWN' });
    const refused = await rig.create('payout', payout);
    expect(refused).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
    expect(sent(rig.service, 'payout', payout)).toBe(0);
    rig.service.plan(() => undefined);
    rig.clock.advance(MINUTE);
    expect(await rig.create('payment', payment)).toMatchObject({ result: 'PaymentSuccess', replayed: true });
    expect(rig.service.created(payment)).toHaveLength(1);
    expect(await rig.create('payout', payout)).toMatchObject({ result: 'PayoutSuccess', replayed: false });
  });

  test.each<[fields: string, env: Record<string, string>]>([
    ['any', {}],
    ['other', { SERVICE_NOT_FOUND_FIELDS: 'code,message' }],
  ])('never releases it if it is JSON of another backend, with %s fields', async (fields, env) => {
    const rig = await rigs.start({ env });
    // Without fields an earlier transaction is required, which the other backend does not know.
    if (fields === 'any') await rig.create('payment', newKey());
    const key = newKey();
    rig.service.plan(lookupsAnswer(KONG));
    await lose(rig, 'payment', key, true);
    await repeatFor(rig, key, 2 * SETTLE);
    expect(sent(rig.service, 'payment', key)).toBe(1);
  });

  test('does not release it if the service sent many within a moment', async () => {
    const rig = await rigs.start();
    const key = newKey();
    await loseHidden(rig, 'payment', key);
    rig.clock.advance(MINUTE);
    for (let round = 0; round < 20; round += 1) await rig.create('payment', key);
    rig.service.plan(lookupsAnswer(status(503)));
    await repeatFor(rig, key, 2 * SETTLE);
    rig.service.plan(() => undefined);
    await rig.create('payment', key);
    expect(sent(rig.service, 'payment', key)).toBe(1);
  });
});
