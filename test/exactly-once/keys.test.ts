import { html, reset, status, twice } from './service/faults';
import type { Fault } from './service/faulty-service';
import type { End, Kind } from './support/caller';
import { gate, until } from './support/gate';
import { describeStores, newKey, type Rig } from './support/rig';

const KINDS: Kind[] = ['payment', 'payout'];
const SUCCESS = { payment: 'PaymentSuccess', payout: 'PayoutSuccess' } as const;

/** Answers after which nothing was created, for certain. */
const REFUSALS: [string, Fault['reply'], End, string][] = [
  ['400 in HTML', html(400), { result: 'RejectedByServiceError', httpStatus: 400 }, 'REJECTED'],
  ['403', status(403), { result: 'RejectedByServiceError', httpStatus: 403 }, 'REJECTED'],
  ['404', status(404), { result: 'RejectedByServiceError', httpStatus: 404 }, 'REJECTED'],
  ['422', status(422), { result: 'RejectedByServiceError', httpStatus: 422 }, 'REJECTED'],
  ['401', status(401), { error: 'SERVICE_AUTH_FAILED', retryable: false }, 'NOT_SENT'],
  [
    '429 with Retry-After',
    status(429, { 'retry-after': '7' }),
    { error: 'SERVICE_UNAVAILABLE', retryable: true, retryAfterMs: 7000 },
    'NOT_SENT',
  ],
];

/** Many calls at once take their time on a busy machine. */
const PATIENT = { env: { SERVICE_TIMEOUT_MS: '20000' } };

describeStores('A key', (rigs) => {
  let rig: Rig;

  beforeAll(async () => {
    rig = await rigs.start();
  });

  describe.each(KINDS)('of a %s', (kind) => {
    test('creates once, and then answers the current state', async () => {
      const key = newKey();
      const first = await rig.create(kind, key);
      expect(first).toMatchObject({ result: SUCCESS[kind], replayed: false });
      const [created] = rig.service.created(key);
      created!.status = 'completed';
      expect(await rig.create(kind, key)).toEqual({ ...first, replayed: true, status: 'COMPLETED' });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('still succeeds when the current state cannot be looked up', async () => {
      const key = newKey();
      const { transactionId } = await rig.create(kind, key);
      const lookUp = `look-up-${kind}` as const;
      const down = { acts: false, reply: status(503) };
      rig.service.plan((purpose) => (purpose === lookUp ? down : undefined));
      const again = await rig.create(kind, key).finally(() => rig.service.plan(() => undefined));
      expect(again).toMatchObject({ result: SUCCESS[kind], replayed: true, transactionId });
    });

    test('is another operation’s as well: it conflicts there', async () => {
      const key = newKey();
      const [other] = KINDS.filter((name) => name !== kind);
      await rig.create(kind, key);
      expect(await rig.create(other!, key)).toMatchObject({ result: 'IdempotencyConflictError' });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('is in progress while its first call is under way; another input conflicts meanwhile', async () => {
      const key = newKey();
      const hold = gate();
      rig.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      const first = rig.create(kind, key);
      await untilAsked(rig, kind, key);
      const second = await rig.create(kind, key);
      expect(second).toMatchObject({ result: 'RequestInProgressError' });
      expect(second.retryAfterMs).toBeGreaterThan(0);
      const amount = { currency: 'INR', value: '11.00' };
      expect(await rig.create(kind, key, { amount })).toMatchObject({ result: 'IdempotencyConflictError' });
      expect(await rig.attempt(key)).toMatchObject({ outcome: 'IN_PROGRESS' });
      hold.open();
      const { transactionId } = await first;
      expect(await first).toMatchObject({ result: SUCCESS[kind], replayed: false });
      expect(await rig.create(kind, key)).toMatchObject({ replayed: true, transactionId });
    });

    test.each(REFUSALS)('is free after %s, also for other input', async (_name, reply, end, outcome) => {
      const key = newKey();
      rig.service.next(`create-${kind}`, { acts: false, reply });
      expect(await rig.create(kind, key)).toMatchObject(end);
      expect(await rig.attempt(key)).toMatchObject({ outcome, settledAt: expect.any(String) as unknown });
      const amount = { currency: 'INR', value: '12.00' };
      expect(await rig.create(kind, key, { amount })).toMatchObject({
        result: SUCCESS[kind],
        replayed: false,
      });
      expect(rig.service.created(key)).toMatchObject([{ amount }]);
      expect(await rig.create(kind, key)).toMatchObject({ result: 'IdempotencyConflictError' });
    });

    test('is free after a refused connection, and after none was needed', async () => {
      const key = newKey();
      await rig.service.close();
      const refused = await rig.create(kind, key).finally(() => rig.service.listen());
      expect(refused).toMatchObject({ error: 'SERVICE_UNAVAILABLE', retryable: true });
      expect(await rig.create(kind, key)).toMatchObject({ result: SUCCESS[kind], replayed: false });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('creates once where the service answers 200', async () => {
      const key = newKey();
      const ok: Fault['reply'] = (connection, answer) => connection.send({ ...answer, status: 200 });
      rig.service.next(`create-${kind}`, { acts: true, reply: ok });
      expect(await rig.create(kind, key)).toMatchObject({ result: SUCCESS[kind], replayed: false });
    });

    test('creates once where the service answers twice', async () => {
      const [key, next] = [newKey(), newKey()];
      rig.service.next(`create-${kind}`, { acts: true, reply: twice });
      const first = await rig.create(kind, key);
      const second = await rig.create(kind, next);
      expect([first, second]).toMatchObject([{ result: SUCCESS[kind] }, { result: SUCCESS[kind] }]);
      for (const [name, end] of [[key, first] as const, [next, second] as const]) {
        expect(rig.service.created(name)).toMatchObject([{ transactionId: end.transactionId }]);
      }
    });

    test('creates once when 200 calls come at the same time', async () => {
      const key = newKey();
      const patient = await rigs.start(PATIENT);
      const ends = await Promise.all(Array.from({ length: 200 }, () => patient.create(kind, key)));
      expect(patient.service.created(key)).toHaveLength(1);
      expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
      const results = new Set(ends.map(({ result }) => result));
      expect([...results].sort()).toEqual(
        [SUCCESS[kind], 'RequestInProgressError'].filter((name) => results.has(name)).sort(),
      );
      const ids = new Set(ends.flatMap(({ transactionId }) => transactionId ?? []));
      expect([...ids]).toEqual([patient.service.created(key)[0]!.transactionId]);
    });

    test('creates once, although its caller leaves', async () => {
      const key = newKey();
      const hold = gate();
      rig.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      const leaving = new AbortController();
      const left = rig.create(kind, key, {}, leaving.signal).catch(() => 'left');
      await untilAsked(rig, kind, key);
      leaving.abort();
      expect(await left).toBe('left');
      hold.open();
      const end = await untilDone(() => rig.create(kind, key));
      expect(end).toMatchObject({ result: SUCCESS[kind], replayed: true });
      expect(rig.service.created(key)).toHaveLength(1);
    });

    test('whose caller has left is recorded before its gateway has closed', async () => {
      const key = newKey();
      const closing = await rigs.start(PATIENT);
      const hold = gate();
      closing.service.next(`create-${kind}`, { acts: true, first: hold.opened });
      const leaving = new AbortController();
      const left = closing.create(kind, key, {}, leaving.signal).catch(() => 'left');
      await untilAsked(closing, kind, key);
      leaving.abort();
      expect(await left).toBe('left');
      const closed = closing.close();
      const answers = () => fetch(closing.parts.gateway.url).then(Boolean, () => false);
      await until(answers, (does) => !does);
      hold.open();
      await closed;
      const next = await rigs.start({ service: closing.service, clock: closing.clock });
      expect(await next.attempt(key)).toMatchObject({ outcome: 'SUCCEEDED' });
    });
  });

  test('of a payment without external id gets one: unique, printable, ordered by time, the same at a replay', async () => {
    const ids: string[] = [];
    for (let round = 0; round < 5; round += 1) {
      const key = newKey();
      await rig.create('payment', key, { externalId: undefined });
      const externalId = rig.service.created(key)[0]!.externalId;
      expect(await rig.create('payment', key, { externalId: undefined })).toMatchObject({
        externalId,
        replayed: true,
      });
      expect(await rig.attempt(key)).toMatchObject({ externalId });
      ids.push(externalId);
      rig.clock.advance(2);
    }
    expect(ids.join('')).toMatch(/^[\x21-\x7e]+$/);
    expect(new Set(ids).size).toBe(5);
    expect([...ids].sort()).toEqual(ids);
  });

  test('is looked for by the external id that the gateway chose', async () => {
    const key = newKey();
    rig.service.next('create-payment', { acts: true, reply: reset });
    const end = await rig.create('payment', key, { externalId: undefined });
    const [created] = rig.service.created(key);
    expect(end).toMatchObject({ replayed: true, transactionId: created?.transactionId });
  });

  test('is another key before another service', async () => {
    const key = newKey();
    await rig.create('payment', key);
    const other = await rigs.start();
    expect(await other.attempt(key)).toBeNull();
    const amount = { currency: 'INR', value: '13.00' };
    expect(await other.create('payment', key, { amount })).toMatchObject({ replayed: false });
  });

  test('creates once when 200 calls come to two gateways at the same time', async () => {
    const one = await rigs.start(PATIENT);
    const other = await rigs.start({ ...PATIENT, service: one.service, clock: one.clock });
    const key = newKey();
    const calls = Array.from({ length: 200 }, (_, place) => (place % 2 ? one : other).create('payout', key));
    const ends = await Promise.all(calls);
    expect(one.service.created(key)).toHaveLength(1);
    expect(ends.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(ends.filter(({ result, error }) => error || !/Success|InProgress/.test(result ?? ''))).toEqual([]);
  });
});

/** Resolves when the service has been sent the create. */
const untilAsked = ({ service }: Rig, kind: Kind, key: string): Promise<unknown> =>
  until(
    () => service.asked(`create-${kind}`),
    (seen) => seen.some(({ json }) => json['description'] === key),
  );

/** Asks until it is no longer in progress. */
const untilDone = (ask: () => Promise<End>): Promise<End> =>
  until(ask, ({ result }) => result !== 'RequestInProgressError');

describeStores('A service that answers several creates with one transaction', (rigs) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await rigs.start({ env: { PAYOUT_PREFLIGHT: 'off', SERVICE_TIMEOUT_MS: '2000' } });
  });

  test.each(KINDS)(
    'has one key told success and the others that the outcome is unknown: %s',
    async (kind) => {
      const externalId = newKey();
      const keys = [1, 2, 3].map(() => newKey());
      const arrived = gate();
      rig.service.plan((purpose) => {
        if (purpose !== `create-${kind}`) return undefined;
        const isFirst = rig.service.asked(`create-${kind}`).length === 1;
        if (rig.service.asked(`create-${kind}`).length === keys.length) arrived.open();
        // It goes by the external id: whoever comes later gets what the first has made.
        return {
          acts: isFirst,
          first: arrived.opened,
          reply: (connection, { json, ...answer }) => {
            const transactionId = rig.service.created(externalId)[0]?.transactionId;
            connection.send({ ...answer, json: { ...(json as object), transaction_id: transactionId } });
          },
        };
      });
      rig.service.seen.length = 0;
      const ends = await Promise.all(keys.map((key) => rig.create(kind, key, { externalId })));
      rig.service.plan(() => undefined);
      expect(ends.map(({ result }) => result).sort()).toEqual(
        ['OutcomeUnknownError', 'OutcomeUnknownError', SUCCESS[kind]].sort(),
      );
      const attempts = await Promise.all(keys.map((key) => rig.attempt(key)));
      expect(attempts.filter((attempt) => attempt?.transactionId !== null)).toHaveLength(1);
      expect(rig.service.created(externalId)).toHaveLength(1);
    },
  );
});
