import { EventSource } from 'eventsource';
import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { TRANSPORTS, Watching } from '../subscriptions/support/subscriptions';
import { CHANNEL } from '../support/caller';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { describeSqlite, type Harness } from '../support/harness';
import { until } from '../support/latch';
import { TcpProxy } from '../support/tcp-proxy';
import { parametersOf } from '../subscriptions/support/event-stream';
import {
  changeOf,
  newestCursor,
  openStream,
  pageQuery,
  readAllPages,
  readPage,
  subscriptionQuery,
  unaliased,
} from './support/requests';
import { Created } from './support/transactions';

type Credentials = { authorization: string };

const STATUS_ONLY = '... on PaymentChange { status }';
const WITH_PAYMENT = '... on PaymentChange { cursor payment { ... on PaymentResource { status } } }';

const MALFORMED = [
  ...['', 'no-cursor', 'MS4xLjEuMQ==', 'MS4wMS4wLjA'],
  ...['1.1.1', 'attempt:1:1'].map((text) => Buffer.from(text).toString('base64url')),
];
const REFUSED_CURSOR = {
  extensions: { code: 'BAD_USER_INPUT', retryable: false, fields: [{ path: ['after'], rule: 'cursor' }] },
};

describeSqlite('Changes', (harnesses) => {
  let harness: Harness;

  beforeAll(async () => {
    harness = await harnesses.start({
      env: {
        SERVICE_TIMEOUT_MS: '20000',
        CLIENT_KEYS_FILE: clientKeysFile(
          clientOf('owner', { scopes: ['payments:read:own', 'payments:create'] }),
          clientOf('payouts', { scopes: ['payouts:read'] }),
        ),
      },
    });
  });

  const from = (after?: string) => ({ url: harness.url, after });
  const newest = (): Promise<string> => newestCursor(from());
  const owner = bearer(keyOf('owner'));

  describe.each(TRANSPORTS)('over %s', (_name, connect) => {
    const watchBy = (after?: string, query = subscriptionQuery(), credentials?: Credentials): Watching => {
      const client = connect(harness, credentials);
      return new Watching(client, { query, variables: { channel: CHANNEL, after } }, 'changes');
    };

    test('are all sent even if their selected values are the same', async () => {
      const watching = watchBy(await newest(), subscriptionQuery(STATUS_ONLY));
      for (let count = 0; count < 3; count += 1) await Created.by(harness, 'payment');
      await watching.received(3);
      expect(watching.values).toEqual(Array(3).fill({ status: 'PROCESSING' }));
      watching.leave();
    });

    test('begin with new changes when no cursor is given', async () => {
      await Created.by(harness, 'payment');
      const watching = watchBy();
      const later: string[] = [];
      await until(async () => {
        later.push((await Created.by(harness, 'payment')).transactionId);
        return watching.values.length > 0;
      });
      expect(later).toContain(unaliased(watching.values[0]!).transactionId);
      watching.leave();
    });

    test('are refused with BAD_USER_INPUT for a malformed cursor', async () => {
      for (const after of MALFORMED) {
        const watching = watchBy(after);
        await watching.ended();
        expect(watching.errors).toMatchObject([REFUSED_CURSOR]);
      }
    });

    test('contain the current state of the payment if it is selected, which costs one lookup for each change', async () => {
      const created = await Created.by(harness, 'payment');
      const start = await newest();
      const watching = watchBy(start, subscriptionQuery(WITH_PAYMENT));
      for (const [count, status] of ['mispaid', 'completed'].entries()) {
        await created.move(status);
        await watching.received(count + 1);
        expect(watching.last).toMatchObject({ payment: { status: status.toUpperCase() } });
        expect(created.otherLookups).toBe(count + 1);
      }
      watching.leave();
    });

    test('are still sent after a failed lookup of a payment', async () => {
      const created = await Created.by(harness, 'payment');
      await created.move('completed');
      const start = await newest();
      await Created.by(harness, 'payment');
      harness.service.next('look-up-payment', {
        acts: true,
        reply: (connection) => connection.send({ status: 403, json: {} }),
      });
      const watching = watchBy(start, subscriptionQuery(WITH_PAYMENT));
      await watching.received(1);
      expect(watching.last).toMatchObject({ cursor: expect.any(String) as unknown, payment: null });
      expect(watching.errors).toMatchObject([{ path: ['changes', 'payment'] }]);
      await Created.by(harness, 'payment');
      await watching.received(2);
      expect(watching.last).toMatchObject({ payment: { status: 'PROCESSING' } });
      watching.leave();
    });

    test('are sent to a client with the scope payments:read:own only if it created the payment', async () => {
      const watching = watchBy(await newest(), undefined, owner);
      await Created.by(harness, 'payment');
      const { transactionId } = await Created.by(harness, 'payment', owner);
      await watching.received(1);
      expect(watching.values).toMatchObject([{ transactionId }]);
      watching.leave();
    });
  });

  describe('requested as a page', () => {
    test('have the ids, amount and method of their transaction', async () => {
      const start = await newest();
      const payment = await Created.by(harness, 'payment');
      const payout = await Created.by(harness, 'payout');
      await payment.move('mispaid');
      const first = {
        channel: CHANNEL,
        cursor: expect.any(String) as unknown,
        externalId: expect.stringMatching(/^order /) as unknown,
        recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as unknown,
        previousStatus: null,
        status: 'PROCESSING',
        amount: { currency: 'INR', value: '10.00', received: null },
      };
      const [{ transactionId }, { transactionId: payoutId }] = [payment, payout];
      expect(await readAllPages(from(start))).toEqual([
        { ...first, __typename: 'PaymentChange', transactionId, method: 'UPI', state: 'WAITING_FOR_UTR' },
        { ...first, __typename: 'PayoutChange', transactionId: payoutId, method: 'IMPS' },
        expect.objectContaining({ previousStatus: 'PROCESSING', status: 'MISPAID' }),
      ]);
    });

    test('are the same for any page size, and an empty page returns the given cursor', async () => {
      const start = await newest();
      for (let count = 0; count < 5; count += 1) await Created.by(harness, 'payment');
      const all = await readAllPages(from(start));
      expect(all).toHaveLength(5);
      for (const size of [1, 4, 5]) {
        expect(await readAllPages(from(start), size)).toEqual(all);
        const { page } = await readPage(from(start), size);
        const changes = all.slice(0, size);
        expect(page).toEqual({ changes, endCursor: changes.at(-1)?.cursor, hasMore: size < 5 });
      }
      const end = all.at(-1)?.cursor;
      const { page } = await readPage(from(end));
      expect(page).toEqual({ changes: [], endCursor: end, hasMore: false });
    });

    test('are refused if the page size is invalid or the cursor is malformed', async () => {
      for (const size of [0, -1, 501])
        expect((await readPage(from(), size)).errors).toMatchObject([
          { extensions: { code: 'BAD_USER_INPUT', fields: [{ path: ['first'], rule: 'range' }] } },
        ]);
      for (const after of MALFORMED)
        expect((await readPage(from(after))).errors).toMatchObject([REFUSED_CURSOR]);
    });

    test('cause one lookup for each payment if the payment is selected, and no lookup otherwise', async () => {
      const start = await newest();
      const created = await Created.by(harness, 'payment');
      await created.move('mispaid');
      expect((await readPage(from(start))).page?.changes).toHaveLength(2);
      expect(created.otherLookups).toBe(0);
      const { page } = await readPage(from(start), 10, pageQuery(WITH_PAYMENT));
      expect(page?.changes).toMatchObject(Array(2).fill({ payment: { status: 'MISPAID' } }));
      expect(created.otherLookups).toBe(1);
    });

    test('advance the cursor of a client with the scope payments:read:own even if other clients created the payments', async () => {
      const after = await newest();
      await Created.by(harness, 'payment');
      const { page } = await readPage({ ...from(after), credentials: owner });
      expect(page).toEqual({ changes: [], endCursor: await newest(), hasMore: false });
    });

    test('are only those that the scopes of the caller allow, and other changes do not affect the paging', async () => {
      const start = await newest();
      const { transactionId: first } = await Created.by(harness, 'payment', owner);
      const foreign = await Created.by(harness, 'payment');
      const { transactionId: payout } = await Created.by(harness, 'payout');
      const { transactionId: second } = await Created.by(harness, 'payment', owner);
      await foreign.move('completed');
      const read = async (credentials: Credentials, size: number) => {
        const { page } = await readPage({ ...from(start), credentials }, size);
        return [page?.changes.map(({ transactionId }) => transactionId), page?.hasMore];
      };
      expect(await read(owner, 1)).toEqual([[first], true]);
      expect(await read(owner, 2)).toEqual([[first, second], false]);
      expect(await read(bearer(keyOf('payouts')), 1)).toEqual([[payout], false]);
    });
  });

  describe.each(['GET', 'POST'] as const)('as server-sent events by %s', (method) => {
    test('have their cursor as event id, and Last-Event-ID takes precedence over `after`', async () => {
      const start = await newest();
      const created = await Created.by(harness, 'payment');
      await created.move('mispaid');
      await created.move('completed');
      const stream = await openStream(from(start), { method });
      const seen = [
        changeOf(await stream.next()),
        changeOf(await stream.next()),
        changeOf(await stream.next()),
      ];
      stream.disconnect();
      const resumed = await openStream(from(start), { method, lastEventId: seen[1]!.cursor });
      expect(changeOf(await resumed.next())).toEqual(seen[2]);
      resumed.disconnect();
    });

    test('are refused with BAD_USER_INPUT for a malformed Last-Event-ID', async () => {
      const stream = await openStream(from(), { method, lastEventId: 'no-cursor' });
      expect(await stream.rest()).toMatchObject([
        { event: 'next', data: { errors: [REFUSED_CURSOR] } },
        { event: 'complete' },
      ]);
    });

    test('are the only subscription with event ids, and the only one that reads Last-Event-ID', async () => {
      const { transactionId } = await Created.by(harness, 'payment');
      const query = `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${transactionId}") { ... on PaymentResource { status } } }`;
      const stream = await openStream(from(), { method, query, lastEventId: 'no-cursor' });
      const event = await stream.next();
      expect(event).toEqual({ event: 'next', data: { data: { paymentUpdated: { status: 'PROCESSING' } } } });
      stream.disconnect();
    });
  });

  test('reach an EventSource once and in order even if its connection is cut repeatedly', async () => {
    const proxy = await TcpProxy.to(harness.url);
    harnesses.closeAtEnd(() => proxy.refuse());
    const variables = { channel: CHANNEL, after: await newest() };
    const query = parametersOf({ query: subscriptionQuery(), variables });
    const seen: string[] = [];
    const source = new EventSource(`${proxy.through(harness.url)}/stream?${query}`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, ...AUTHORIZED } }),
    });
    source.addEventListener('next', ({ data }) => {
      const { changes } = (JSON.parse(String(data)) as { data: { changes: { transactionId: string } } }).data;
      seen.push(changes.transactionId);
    });
    const created: string[] = [];
    for (let count = 1; count <= 4; count += 1) {
      created.push((await Created.by(harness, 'payment')).transactionId);
      await until(() => seen.length >= count);
      expect(seen).toEqual(created);
      // Cuts the connection before every other change.
      if (count % 2 === 1) proxy.destroyConnections();
    }
    source.close();
  });
});
