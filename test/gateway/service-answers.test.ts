import type { Reply } from '../support/scripted-service';
import { TRANSACTION_ID } from './fixtures/calls';
import { withFreshGateway } from './fixtures/fresh-gateway';
import {
  CONFIRM,
  CREATE_PAYMENT,
  CREATE_PAYOUT,
  LOOKUPS,
  MONEY_CALLS,
  type Ending,
  type ServiceCall,
} from './fixtures/service-calls';
import { ANOTHER_ID, GOOD, SOME_HTML, answerWith } from './fixtures/service-faults';
import { expectErrors } from './fixtures/raw';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig({ SERVICE_TIMEOUT_MS: '5000' });
});

beforeEach(() => clear(rig));

/** How a call ends when the service answers it like that, and nothing stays unknown. */
function endingOf(call: ServiceCall, reply: Reply): Promise<Ending> {
  rig.service.answer(() => reply);
  return call(rig.client);
}

/** How a create or confirm ends, in a gateway that has seen no other, when it is answered like that and lookups find nothing. */
function firstEndingOf(call: ServiceCall, reply: Reply, timeoutMs: number): Promise<Ending> {
  rig.service.answer(({ method }) => (method === 'POST' ? reply : { status: 404, json: {} }));
  return withFreshGateway(rig.service.url, timeoutMs, call);
}

/** What became of a call that ends as unknown is searched for during most of this time. */
const SHORT_MS = 300;
/** For a call that ends as soon as it has its answer. */
const LONG_MS = 5000;

const sent = (method: string) => rig.service.seen.filter((request) => request.method === method);

function expectUnknown({ result, names }: Ending): void {
  expect(result).toMatchObject({ __typename: 'OutcomeUnknownError', ...names });
  expect(sent('POST')).toHaveLength(1);
  expect(sent('GET').length).toBeGreaterThan(0);
}

const [[, lookUpPayment], [, lookUpPayout]] = LOOKUPS as [(typeof LOOKUPS)[0], (typeof LOOKUPS)[0]];

describe('An answer that contradicts the request is not believed', () => {
  test.each([
    ['a lookup by transaction id, of another transaction', lookUpPayment, { transaction_id: ANOTHER_ID }],
    ['a lookup by external id, of another external id', lookUpPayout, { external_id: 'order-2' }],
  ])('%s', async (_call, call, more) => {
    expectErrors(await endingOf(call, answerWith(more)), 'SERVICE_RESPONSE_INVALID');
  });

  test.each([
    [
      'a create of a payment, of another amount',
      CREATE_PAYMENT,
      { amount: { currency: 'USD', value: '10.01' } },
    ],
    [
      'a create of a payment, of another currency',
      CREATE_PAYMENT,
      { amount: { currency: 'EUR', value: '10.00' } },
    ],
    [
      'a create of a payment, of an amount that is none',
      CREATE_PAYMENT,
      { amount: { currency: 'USD', value: 'ten' } },
    ],
    ['a create of a payment, of an amount that is a list', CREATE_PAYMENT, { amount: ['10.00'] }],
    ['a create of a payment, of another external id', CREATE_PAYMENT, { external_id: 'another' }],
    [
      'a create of a payout, of another amount',
      CREATE_PAYOUT,
      { amount: { currency: 'USD', value: '100.00' } },
    ],
    ['a create of a payout, of another external id', CREATE_PAYOUT, { external_id: 'another' }],
    ['a confirm, of another payment', CONFIRM, { transaction_id: ANOTHER_ID }],
  ])('%s: the outcome is unknown', async (_call, call, more) => {
    expectUnknown(await firstEndingOf(call, answerWith(more), SHORT_MS));
  });
});

describe('What is found after a lost answer, and contradicts the request, is not believed', () => {
  test.each<[string, ServiceCall, object]>([
    ['a payment of another amount', CREATE_PAYMENT, { amount: { currency: 'USD', value: '10.01' } }],
    ['a payment by another method', CREATE_PAYMENT, { payment_method: { type: 'card' } }],
    ['a payment of 2020', CREATE_PAYMENT, { create_date: '2020-01-01T00:00:00.000000+00:00' }],
    ['a payment on another channel', CREATE_PAYMENT, { channel: ANOTHER_ID }],
    ['a payout of another amount', CREATE_PAYOUT, { amount: { currency: 'USD', value: '10.01' } }],
    ['a payout by another method', CREATE_PAYOUT, { method: 'card' }],
    ['a payout on another channel', CREATE_PAYOUT, { channel: ANOTHER_ID }],
  ])('%s', async (_what, call, more) => {
    // Created in the moment in which it is looked for: what is older is not what was just created.
    const right = (): object => ({
      amount: { currency: 'USD', value: '10.00' },
      create_date: new Date().toISOString(),
      ...(call === CREATE_PAYMENT && { payment_method: { type: 'other' } }),
    });
    rig.service.answer(({ method }) =>
      method === 'POST' ? { status: 500, json: {} } : answerWith({ ...right(), ...more }),
    );
    expectUnknown(await withFreshGateway(rig.service.url, SHORT_MS, call));
    rig.service.answer(({ method }) => (method === 'POST' ? { status: 500, json: {} } : answerWith(right())));
    const found = await withFreshGateway(rig.service.url, LONG_MS, call);
    expect(found.result).toMatchObject({
      __typename: expect.stringMatching(/Success$/) as unknown,
      replayed: true,
    });
  });
});

describe('An answer that only looks different is believed', () => {
  test.each<[string, typeof CREATE_PAYMENT, Reply]>([
    ['an id in capital letters', CONFIRM, answerWith({ transaction_id: TRANSACTION_ID.toUpperCase() })],
    [
      'a channel in capital letters',
      CREATE_PAYMENT,
      answerWith({ channel: '7C1BD1E0-6B1B-4C8A-9D7E-0F5A4A3C2B10' }),
    ],
    ['an amount without decimals', CREATE_PAYMENT, answerWith({ amount: { currency: 'USD', value: '10' } })],
    ['an amount that is a number', CREATE_PAYMENT, answerWith({ amount: { currency: 'USD', value: 10 } })],
    [
      'null for what it leaves out',
      CREATE_PAYOUT,
      answerWith({ external_id: null, amount: null, channel: null }),
    ],
    [
      'a type with a charset',
      CREATE_PAYMENT,
      { status: 201, json: GOOD, headers: { 'content-type': 'application/json; charset=utf-8' } },
    ],
    [
      'a type of JSON with a name',
      CREATE_PAYMENT,
      { status: 201, json: GOOD, headers: { 'content-type': 'application/problem+json' } },
    ],
    ['200 instead of 201', CREATE_PAYOUT, { status: 200, json: GOOD }],
    ['201 instead of 200', CONFIRM, { status: 201, json: GOOD }],
    [
      'early hints before it',
      CREATE_PAYMENT,
      (response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(GOOD));
      },
    ],
  ])('%s', async (_what, call, reply) => {
    expect((await firstEndingOf(call, reply, 5000)).result?.__typename).toMatch(/Success$/);
    expect(rig.service.seen.map(({ method }) => method)).toEqual(['POST']);
  });
});

describe('What the service says when it refuses reaches the caller', () => {
  const plain = { 'content-type': 'text/plain; charset=utf-8' };
  const SHAPES: [string, Reply, string][] = [
    ['message', { status: 400, json: { message: 'Amount too small' } }, 'Amount too small'],
    ['detail', { status: 400, json: { detail: 'Amount too small' } }, 'Amount too small'],
    ['error', { status: 400, json: { error: 'Amount too small' } }, 'Amount too small'],
    [
      'an error object',
      { status: 400, json: { error: { code: 'X', message: 'Amount too small' } } },
      'Amount too small',
    ],
    ['a list of errors', { status: 400, json: { errors: ['Too small', 'Too late'] } }, 'Too small; Too late'],
    [
      'a list of error objects',
      { status: 400, json: { errors: [{ message: 'Too small' }, { detail: 'Too late' }] } },
      'Too small; Too late',
    ],
    ['errors by field', { status: 400, json: { errors: { amount: ['Too small'] } } }, 'amount: Too small'],
    ['fields alone', { status: 400, json: { amount: ['Too small'] } }, 'amount: Too small'],
    [
      'a message and errors',
      { status: 422, json: { message: 'Invalid', errors: { amount: ['Too small'] } } },
      'Invalid; amount: Too small',
    ],
    ['plain text', { status: 400, body: 'Amount too small', headers: plain }, 'Amount too small'],
  ];
  const SILENT = 'The payment service refused the request and did not say why.';
  const UNFIT: [string, Reply, string][] = [
    ['HTML', { status: 400, body: SOME_HTML, headers: { 'content-type': 'text/html' } }, SILENT],
    ['HTML as plain text', { status: 400, body: SOME_HTML, headers: plain }, SILENT],
    ['HTML as JSON', { status: 400, body: SOME_HTML }, SILENT],
    ['HTML in a message', { status: 400, json: { message: SOME_HTML } }, SILENT],
    ['a very long message', { status: 400, json: { message: 'x'.repeat(5000) } }, SILENT],
    ['control characters', { status: 400, json: { message: 'a\u001b[31mb' } }, SILENT],
    ['an empty message', { status: 400, json: { message: ' ' } }, SILENT],
    ['a number', { status: 400, json: { message: 17 } }, SILENT],
    ['an empty object', { status: 400, json: {} }, SILENT],
    [
      'a deep object',
      { status: 400, json: JSON.parse(`${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`) as object },
      SILENT,
    ],
    ['no body', { status: 400, body: '' }, SILENT],
  ];

  test.each([...SHAPES, ...UNFIT])('said as %s', async (_shape, reply, text) => {
    for (const [, call] of MONEY_CALLS) {
      const { result } = await endingOf(call, reply);
      expect(result).toMatchObject({ __typename: 'RejectedByServiceError', code: 'REJECTED_BY_SERVICE' });
      // That of a confirm also says what to do now.
      expect(result?.message?.startsWith(text)).toBe(true);
      expect(result?.httpStatus).toBe('status' in reply ? reply.status : 0);
    }
    const { errors } = await endingOf(lookUpPayment, reply);
    expect(errors?.[0]).toMatchObject({ message: text, extensions: { code: 'BAD_USER_INPUT' } });
  });
});

describe('A status has its own meaning', () => {
  test.each([403, 404])('%d refuses a create or confirm', async (status) => {
    for (const [, call] of MONEY_CALLS) {
      expect((await endingOf(call, { status, json: { message: 'no' } })).result).toMatchObject({
        __typename: 'RejectedByServiceError',
        httpStatus: status,
      });
    }
  });

  test.each([409, 425])(
    '%d leaves open what became of a create or confirm, and is no bug of the gateway in a lookup',
    async (status) => {
      const reply = { status, json: { message: 'no' } };
      for (const [, call] of MONEY_CALLS) {
        clear(rig);
        expectUnknown(await firstEndingOf(call, reply, SHORT_MS));
      }
      expectErrors(await endingOf(lookUpPayment, reply), /^(BAD_USER_INPUT|SERVICE_UNAVAILABLE)$/);
    },
  );

  test('404 in a lookup means that there is no such transaction', async () => {
    for (const [, call] of LOOKUPS) {
      const { found, errors } = await endingOf(call, { status: 404, json: { message: 'no' } });
      expect(found).toBeNull();
      expect(errors).toBeUndefined();
    }
  });

  test('403 in a lookup means that the credentials of the gateway were refused', async () => {
    const reply = { status: 403, json: { message: 'no' } };
    for (const [, call] of LOOKUPS) expectErrors(await endingOf(call, reply), 'SERVICE_AUTH_FAILED');
  });

  test('SERVICE_NOT_FOUND_STATUS says which status means that there is no such transaction', async () => {
    const other = await newRig({ SERVICE_NOT_FOUND_STATUS: '400' });
    other.service.answer(() => ({ status: 400, json: { message: 'Not found' } }));
    const missing = await lookUpPayment(other.client);
    expect(missing.found).toBeNull();
    expect(missing.errors).toBeUndefined();
    expect((await CREATE_PAYMENT(other.client)).result?.__typename).toBe('RejectedByServiceError');
    other.service.answer(() => ({ status: 404, json: { message: 'no' } }));
    expectErrors(await lookUpPayment(other.client), 'BAD_USER_INPUT');
  });

  test.each([
    ['7', 7000],
    ['0', 0],
    ['soon', undefined],
    ['-1', undefined],
    ['999999999', undefined],
  ])('429 with Retry-After %s asks the caller to wait', async (header, retryAfterMs) => {
    const reply = { status: 429, json: {}, headers: { 'retry-after': header } };
    for (const [, call] of [...LOOKUPS, ...MONEY_CALLS]) {
      const { errors } = await endingOf(call, reply);
      expect(errors?.[0]?.extensions['code']).toBe('SERVICE_UNAVAILABLE');
      expect(errors?.[0]?.extensions['retryAfterMs']).toBe(retryAfterMs);
    }
  });
});
