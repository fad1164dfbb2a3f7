import { reset, status } from './service/faults';
import { ATTEMPT, CHANNEL, RECORDED, type SeenAttempt } from './support/caller';
import { describeStores, newKey, type Rig } from './support/rig';

const attemptsWith = (fields: string): string => `query ($channel: UUID!, $outcome: AttemptOutcome,
  $operation: AttemptOperation, $externalId: String, $startedAfter: Timestamp, $startedBefore: Timestamp,
  $first: Int, $after: String) {
  attempts(channel: $channel, outcome: $outcome, operation: $operation, externalId: $externalId,
    startedAfter: $startedAfter, startedBefore: $startedBefore, first: $first, after: $after) {
    edges { cursor node { ${fields} } } pageInfo { hasNextPage endCursor }
  }
}`;
const ATTEMPTS = attemptsWith(ATTEMPT);

interface Page {
  attempts: {
    edges: { cursor: string; node: SeenAttempt }[];
    pageInfo: { hasNextPage: boolean; endCursor: string | null };
  };
}

describeStores('The record of creates', (rigs) => {
  let rig: Rig;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    rig = await rigs.start();
    for (const name of ['paid', 'paidOut', 'rejected', 'notSent', 'unknown']) keys[name] = newKey();
    await rig.create('payment', keys['paid']!);
    await rig.create('payout', keys['paidOut']!);
    rig.service.next('create-payment', { acts: false, reply: status(400) });
    await rig.create('payment', keys['rejected']!);
    rig.service.next('create-payment', { acts: false, reply: status(429) });
    await rig.create('payment', keys['notSent']!);
    rig.service.next('create-payout', { acts: false, reply: reset });
    await rig.create('payout', keys['unknown']!);
  });

  const page = async (variables: object = {}): Promise<Page['attempts']> => {
    const { data } = await rig.ask<Page>(ATTEMPTS, { channel: CHANNEL, ...variables });
    return data.attempts;
  };
  const keysOf = ({ edges }: Page['attempts']): string[] => edges.map(({ node }) => node.idempotencyKey);

  test('lists them newest first', async () => {
    const names = ['unknown', 'notSent', 'rejected', 'paidOut', 'paid'];
    expect(keysOf(await page())).toEqual(names.map((name) => keys[name]));
  });

  test.each([
    ['SUCCEEDED', ['paidOut', 'paid']],
    ['REJECTED', ['rejected']],
    ['NOT_SENT', ['notSent']],
    ['UNKNOWN', ['unknown']],
    ['IN_PROGRESS', []],
  ])('lists those with the outcome %s', async (outcome, names) => {
    expect(keysOf(await page({ outcome }))).toEqual(names.map((name) => keys[name]));
  });

  test('is read page by page', async () => {
    const seen: string[] = [];
    let after: string | null = null;
    for (let pages = 1; ; pages += 1) {
      const read: Page['attempts'] = await page({ first: 2, after });
      seen.push(...keysOf(read));
      expect(read.pageInfo.endCursor).toBe(read.edges.at(-1)?.cursor);
      after = read.pageInfo.endCursor;
      if (!read.pageInfo.hasNextPage) {
        expect(pages).toBe(3);
        break;
      }
    }
    expect(seen).toEqual(keysOf(await page()));
  });

  test('says what was asked and what became of it', async () => {
    const [{ transactionId } = { transactionId: '' }] = rig.service.created(keys['paid']!);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/) as unknown;
    expect(await rig.attempt(keys['paid']!)).toEqual({
      idempotencyKey: keys['paid'],
      operation: 'CREATE_PAYMENT',
      channel: CHANNEL,
      externalId: `order ${keys['paid']}`,
      outcome: 'SUCCEEDED',
      startedAt: time,
      settledAt: time,
      transactionId,
      amount: { currency: 'INR', value: '10.00', received: null },
      paymentMethod: 'UPI',
      payoutMethod: null,
      payment: { transactionId, status: 'PROCESSING' },
      payout: null,
    });
    expect(await rig.attempt(keys['unknown']!)).toMatchObject({
      operation: 'CREATE_PAYOUT',
      outcome: 'UNKNOWN',
      settledAt: null,
      transactionId: null,
      amount: { currency: 'INR', value: '10.00' },
      paymentMethod: null,
      payoutMethod: 'IMPS',
      payment: null,
      payout: null,
    });
  });

  test('shows the current state of what was created', async () => {
    rig.service.created(keys['paid']!)[0]!.status = 'completed';
    expect(await rig.attempt(keys['paid']!)).toMatchObject({ payment: { status: 'COMPLETED' } });
  });

  test('reconciles a page from the journal alone, without a request to the service', async () => {
    rig.service.seen.length = 0;
    const { data } = await rig.ask<Page>(attemptsWith(RECORDED), { channel: CHANNEL });
    const [paidOut] = rig.service.created(keys['paidOut']!);
    expect(data.attempts.edges.map(({ node }) => node)).toContainEqual(
      expect.objectContaining({ transactionId: paidOut?.transactionId, payoutMethod: 'IMPS' }),
    );
    expect(rig.service.seen).toEqual([]);
  });

  test('pages by any combination of filters, with no attempt missing or repeated', async () => {
    const all = (await page()).edges.map(({ node }) => node);
    const [, third, , fifth] = all;
    const later = (time: string, ms: number): string => new Date(Date.parse(time) + ms).toISOString();
    const times = [null, third!.startedAt, fifth!.startedAt, later(fifth!.startedAt, 1)];
    const hasEmptyRange = (from: string | null, to: string | null): boolean =>
      from !== null && to !== null && from >= to;
    for (const operation of [null, 'CREATE_PAYMENT', 'CREATE_PAYOUT'])
      for (const outcome of [null, 'SUCCEEDED'])
        for (const externalId of [null, all[4]!.externalId, 'no order'])
          for (const startedAfter of times)
            for (const startedBefore of times) {
              if (hasEmptyRange(startedAfter, startedBefore)) continue;
              const filters = { operation, outcome, externalId, startedAfter, startedBefore };
              const expected = all.filter(
                (node) =>
                  [null, node.operation].includes(operation) &&
                  [null, node.outcome].includes(outcome) &&
                  [null, node.externalId].includes(externalId) &&
                  (startedAfter === null || node.startedAt >= startedAfter) &&
                  (startedBefore === null || node.startedAt < startedBefore),
              );
              const seen: string[] = [];
              for (let after: string | null = null, more = true; more;) {
                const read: Page['attempts'] = await page({ ...filters, first: 1, after });
                seen.push(...keysOf(read));
                ({ endCursor: after, hasNextPage: more } = read.pageInfo);
              }
              expect({ filters, seen }).toEqual({
                filters,
                seen: expected.map((node) => node.idempotencyKey),
              });
            }
  });

  test('takes a time in any offset, and finer than a millisecond', async () => {
    const [newest] = (await page({ first: 1 })).edges;
    const { startedAt, idempotencyKey } = newest!.node;
    const inIndia = `${new Date(Date.parse(startedAt) + 330 * 60_000).toISOString().slice(0, -1)}+05:30`;
    expect(keysOf(await page({ startedAfter: inIndia }))).toEqual([idempotencyKey]);
    expect(keysOf(await page({ startedAfter: inIndia.replace('+', '001+') }))).toEqual([]);
    expect(keysOf(await page({ startedBefore: inIndia.replace('+', '001+'), first: 1 }))).toEqual([
      idempotencyKey,
    ]);
  });

  test.each([
    ['startedAfter', { startedAfter: '2026-02-30T00:00:00Z' }],
    ['startedBefore', { startedBefore: '2026-13-01T00:00:00Z' }],
    ['startedBefore', { startedBefore: '2026-01-01T00:00:60+99:00' }],
    ['startedAfter', { startedAfter: '2026-01-02T00:00:00Z', startedBefore: '2026-01-01T00:00:00Z' }],
    ['startedAfter', { startedAfter: '2026-01-01T00:00:00Z', startedBefore: '2026-01-01T01:00:00+01:00' }],
    ['externalId', { externalId: '' }],
    ['externalId', { externalId: 'a\u0000b' }],
    ['externalId', { externalId: 'a'.repeat(256) }],
  ])('refuses a wrong %s by its name: %o', async (name, variables) => {
    const { errors } = await rig.ask(ATTEMPTS, { channel: CHANNEL, ...variables });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toContain(name);
  });

  test('has nothing under a key that was never used, nor on another channel', async () => {
    expect(await rig.attempt(newKey())).toBeNull();
    const elsewhere = await page({ channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11' });
    expect(elsewhere).toEqual({ edges: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });

  test.each([{ first: 0 }, { first: -1 }, { first: 101 }, { after: 'nonsense' }, { after: '' }])(
    'refuses a page of %o',
    async (variables) => {
      const { errors } = await rig.ask(ATTEMPTS, { channel: CHANNEL, ...variables });
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    },
  );
});
