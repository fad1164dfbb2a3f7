import { API_KEY, CHANNEL, eachTest, sign, START } from './fixtures/running';
import { redirect } from './fixtures/requests';

const running = eachTest();
const body = JSON.stringify(redirect('card'));

async function statusOf(changed: Record<string, string>): Promise<number> {
  return (await running.post('api/v1/payment/', body, changed)).status;
}

test('a rightly signed POST and GET are let in', async () => {
  const created = await running.post('api/v1/payment/', body);
  expect(created.status).toBe(201);
  expect((await running.payment(created.body['transaction_id'] ?? '')).status).toBe(200);
});

test('the signature may be written in capital hexadecimal digits', async () => {
  expect(await statusOf({ 'X-Signature': sign(running.timestamp(), body).toUpperCase() })).toBe(201);
});

test.each(['X-API-Key', 'X-Timestamp', 'X-Signature'])(
  'without %s the answer is 401 and names it',
  async (name) => {
    const headers = running.headers(body);
    delete headers[name];
    const init = { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } };
    const answer = await running.fetch('api/v1/payment/', init);
    expect(answer.status).toBe(401);
    expect(answer.body['errors']).toEqual({ [name]: 'is required' });
  },
);

test.each([
  ['another API key', { 'X-API-Key': `${API_KEY}x` }],
  ['another secret', { 'X-Signature': sign(String(START / 1000), body, 'guessed') }],
  ['a signature that is too short', { 'X-Signature': 'ab' }],
  ['a timestamp in milliseconds', { 'X-Timestamp': String(START) }],
  ['a timestamp with a sign', { 'X-Timestamp': '-1717146765' }],
  ['a timestamp with a fraction', { 'X-Timestamp': '1717146765.5' }],
])('%s is answered with 401', async (_name, changed) => {
  expect(await statusOf(changed as Record<string, string>)).toBe(401);
});

test('the answer does not tell a wrong key from a wrong signature', async () => {
  const wrongKey = await running.post('api/v1/payment/', body, { 'X-API-Key': 'x' });
  const wrongSignature = await running.post('api/v1/payment/', body, { 'X-Signature': 'x' });
  expect(wrongKey.text).toBe(wrongSignature.text);
});

test('a timestamp may be five minutes off, in either direction, and no more', async () => {
  expect(await statusOf({ 'X-Timestamp': running.timestamp(-300) })).toBe(201);
  expect(await statusOf({ 'X-Timestamp': running.timestamp(-301) })).toBe(401);
  expect(await statusOf({ 'X-Timestamp': running.timestamp(300) })).toBe(201);
  expect(await statusOf({ 'X-Timestamp': running.timestamp(301) })).toBe(401);
});

test('a request grows too old while the clock moves on', async () => {
  const changed = { 'X-Timestamp': running.timestamp() };
  running.clock.advance(300_876);
  expect(await statusOf(changed)).toBe(201);
  running.clock.advance(1);
  expect(await statusOf(changed)).toBe(401);
});

test("pushing the sandbox clock on makes no client's timestamp wrong", async () => {
  running.sandbox.control.advance(3_600_000);
  expect(await statusOf({})).toBe(201);
});

test('the signature covers every byte of the body', async () => {
  const changed = { 'X-Signature': sign(running.timestamp(), `${body} `) };
  expect(await statusOf(changed)).toBe(401);
  const spaced = await running.post('api/v1/payment/', ` ${body}\n`);
  expect(spaced.status).toBe(201);
});

test('the signature covers the query exactly as it was sent, not as it reads', async () => {
  const asSent = `external_id=a%2Db&channel=${CHANNEL}`;
  expect((await running.get('api/v1/payment/', asSent)).status).toBe(404);
  const asRead = sign(running.timestamp(), `external_id=a-b&channel=${CHANNEL}`);
  expect((await running.get('api/v1/payment/', asSent, { 'X-Signature': asRead })).status).toBe(401);
  const withMark = sign(running.timestamp(), `?${asSent}`);
  expect((await running.get('api/v1/payment/', asSent, { 'X-Signature': withMark })).status).toBe(401);
});

test('authentication comes before everything else that could be wrong', async () => {
  expect((await running.post('api/v1/payment/', '{', { 'X-API-Key': 'x' })).status).toBe(401);
  expect((await running.get('api/v1/payout/', 'nonsense', { 'X-API-Key': 'x' })).status).toBe(401);
  expect((await running.post('api/v1/payment/confirm/', '{}', { 'X-API-Key': 'x' })).status).toBe(401);
});
