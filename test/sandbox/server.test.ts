import { connect } from 'node:net';
import { once } from 'node:events';
import { CHANNEL } from '../support/caller';
import { frozenClock } from '../support/fake-clock';
import { API_KEY, SECRET_KEY } from '../support/gateway';
import { eachTest, Running } from './fixtures/running';
import { direct, PAN, payoutTo, redirect } from './fixtures/requests';

describe('The server of the sandbox', () => {
  const lines: string[] = [];
  const log = (facts: object, message: string) => void lines.push(JSON.stringify({ ...facts, message }));
  const running = eachTest({ logger: { info: log, warn: log, error: log } });

  beforeEach(() => lines.splice(0));

  test.each([
    ['', 'GET', 404, null],
    ['api/v1/payment', 'GET', 404, null],
    ['%zz', 'GET', 404, null],
    ['api/v1/payment/', 'DELETE', 405, 'GET, POST'],
    ['api/v1/payment/confirm/', 'GET', 405, 'POST'],
  ])(
    'refuses the path /%s and the method %s with status %d (Allow header: %s)',
    async (path, method, status, allow) => {
      const response = await running.fetch(path, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
    },
  );

  test('accepts bodies of at most 100 KB', async () => {
    const body = JSON.stringify(redirect());
    const filled = body.padEnd(100 * 1024, ' ');
    expect((await running.createPayment(filled)).status).toBe(201);
    expect((await running.createPayment(`${filled} `)).status).toBe(413);
  });

  test('logs the route and status of a request, but none of its content', async () => {
    await running.createPayment(direct('card', { external_id: 'secret-order' }));
    await running.createPayment({ channel: PAN });
    await running.paymentNamed('secret-order');
    await running.createPayout(payoutTo({ external_id: 'secret-order' }));
    await running.post('api/v1/payment/', '{"a":"secret-order"', {});
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { method: 'POST', route: '/api/v1/payment/', status: 201, message: 'sandbox request completed' },
      { status: 400 },
      { method: 'GET', route: '/api/v1/payment/', status: 200 },
      { route: '/api/v1/payout/', status: 201 },
      { status: 400 },
    ]);
    expect(lines.join('\n')).not.toMatch(new RegExp(`${PAN}|987|secret|${API_KEY}|${SECRET_KEY}|${CHANNEL}`));
  });

  test('responds with 500 without details when a handler throws', async () => {
    const fail = () => {
      throw new Error(`cannot read ${PAN}`);
    };
    const other = await new Running().start({
      logger: { info: log, warn: log, error: log },
      realClock: { ...frozenClock(0), now: fail },
    });
    const response = await other.createPayment(redirect());
    expect(response.status).toBe(500);
    expect(response.text).not.toContain(PAN);
    const bug = lines.find((line) => line.includes('unexpected error in the sandbox')) ?? '';
    expect(bug).toContain('server.test.ts');
    expect(bug).not.toContain(PAN);
  });

  test('closes at once even with open connections and requests in flight', async () => {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.write('POST /api/v1/payment/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
    running.sandbox.controlPlane.inject({ operation: 'create', fault: 'delay', times: 1, ms: 60_000 });
    const delayed = running.createPayment(redirect());
    const cut = expect(delayed).rejects.toThrow('fetch failed');
    while (running.sandbox.controlPlane.counts().payment.creates === 0) await running.fetch('healthz');
    await running.createPayment(direct('jazz_cash'));
    const closed = once(socket, 'close');
    await running.sandbox.close();
    await Promise.all([closed, cut]);
    expect(running.clock.advance(3_600_000)).toBe(0);
  });
});

describe('The full transaction store of the sandbox', () => {
  const running = eachTest({ maxTransactions: 3 });

  const created = (name: string): Promise<string> => running.created(redirect({ external_id: name }));

  test('first evicts final transactions, in the order in which they became final, then open ones, oldest first', async () => {
    await created('a');
    const b = await created('b');
    const c = await created('c');
    for (const id of [c, b]) running.sandbox.controlPlane.settle(id);
    for (const [next, names] of [
      ['d', ['d', 'b', 'a']],
      ['e', ['e', 'd', 'a']],
      ['f', ['f', 'e', 'd']],
    ] as const) {
      await created(next);
      expect(running.sandbox.controlPlane.transactions().map(({ externalId }) => externalId)).toEqual(names);
    }
    expect((await running.paymentNamed('a')).status).toBe(404);
  });
});
