import { connect } from 'node:net';
import { once } from 'node:events';
import { startSandbox } from '../../src/sandbox/server';
import { methods } from './fixtures/methods';
import { API_KEY, CHANNEL, eachTest, Running, SECRET } from './fixtures/running';
import { direct, PAN, payoutTo, redirect } from './fixtures/requests';

const lines: string[] = [];
const log = (facts: object, message: string) => void lines.push(JSON.stringify({ ...facts, message }));
const running = eachTest({ logger: { info: log, warn: log, error: log } });

beforeEach(() => lines.splice(0));

test('it says that it is well', async () => {
  const answer = await running.fetch('healthz');
  expect([answer.status, answer.body]).toEqual([200, { status: 'ok' }]);
});

test.each(['', 'api/v1/payment', 'api/v1/payments/', 'api/v2/payment/', 'api/v1/payout/confirm/', '%zz'])(
  'there is nothing at /%s',
  async (path) => {
    const answer = await running.fetch(path);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ message: 'There is nothing at this address' });
  },
);

test.each([
  ['api/v1/payment/', 'DELETE', 'GET, POST'],
  ['api/v1/payout/', 'PUT', 'GET, POST'],
  ['api/v1/payout/?channel=x', 'PATCH', 'GET, POST'],
  ['api/v1/payment/confirm/', 'GET', 'POST'],
  ['api/v1/payment/', 'HEAD', 'GET, POST'],
])('%s does not take %s', async (path, method, allow) => {
  const answer = await running.fetch(path, { method });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toBe(allow);
});

test('a body may have 100 KB and not a byte more', async () => {
  const body = JSON.stringify(redirect('card'));
  const filled = body.padEnd(100 * 1024, ' ');
  expect((await running.createPayment(filled)).status).toBe(201);
  const answer = await running.createPayment(`${filled} `);
  expect(answer.status).toBe(413);
  expect(answer.body).toEqual({ message: 'The body is too large' });
});

test('the log tells route, status and time, and nothing that came from outside', async () => {
  await running.createPayment(direct('card', { external_id: 'secret-order' }));
  await running.createPayment({ channel: PAN });
  await running.paymentNamed('secret-order');
  await running.createPayout(payoutTo({ external_id: 'secret-order' }));
  await running.post('api/v1/payment/', '{"a":"secret-order"', {});
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { method: 'POST', route: '/api/v1/payment/', status: 201, message: 'sandbox request' },
    { status: 400 },
    { method: 'GET', route: '/api/v1/payment/', status: 200 },
    { route: '/api/v1/payout/', status: 201 },
    { status: 400 },
  ]);
  expect(lines.join('\n')).not.toMatch(new RegExp(`${PAN}|987|secret|${API_KEY}|${SECRET}|${CHANNEL}`));
});

test("a bug in a method's own code is a 500 that quotes nothing, in the answer or the log", async () => {
  const broken = {
    type: 'broken',
    redirect: [],
    direct: { required: [] },
    echo: [],
    adds: () => {
      throw new Error(`cannot read ${PAN}`);
    },
  };
  const other = new Running();
  await other.start({
    logger: { info: log, warn: log, error: log },
    methods: { ...methods, payments: new Map([['broken', broken]]) },
  });
  try {
    const answer = await other.createPayment(redirect('card', { payment_method: { type: 'broken' } }));
    expect([answer.status, answer.body]).toEqual([500, { message: 'An error of the sandbox itself' }]);
    const bug = lines.find((line) => line.includes('sandbox bug')) ?? '';
    expect(bug).toContain('server.test.ts');
    expect(bug).not.toContain(PAN);
  } finally {
    await other.sandbox.close();
  }
});

test('it closes at once, whatever is still open', async () => {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write('POST /api/v1/payment/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
  running.sandbox.control.inject({ operation: 'create', fault: 'delay', times: 1, ms: 60_000 });
  const delayed = running.createPayment(redirect('card'));
  const cut = expect(delayed).rejects.toThrow('fetch failed');
  while (running.sandbox.control.counts().payment.creates === 0) await running.fetch('healthz');
  await running.createPayment(direct('jazz_cash'));
  const closed = once(socket, 'close');
  await running.sandbox.close();
  await Promise.all([closed, cut]);
  expect(running.clock.advance(3_600_000)).toBe(0);
});

test('the address for browsers can be another than its own', async () => {
  const other = await new Running().start({ publicUrl: 'https://sandbox.example/' });
  try {
    const { body } = await other.createPayment(redirect('card'));
    expect(body['redirect_url']).toBe(`https://sandbox.example/pay/${body['transaction_id']}`);
  } finally {
    await other.sandbox.close();
  }
});

test("without a clock of the test's own it runs on the real time", async () => {
  const options = {
    methods,
    host: '127.0.0.1',
    port: 0,
    apiKey: API_KEY,
    secretKey: SECRET,
    settleAfterMs: 0,
  };
  const sandbox = await startSandbox(options);
  try {
    const real = new Running();
    real.sandbox = sandbox;
    real.clock.advance(Date.now() - real.clock.now());
    const { body, status } = await real.createPayment(direct('jazz_cash'));
    expect(status).toBe(201);
    const id = String(body['transaction_id']);
    while ((await real.payment(id)).body['status'] !== 'completed');
    expect(Math.abs(Date.parse(String(body['create_date'])) - Date.now())).toBeLessThan(60_000);
  } finally {
    await sandbox.close();
  }
});

test('outcomes that would take longer than promised cannot be set', async () => {
  const options = { methods, host: '127.0.0.1', port: 0, apiKey: API_KEY, secretKey: SECRET };
  for (const settleAfterMs of [-1, 5001, Number.NaN]) {
    await expect(startSandbox({ ...options, settleAfterMs })).rejects.toThrow('settleAfterMs');
  }
});
