import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomUUID } from 'node:crypto';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, fetchExchange } from '@urql/core';
import {
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  PaymentDocument,
  WatchPaymentDocument,
  confirmationFor,
  formatMoney,
  gatewayError,
  isRetryable,
  possibleTypes,
  typePolicies,
  type ConfirmationField,
  type CreatePaymentInput,
} from '@paygraph/client';
import fc from 'fast-check';
import { coerceInputValue, isEnumType, isInputType, print } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { paymentInput, upiInput } from '../clients/samples';
import { graphqlWsClient } from '../live/support/graphql-ws-client';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';

let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  sandbox = await testSandbox();
  ({ url } = await testGateway(sandbox.url));
});

const somewhere = () => ({ channel: CHANNEL, transactionId: randomUUID() });

const apollo = (uri: string, headers: Record<string, string> = AUTHORIZED) =>
  new ApolloClient({
    link: new HttpLink({ uri, headers }),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
  });

type Ask = (
  at: string,
  variables: { channel: string; transactionId: string },
  headers?: Record<string, string>,
) => Promise<unknown>;

/** What each client throws or returns instead of a payment. */
const CLIENTS: [name: string, ask: Ask][] = [
  [
    'Apollo Client',
    (at, variables, headers) =>
      apollo(at, headers)
        .query({ query: PaymentDocument, variables })
        .then(
          ({ error }) => error,
          (thrown: unknown) => thrown,
        ),
  ],
  [
    'urql',
    async (at, variables, headers = AUTHORIZED) => {
      const options = {
        exchanges: [fetchExchange],
        preferGetMethod: false,
        fetchOptions: { headers },
      };
      return (await new Client({ url: at, ...options }).query(PaymentDocument, variables)).error;
    },
  ],
  [
    'the body of a response',
    async (at, variables, headers = AUTHORIZED) => {
      const body = JSON.stringify({ query: print(PaymentDocument), variables });
      const json = { 'content-type': 'application/json' };
      return (await fetch(at, { method: 'POST', headers: { ...json, ...headers }, body })).json();
    },
  ],
];

describe.each(CLIENTS)('gatewayError reads from %s', (_name, ask) => {
  test('a lookup that may be repeated', async () => {
    sandbox.control.inject({ operation: 'lookup', fault: 'status', status: 503, times: 9 });
    const error = await ask(url, somewhere());
    sandbox.control.reset();
    expect(gatewayError(error)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      path: ['payment'],
      fields: [],
    });
    expect(isRetryable(error)).toBe(true);
  });

  test('a variable that does not fit', async () => {
    const error = await ask(url, { channel: 'mine', transactionId: randomUUID() });
    expect(gatewayError(error)).toMatchObject({
      code: 'BAD_USER_INPUT',
      retryable: false,
      retryAfterMs: null,
    });
    expect(isRetryable(error)).toBe(false);
  });

  test('credentials that are not good, with HTTP 401', async () => {
    const error = await ask(url, somewhere(), { authorization: 'Bearer pgk_nobody' });
    expect(gatewayError(error)).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false, path: null });
  });

  test('a limit with the time to wait, with HTTP 429', async () => {
    const limited = await testGateway(sandbox.url, { env: { RATE_LIMIT_PER_MINUTE: '1' } });
    await ask(limited.url, somewhere());
    const error = await ask(limited.url, somewhere());
    const read = gatewayError(error);
    expect(read).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    expect(read?.retryAfterMs).toBeGreaterThan(0);
  });
});

describe('gatewayError', () => {
  test('reads the errors of a subscription with graphql-ws', async () => {
    const watch = new Promise<unknown>((resolve) => {
      const query = print(WatchPaymentDocument);
      const sink = { next: () => undefined, complete: () => undefined, error: resolve };
      graphqlWsClient(url).subscribe({ query, variables: somewhere() }, sink);
    });
    expect(gatewayError(await watch)).toMatchObject({ code: 'NOT_FOUND', retryable: false });
  });

  test('reads the fields of an error, and the first of several errors that is the gateway’s', () => {
    const fields = [{ path: ['input', 'amount', 'value'], rule: 'decimal' }];
    const extensions = { code: 'BAD_USER_INPUT', retryable: false, requestId: 'r', fields };
    const foreign = { message: 'm', extensions: { code: 'DOWNSTREAM_SERVICE_ERROR' } };
    expect(gatewayError([foreign, { message: 'm', extensions }])).toMatchObject({ requestId: 'r', fields });
    expect(gatewayError({ message: 'm', extensions })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each(CLIENTS.slice(0, 2))(
    'is null with %s where nobody answers, or a proxy does',
    async (_name, ask) => {
      const proxy = createServer((_request, response) => {
        response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => proxy.once('listening', resolve));
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const answered = await ask(address, somewhere());
      await new Promise((resolve) => proxy.close(resolve));
      const unanswered = await ask(address, somewhere());
      for (const error of [answered, unanswered]) {
        expect(error).toBeDefined();
        expect(gatewayError(error)).toBeNull();
        expect(isRetryable(error)).toBe(false);
      }
    },
  );

  test.each([
    [undefined],
    [null],
    ['UNAUTHENTICATED'],
    [new Error('SERVICE_UNAVAILABLE')],
    [new AggregateError([new Error('one')])],
    [[]],
    [{ errors: [{ message: 'Unknown field.' }] }],
    [{ data: { payment: null } }],
    [{ bodyText: '{' }],
    [{ bodyText: 'null' }],
  ])('is null for %p', (value) => {
    expect(gatewayError(value)).toBeNull();
  });
});

describe('confirmationFor', () => {
  const schema = gatewaySchema();
  const fields = schema.getType('ConfirmationField');
  const FIELDS = isEnumType(fields) ? fields.getValues().map(({ name }) => name as ConfirmationField) : [];

  test.each(FIELDS)('makes a ConfirmationInput with the field %s', (confirmWith) => {
    const input = schema.getType('ConfirmationInput');
    const made = confirmationFor({ confirmWith }, '123456');
    expect(Object.keys(made)).toEqual([confirmWith]);
    if (!isInputType(input)) throw new Error('It is no input.');
    // Throws where it does not fit.
    coerceInputValue(made, input);
  });

  const waiting: [currency: string, method: CreatePaymentInput['method'], value: string | undefined][] = [
    ['INR', { upi: { phone: '+919876543210' } }, '412345678901'],
    ['KZT', { dcb: { userId: 'u', phone: '+77011234567', firstName: 'A', lastName: 'P' } }, '123456'],
    [
      'BDT',
      { bkash: { firstName: 'A', surname: 'P', phone: '+8801712345678', email: 'a@example.com' } },
      '1',
    ],
    ['KZT', { c2c: { firstName: 'A' } }, undefined],
  ];

  test.each(waiting)('confirms a payment in %s by %p', async (currency, method, value) => {
    const client = apollo(url);
    const variables = { input: paymentInput({ amount: { currency, value: '500.00' }, method }) };
    const { data } = await client.mutate({ mutation: CreatePaymentDocument, variables });
    if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('It was not created.');
    const { transactionId, nextAction } = data.createPayment.payment;
    if (!nextAction || !('confirmWith' in nextAction)) throw new Error('It is not to be confirmed.');
    const confirmation = confirmationFor(nextAction, value);
    const confirmed = await client.mutate({
      mutation: ConfirmPaymentDocument,
      variables: { input: { channel: CHANNEL, transactionId, confirmation } },
    });
    expect(confirmed.data?.confirmPayment).toMatchObject({ __typename: 'PaymentSuccess', replayed: false });
  });

  test('throws where a value is missing, and where a newer gateway names another field', () => {
    expect(() => confirmationFor({ confirmWith: 'upi' })).toThrow(TypeError);
    for (const unknown of ['pigeon', 'constructor', '__proto__'])
      expect(() => confirmationFor({ confirmWith: unknown as ConfirmationField }, '1')).toThrow(TypeError);
  });
});

describe('formatMoney', () => {
  const CURRENCIES = ['EUR', 'INR', 'IDR', 'JPY', 'KWD', 'KZT', 'BDT', 'PKR', 'USDT', 'Bitcoin', ''];
  const digitsOf = (text: string): string => text.replace(/[^0-9]/g, '');

  test('shows every digit of the value, however many, and at least two decimals', () => {
    const whole = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String);
    const decimals = fc.array(fc.constantFrom(...'0123456789'), { maxLength: 18 }).map((all) => all.join(''));
    fc.assert(
      fc.property(whole, decimals, fc.constantFrom(...CURRENCIES), (before, after, currency) => {
        const value = after === '' ? before : `${before}.${after}`;
        const shown = formatMoney({ value, currency }, 'en-US');
        expect(digitsOf(shown)).toBe(before + after.padEnd(2, '0'));
      }),
    );
  });

  test.each([
    [{ value: '1234.5', currency: 'EUR' }, 'en-US', '€1,234.50'],
    [{ value: '1234.50', currency: 'INR' }, 'en-IN', '₹1,234.50'],
    [{ value: '1000.00', currency: 'JPY' }, 'en-US', '¥1,000.00'],
    [{ value: '1000.00', currency: 'USDT' }, 'de-DE', '1.000,00 USDT'],
    [{ value: '-5', currency: 'EUR' }, 'en-US', '-€5.00'],
    [{ value: '1e3', currency: 'EUR' }, 'en-US', '1e3 EUR'],
  ])('formats %p for %s', (amount, locale, shown) => {
    expect(formatMoney(amount, locale)).toBe(shown);
  });

  test('throws RangeError for a locale that Intl refuses', () => {
    expect(() => formatMoney({ value: '1.00', currency: 'EUR' }, 'en_US')).toThrow(RangeError);
  });

  test('follows the locale of the runtime where none is given', () => {
    const amount = { value: '9.90', currency: 'EUR' };
    expect(formatMoney(amount)).toBe(formatMoney(amount, new Intl.NumberFormat().resolvedOptions().locale));
  });
});

describe('typePolicies', () => {
  test('keep a known externalId where a later response has none', async () => {
    const client = apollo(url);
    const externalId = `order-${randomUUID()}`;
    const { data } = await client.mutate({
      mutation: CreatePaymentDocument,
      variables: { input: { ...upiInput(), externalId } },
    });
    if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('It was not created.');
    const { channel, transactionId } = data.createPayment.payment;
    const query = { query: PaymentDocument, variables: { channel, transactionId } };
    const bare = await apollo(url).query(query);
    expect(bare.data?.payment?.externalId).toBeNull();
    const known = await client.query({ ...query, fetchPolicy: 'network-only' });
    expect(known.data?.payment).toMatchObject({ externalId, transactionId });
  });
});
