import { CHANNEL } from '../support/gateway';
import { make, validCall, withValue } from './fixtures/calls';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

describe('What fits is sent in one form', () => {
  test.each([
    ['1', '1.00'],
    ['5.5', '5.50'],
    ['0.01', '0.01'],
    ['007.1', '7.10'],
    ['000000000000001', '1.00'],
    ['999999999999999.99', '999999999999999.99'],
  ])('a Decimal: %s as %s', async (value, sent) => {
    const { mutation, input } = validCall('createPayment', 'other');
    const { result } = await make(rig.client, {
      mutation,
      input: withValue(input, ['amount', 'value'], value),
    });
    expect(result?.__typename).toBe('PaymentSuccess');
    expect(rig.service.seen[0]?.json['amount']).toEqual({ currency: 'USD', value: sent });
  });

  test('a UUID: any case in, lower case out', async () => {
    const { mutation, input } = validCall('createPayment', 'other');
    const { result } = await make(rig.client, {
      mutation,
      input: { ...input, channel: CHANNEL.toUpperCase() },
    });
    expect(result?.__typename).toBe('PaymentSuccess');
    expect(rig.service.seen[0]?.json['channel']).toBe(CHANNEL);
  });

  test.each([
    'https://example.test/back?order=1&x=%20#part',
    'https://example.test:8080/',
    'HTTPS://EXAMPLE.TEST/',
    'https://Example.Test/%7Ea/b?c=d@e',
    `https://example.test/${'x'.repeat(2027)}`,
  ])('a URL: exactly as it was written: %s', async (url) => {
    const { mutation, input } = validCall('createPayment', 'other');
    const { result } = await make(rig.client, {
      mutation,
      input: { ...input, returnUrl: url, callbackUrl: url },
    });
    expect(result?.__typename).toBe('PaymentSuccess');
    expect(rig.service.seen[0]?.json).toMatchObject({ return_url: url, callback_url: url });
  });

  test('a JSON object literal: with the variables in it', async () => {
    const query = `mutation M($inner: String!) { createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}",
      amount: { currency: "USD", value: "1" }, method: { other: { fields: { a: [1, 2.5, true, null, WORD], b: { c: $inner } } } }
    }) { __typename } }`;
    const { errors } = await rig.client.ask(query, { inner: 'x' });
    expect(errors).toBeUndefined();
    const fields = { a: [1, 2.5, true, null, 'WORD'], b: { c: 'x' } };
    expect(rig.service.seen[0]?.json['payment_method']).toEqual({ type: 'other', ...fields });
  });
});

describe('What the service sends goes out as it came', () => {
  test('decimals, times and unknown currencies, to the last digit', async () => {
    rig.service.answer(() => ({
      status: 200,
      json: {
        status: 'mispaid',
        transaction_id: '0B7A1C52-6A55-4D0E-9C55-6F1F3E0D2A11',
        amount: { currency: 'XYZ', value: '10', received: '9.990' },
        create_date: '2024-05-31T09:12:45.123456+02:30',
        redirect_url: 'javascript:alert(1)',
      },
    }));
    const query = `query Q($c: UUID!) { payment(channel: $c, externalId: "o") { ... on PaymentResource {
      transactionId amount { currency value received } createDate redirectUrl } } }`;
    const { data, errors } = await rig.client.ask(query, { c: CHANNEL });
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      payment: {
        transactionId: '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11',
        amount: { currency: 'XYZ', value: '10', received: '9.990' },
        createDate: '2024-05-31T09:12:45.123456+02:30',
        redirectUrl: null,
      },
    });
  });
});
