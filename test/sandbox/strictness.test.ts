import { CHANNEL, eachTest, type Answer } from './fixtures/running';
import { direct, DIRECT, PAN, payoutTo, redirect } from './fixtures/requests';

const running = eachTest();

function refuses(answer: Answer, errors: Record<string, unknown>): void {
  expect(answer.body['errors']).toEqual(errors);
  expect(answer.status).toBe(400);
  expect(answer.body['message']).toBe('The request is invalid');
}

function withMethod(type: string, changed: Record<string, unknown>) {
  const request = direct(type);
  return { ...request, payment_method: { ...request.payment_method, ...changed } };
}

test('every broken rule is named at once, by field, and no value is repeated', async () => {
  const body = {
    channel: 'secret-channel',
    amount: { value: '12,50', currency: 'eur', received: '1.00' },
    return_url: 'javascript:alert(1)',
    callback_url: 'ftp://files.example/',
    payment_method: { type: 'telepathy-secret' },
    surprise: 1,
  };
  const answer = await running.createPayment(body);
  refuses(answer, {
    channel: 'must be a UUID',
    'payment_method.type': 'is not a known method',
    'amount.currency': 'must be an ISO 4217 code',
    'amount.value': 'must be a decimal number with two decimals',
    'amount.received': 'is unknown',
    return_url: 'must be an http or https URL',
    callback_url: 'must be an http or https URL',
    surprise: 'is unknown',
  });
  expect(answer.text).not.toMatch(/secret|12,50|javascript|ftp/);
});

test('required fields are named when they are missing', async () => {
  const missing = { channel: 'is required', payment_method: 'is required', amount: 'is required' };
  const answer = await running.createPayment({});
  expect(answer.body['errors']).toMatchObject(missing);
  const payout = await running.createPayout({});
  expect(payout.body['errors']).toMatchObject({ external_id: 'is required', payout_method: 'is required' });
});

test.each(['12', '12.5', '12.500', '.50', '012.50', '-1.00', '+1.00', '1e2', ' 1.00', '0.00', '1.00\n', ''])(
  'the amount %j is refused',
  async (value) => {
    const answer = await running.createPayment(redirect('card', { value }));
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body['errors'] ?? {})).toEqual(['amount.value']);
  },
);

test('an amount that is a number is refused', async () => {
  const answer = await running.createPayment(redirect('card', { amount: { currency: 'EUR', value: 25 } }));
  refuses(answer, { 'amount.value': 'must be a string' });
});

test.each(Object.keys(DIRECT))('%s names each required field that is missing', async (type) => {
  const names = Object.keys(DIRECT[type]?.fields ?? {});
  // upi has none; of dcb only the user id is required, and phone is what makes it server-to-server.
  const required = type === 'upi' ? [] : type === 'dcb' ? ['user_id'] : names;
  for (const name of required.length > 1 || type === 'dcb' ? required : []) {
    const answer = await running.createPayment(withMethod(type, { [name]: undefined }));
    refuses(answer, { [`payment_method.${name}`]: 'is required' });
  }
});

test('a redirect payment needs its own fields too, and takes no others', async () => {
  const bare = redirect('ewallet', { payment_method: { type: 'ewallet' } });
  refuses(await running.createPayment(bare), { 'payment_method.ewallet': 'is required' });
  const more = redirect('ewallet', { payment_method: { type: 'ewallet', ewallet: 'ovo', phone: '1234567' } });
  refuses(await running.createPayment(more), { 'payment_method.phone': 'is unknown' });
});

test.each([
  ['pan', '4111111111111112', 'must be a valid card number'],
  ['pan', '4111 1111 1111 1111', 'must be 12 to 19 digits'],
  ['expiry_month', '13', 'must be a month, MM'],
  ['expiry_month', '7', 'must be a month, MM'],
  ['expiry_year', '31', 'must be a year, YYYY'],
  ['cvc', '12', 'must be 3 or 4 digits'],
  ['cvc', 123, 'must be a string'],
  ['cardholder', ' ', 'must not be empty'],
  ['cardholder', `JANE ${PAN}`, 'must not hold a card number'],
  ['country_code', 'Germany', 'must be an ISO 3166-1 alpha-2 code'],
  ['birth_date', '1990-02-30', 'must be a date, YYYY-MM-DD'],
  ['email', 'jane', 'must be an e-mail address'],
  ['phone', '00491511234567', 'must be a phone number in E.164 form'],
  ['iban', 'DE00', 'is unknown'],
])('a card payment with %s %j is refused: %s', async (name, value, rule) => {
  refuses(await running.createPayment(withMethod('card', { [name]: value })), {
    [`payment_method.${name}`]: rule,
  });
});

test('the structured address and the birth date of a card payer are taken', async () => {
  const payer = {
    country_code: 'DE',
    city: 'Berlin',
    street: 'Ring 1',
    postal_code: '10115',
    birth_date: '1990-02-28',
  };
  expect((await running.createPayment(withMethod('card', payer))).status).toBe(201);
});

test.each([PAN, '411111111111****', '4111********11111', '****'])(
  'c2c refuses the card mask %s',
  async (mask) => {
    const answer = await running.createPayment(withMethod('c2c', { card_mask: mask }));
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.body['errors'] ?? {})).toEqual(['payment_method.card_mask']);
    expect(answer.text).not.toContain(mask);
  },
);

test('a full card number in a description is refused', async () => {
  const answer = await running.createPayment(
    redirect('card', { description: 'for 4111-1111-1111-1111, thanks' }),
  );
  refuses(answer, { description: 'must not hold a card number' });
  expect((await running.createPayment(redirect('card', { description: 'order 1717146765123' }))).status).toBe(
    201,
  );
});

test('each method takes its own currency only, and a method without one takes any', async () => {
  const answer = await running.createPayment(direct('upi', { amount: { currency: 'USD', value: '1.00' } }));
  refuses(answer, { 'amount.currency': 'must be INR for this method' });
  const dcb = await running.createPayment(direct('dcb', { amount: { currency: 'USD', value: '1.00' } }));
  expect(dcb.status).toBe(201);
  const payout = await running.createPayout(payoutTo({ amount: { currency: 'USD', value: '1.00' } }));
  refuses(payout, { 'amount.currency': 'must be PKR for this method' });
});

test('a URL with credentials is refused', async () => {
  const answer = await running.createPayment(
    redirect('card', { callback_url: 'https://me:pw@shop.example/' }),
  );
  refuses(answer, { callback_url: 'must not hold credentials' });
});

test('a method with fields of its own making takes any, and a known payout type does not', async () => {
  const fields = { type: 'other', note: 'n', deep: { list: [1, { a: true }] } };
  expect((await running.createPayment(redirect('card', { payment_method: fields }))).status).toBe(201);
  const payout = payoutTo({ payout_method: { type: 'jazz_cash', account_number: '1', extra: '2' } });
  refuses(await running.createPayout(payout), { 'payout_method.extra': 'is unknown' });
});

test('a payout type that nobody knows is accepted with any fields', async () => {
  const payout = payoutTo({ payout_method: { type: 'pigeon', coop: { number: 7 } } });
  expect((await running.createPayout(payout)).status).toBe(201);
});

test.each([
  ['a name given twice', '{"channel":"a","channel":"b"}', 'must not give a name twice'],
  ['a name given twice by an escape', '{"a":{"b":1,"\\u0062":2}}', 'must not give a name twice'],
  ['the name __proto__', '{"__proto__":{}}', 'must not use __proto__ as a name'],
  ['a list', '[]', 'must be a JSON object'],
  ['null', 'null', 'must be a JSON object'],
  ['half an object', '{"channel":', 'must be valid JSON'],
  ['nothing', '', 'must be valid JSON'],
  ['a byte order mark', '\ufeff{}', 'must be valid JSON'],
  ['deep nesting', `{"a":${'['.repeat(40)}${']'.repeat(40)}}`, 'is nested too deeply'],
])('a body with %s is refused', async (_name, body, rule) => {
  refuses(await running.createPayment(body), { body: rule });
});

test('strings that look like structure do not confuse the search for repeated names', async () => {
  const request = redirect('card', { description: '{"a":1,"a":2} \\" : [' });
  expect((await running.createPayment(request)).status).toBe(201);
});

test('a body that is not UTF-8 is refused', async () => {
  const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
  refuses(await running.createPayment(body), { body: 'must be valid UTF-8' });
});

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense'])(
  'the content type %s is refused',
  async (type) => {
    const answer = await running.post('api/v1/payment/', redirect('card'), { 'Content-Type': type });
    refuses(answer, { 'Content-Type': 'must be application/json' });
  },
);

test('the content type may carry parameters', async () => {
  const changed = { 'Content-Type': 'application/json; charset=utf-8' };
  expect((await running.post('api/v1/payment/', redirect('card'), changed)).status).toBe(201);
});

test('a name that could hold a card number is not repeated', async () => {
  const answer = await running.createPayment({ ...redirect('card'), [PAN]: 1, [`x${PAN}`]: 1 });
  refuses(answer, { '(unnamed)': 'is unknown' });
});

test.each([
  ['', { channel: 'is required', transaction_id: 'is required where external_id is not given' }],
  [`channel=${CHANNEL}`, { transaction_id: 'is required where external_id is not given' }],
  ['channel=7&external_id=a', { channel: 'must be a UUID' }],
  [`channel=${CHANNEL}&transaction_id=7`, { transaction_id: 'must be a UUID' }],
  [`channel=${CHANNEL}&external_id=`, { external_id: 'must not be empty' }],
  [`channel=${CHANNEL}&external_id=a&page=2`, { page: 'is unknown' }],
  [`channel=${CHANNEL}&external_id=a&external_id=b`, { query: 'must not give a name twice' }],
  [`channel=${CHANNEL}&external_id`, { query: 'must be name=value pairs' }],
  [`channel=${CHANNEL}&external_id=%ff`, { query: 'must be percent-encoded UTF-8' }],
])('the lookup query %j is refused', async (query, errors) => {
  refuses(await running.get('api/v1/payment/', query), errors);
  refuses(await running.get('api/v1/payout/', query), errors);
});
