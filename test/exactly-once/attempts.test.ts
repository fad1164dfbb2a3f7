import { ATTEMPT, CHANNEL, RECORDED, type Kind, type SeenAttempt } from '../support/caller';
import type { FaultReply } from '../support/payment-service/fake-payment-service';
import { reset, status } from '../support/payment-service/faults';
import { describeSqlite, newKey, type Harness } from '../support/harness';
import { replacing } from './support/creates';

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

describeSqlite('The queries `attempt` and `attempts`', (harnesses) => {
  let harness: Harness;
  const keys: Record<string, string> = {};

  beforeAll(async () => {
    harness = await harnesses.start();
    const create = async (kind: Kind, name: string, reply?: FaultReply): Promise<void> => {
      keys[name] = newKey();
      if (reply) harness.service.next(`create-${kind}`, { acts: false, reply });
      await harness.create(kind, keys[name]);
      // Lets all start times differ.
      harness.clock.advance(1000);
    };
    await create('payment', 'paid');
    await create('payout', 'paidOut');
    await create('payment', 'rejected', status(400));
    await create('payment', 'notSent', status(429));
    await create('payout', 'unknown', reset);
  });

  const page = async (variables: object = {}): Promise<Page['attempts']> => {
    const { data } = await harness.request<Page>(ATTEMPTS, { channel: CHANNEL, ...variables });
    return data.attempts;
  };
  const keysOf = ({ edges }: Page['attempts']): string[] => edges.map(({ node }) => node.idempotencyKey);

  test('return input and outcome of each attempt', async () => {
    const [{ transactionId } = { transactionId: '' }] = harness.service.created(keys['paid']!);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/) as unknown;
    const paid = {
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
    };
    expect(await harness.attempt(keys['paid']!)).toEqual(paid);
    expect(await harness.attempt(keys['unknown']!)).toMatchObject({
      operation: 'CREATE_PAYOUT',
      outcome: 'UNKNOWN',
      settledAt: null,
      transactionId: null,
      paymentMethod: null,
      payoutMethod: 'IMPS',
      payment: null,
      payout: null,
    });
    harness.service.created(keys['paid']!)[0]!.status = 'completed';
    expect(await harness.attempt(keys['paid']!)).toMatchObject({ payment: { status: 'COMPLETED' } });
  });

  test('read only the journal, without a request to the service, unless payment or payout is selected', async () => {
    harness.service.requests.length = 0;
    const { data } = await harness.request<Page>(attemptsWith(RECORDED), { channel: CHANNEL });
    const [paidOut] = harness.service.created(keys['paidOut']!);
    expect(data.attempts.edges.map(({ node }) => node)).toContainEqual(
      expect.objectContaining({ transactionId: paidOut?.transactionId, payoutMethod: 'IMPS' }),
    );
    // The recovery of the unknown outcome makes lookups of its own.
    const isOfRecovery = ({ parameters }: { parameters: URLSearchParams }): boolean =>
      parameters.get('external_id') === `order ${keys['unknown']}`;
    expect(harness.service.requests.filter((request) => !isOfRecovery(request))).toEqual([]);
  });

  test('return attempts newest first, page by page, with any filters', async () => {
    const all = (await page()).edges.map(({ node }) => node);
    const [, notSent, rejected, , paid] = all;
    const cases: [object, string[]][] = [
      [{}, ['unknown', 'notSent', 'rejected', 'paidOut', 'paid']],
      [{ outcome: 'REJECTED' }, ['rejected']],
      [{ operation: 'CREATE_PAYOUT', outcome: 'SUCCEEDED' }, ['paidOut']],
      [{ externalId: paid!.externalId }, ['paid']],
      [{ startedAfter: rejected!.startedAt, startedBefore: notSent!.startedAt }, ['rejected']],
      [{ startedBefore: rejected!.startedAt, outcome: 'SUCCEEDED' }, ['paidOut', 'paid']],
    ];
    for (const [filters, names] of cases) {
      const seen: string[] = [];
      for (let cursor: string | null = null, more = true; more;) {
        const read: Page['attempts'] = await page({ ...filters, first: 2, after: cursor });
        expect(read.pageInfo.endCursor).toBe(read.edges.at(-1)?.cursor ?? null);
        seen.push(...keysOf(read));
        ({ endCursor: cursor, hasNextPage: more } = read.pageInfo);
      }
      expect({ filters, seen }).toEqual({ filters, seen: names.map((name) => keys[name]) });
    }
  });

  test('accept times with any UTC offset and with fractions of a millisecond', async () => {
    const [newest] = (await page({ first: 1 })).edges;
    const { startedAt, idempotencyKey } = newest!.node;
    const inIndia = `${new Date(Date.parse(startedAt) + 330 * 60_000).toISOString().slice(0, -1)}+05:30`;
    const finer = inIndia.replace('+', '001+');
    expect(keysOf(await page({ startedAfter: inIndia }))).toEqual([idempotencyKey]);
    expect(keysOf(await page({ startedAfter: finer }))).toEqual([]);
    expect(keysOf(await page({ startedBefore: finer, first: 1 }))).toEqual([idempotencyKey]);
  });

  test.each([
    ['startedAfter', { startedAfter: '2026-02-30T00:00:00Z' }],
    ['startedAfter', { startedAfter: '2026-01-01T00:00:00Z', startedBefore: '2026-01-01T01:00:00+01:00' }],
    ['externalId', { externalId: '' }],
    ['first', { first: 0 }],
    ['first', { first: 101 }],
    ['after', { after: 'nonsense' }],
  ])('name the invalid argument %s of `attempts` in the error: %o', async (name, variables) => {
    const { errors } = await harness.request(ATTEMPTS, { channel: CHANNEL, ...variables });
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }]);
    expect(errors?.[0]?.message).toContain(name);
  });

  test('return nothing for an unused key and on another channel', async () => {
    expect(await harness.attempt(newKey())).toBeNull();
    const elsewhere = await page({ channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b11' });
    expect(elsewhere).toEqual({ edges: [], pageInfo: { hasNextPage: false, endCursor: null } });
  });
});

describeSqlite('An unexpected error', (harnesses) => {
  test('is logged with the request id, and its message is neither logged nor returned', async () => {
    const message = 'canary in an unexpected error';
    const fail = (): never => {
      throw new Error(message);
    };
    const logLines: string[] = [];
    const rig = await harnesses.start({
      logLines,
      wrap: replacing(
        'find',
        (find) => async (key) => Object.defineProperty({ ...(await find(key))! }, 'method', { get: fail }),
      ),
    });
    const key = newKey();
    await rig.create('payment', key);
    const query = 'query ($key: ID!) { attempt(idempotencyKey: $key) { payment { __typename } } }';
    const response = await rig.request(query, { key });
    const extensions = { code: 'INTERNAL_SERVER_ERROR', retryable: false };
    expect(response.errors).toMatchObject([{ extensions }]);
    expect(JSON.stringify(response) + logLines.join('')).not.toContain(message);
    const requestId = response.errors?.[0]?.extensions.requestId;
    const logged = logLines.map((line) => JSON.parse(line) as object);
    expect(logged).toContainEqual(expect.objectContaining({ level: 50, requestId, name: 'Error' }));
  });
});
