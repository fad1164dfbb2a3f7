import { reset, status } from './service/faults';
import { ATTEMPT, CHANNEL, type SeenAttempt } from './support/caller';
import { describeStores, newKey, type Rig } from './support/rig';

const ATTEMPTS = `query ($channel: UUID!, $outcome: AttemptOutcome, $first: Int, $after: String) {
  attempts(channel: $channel, outcome: $outcome, first: $first, after: $after) {
    edges { cursor node { ${ATTEMPT} } } pageInfo { hasNextPage endCursor }
  }
}`;

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
      payment: { transactionId, status: 'PROCESSING' },
      payout: null,
    });
    expect(await rig.attempt(keys['unknown']!)).toMatchObject({
      operation: 'CREATE_PAYOUT',
      outcome: 'UNKNOWN',
      settledAt: null,
      payment: null,
      payout: null,
    });
  });

  test('shows the current state of what was created', async () => {
    rig.service.created(keys['paid']!)[0]!.status = 'completed';
    expect(await rig.attempt(keys['paid']!)).toMatchObject({ payment: { status: 'COMPLETED' } });
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
