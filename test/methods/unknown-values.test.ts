import { findDeclineReason, type DeclineReason } from '../../src/schema/decline';
import { CHANNEL as channel } from '../support/caller';
import { validCall } from '../support/calls';
import { openHarness, type MethodHarness } from './harness';
import { type Json } from './golden-bodies';
import { createPayment, lookUpPayment, createPayout, lookUpPayout } from './selection';

let harness: MethodHarness;

beforeAll(async () => {
  harness = await openHarness();
});

async function expectShown(document: string, variables: object, shown: Json): Promise<void> {
  const { data, errors } = await harness.gateway.request(document, variables);
  expect(errors).toBeUndefined();
  expect(data).toMatchObject(shown);
}

describe('A payment with unexpected values', () => {
  const transactionId = '3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01';
  const url = 'https://pay.example.com/page/1';

  const PAYMENT = {
    status: 'processing',
    transaction_id: transactionId,
    amount: { currency: 'INR', value: '100.00' },
    redirect_url: url,
    channel,
    payment_method: { type: 'upi', upi_id: 'merchant@upi', state: 'waiting_for_utr' },
    create_date: '2024-05-31T09:12:45.123456+00:00',
  };
  const wait = { __typename: 'AwaitProviderAction', pollAfterMs: 2000 };
  const redirect = { __typename: 'RedirectAction', url };

  const failure = (error: unknown): Json => ({ status: 'failed', error });

  const payments: [string, Json, Json][] = [
    ['a new status', { status: 'teleported' }, { status: 'UNKNOWN', rawStatus: 'teleported', method: 'UPI' }],
    [
      'a new state',
      { payment_method: { type: 'upi', state: 'waiting_for_rain' } },
      { state: 'UNKNOWN', nextAction: wait },
    ],
    [
      'a new error code (without a decline reason)',
      failure({ code: 'DECLINED_BY_ORACLE', message: 'Do not honor' }),
      { error: { code: 'UNKNOWN', rawCode: 'DECLINED_BY_ORACLE', message: 'Do not honor', reason: null } },
    ],
    ['an error that is no object', failure('declined'), { status: 'FAILED', error: null }],
    [
      'a new method type',
      { payment_method: { type: 'crypto', coin: 'x', net: { id: 1 } } },
      {
        __typename: 'OtherPayment',
        method: 'OTHER',
        type: 'crypto',
        fields: { coin: 'x', net: { id: 1 } },
        nextAction: redirect,
      },
    ],
    [
      'the method type __proto__',
      { payment_method: { type: '__proto__' } },
      { __typename: 'OtherPayment', type: '__proto__', fields: null },
    ],
    [
      'no payment_method',
      { payment_method: undefined },
      { __typename: 'OtherPayment', method: 'OTHER', type: 'other', fields: null },
    ],
    ['a payment_method that is no object', { payment_method: ['upi'] }, { __typename: 'OtherPayment' }],
    [
      'numbers instead of strings',
      { amount: { currency: 'INR', value: 100.5 }, payment_method: { type: 'upi', phone: 9198 } },
      { amount: { value: '100.5' }, phone: '9198' },
    ],
    ['an amount that is no object', { amount: '100.00' }, { amount: null }],
    [
      'a card number with a decimal point as the received amount',
      { amount: { currency: 'INR', value: '41111111111.150', received: '0.4111111111111111' } },
      { amount: { value: '41111111111.150', received: null } },
    ],
  ];

  test.each(payments)('is returned by a lookup when the response has %s', async (_what, output, expected) => {
    harness.respond({ get: { status: 200, json: { ...PAYMENT, ...output } } });
    const shown = { payment: { transactionId, ...expected } };
    await expectShown(lookUpPayment(), { channel, transactionId }, shown);
  });

  /** After a create the gateway also knows the method of the request. */
  const created: [string, Json, Json][] = [
    [
      'a new method type',
      { payment_method: { type: 'crypto', coin: 'x' } },
      { __typename: 'OtherPayment', type: 'crypto', fields: { coin: 'x' } },
    ],
    [
      'no method type',
      { payment_method: { upi_id: 'm@upi' } },
      { __typename: 'UpiPayment', method: 'UPI', upiId: 'm@upi' },
    ],
  ];

  test.each(created)(
    'is returned by createPayment when the response has %s',
    async (_what, output, expected) => {
      harness.respond({ post: { status: 201, json: { ...PAYMENT, ...output } }, get: { status: 500 } });
      const amount = { currency: 'INR', value: '100' };
      const input = { idempotencyKey: 'k', channel, amount, method: { redirect: 'UPI' } };
      const shown = { createPayment: { payment: { transactionId, ...expected } } };
      await expectShown(createPayment(), { input }, shown);
    },
  );
});

describe('A payout with unexpected values', () => {
  const transactionId = 'b1a9e0c4-52d7-4c36-8a1f-0c9d2e7b6f02';

  const PAYOUT = {
    status: 'failed',
    transaction_id: transactionId,
    method: 'imps',
    external_id: 'p-1',
    error: { code: 'DECLINED_GENERIC', message: 'No' },
  };

  const payouts: [string, Json, Json][] = [
    ['a new status', { status: 'new' }, { status: 'UNKNOWN', rawStatus: 'new', __typename: 'ImpsPayout' }],
    ['a new method', { method: 'crypto' }, { __typename: 'OtherPayout', method: 'OTHER', type: 'crypto' }],
    ['no method', { method: null }, { __typename: 'OtherPayout', method: 'OTHER', type: null }],
  ];

  test.each(payouts)('is returned by a lookup when the response has %s', async (_what, output, expected) => {
    harness.respond({ get: { status: 200, json: { ...PAYOUT, ...output } } });
    const shown = { payout: { transactionId, ...expected } };
    await expectShown(lookUpPayout(), { channel, transactionId }, shown);
  });

  test('is returned by createPayout when the response has a new status', async () => {
    const post = { status: 'queued', transaction_id: transactionId, external_id: null };
    harness.respond({ post: { status: 201, json: post } });
    const { input } = validCall('createPayout', 'imps');
    const { externalId } = input;
    const payout = { __typename: 'ImpsPayout', status: 'UNKNOWN', rawStatus: 'queued', externalId };
    await expectShown(createPayout(), { input }, { createPayout: { payout } });
  });
});

/** Texts by reason. Texts are an open set (spec 7.2); those that the specification names may be spelled in any way. */
const READABLE: Record<DeclineReason, string[]> = {
  DO_NOT_HONOR: ['DO_NOT_HONOR', '05: Do Not Honour.', 'Declined (do  not\thonor)'],
  AUTHENTICATION_FAILED: ['3ds_authentication_error', '3-D Secure authentication failed'],
  INSUFFICIENT_FUNDS: ['51 - Insufficient Funds', 'Not enough funds on the account'],
  CARD_EXPIRED: ['The card has expired.', '54/expired-card'],
  SUSPECTED_FRAUD: ['Suspected-Fraud (59)', 'Fraud suspected', 'Suspicion of fraud'],
  NOT_PERMITTED: ['57: transaction is not permitted', 'Transaction not allowed'],
};

test.each(Object.entries(READABLE))('The decline reason is %s for each of the texts %j', (reason, texts) => {
  expect(texts.map(findDeclineReason)).toEqual(texts.map(() => reason));
});

/** Texts without a reason, by explanation, because a wrong reason would be worse than none. */
const UNREADABLE: Record<string, string[]> = {
  'is blank': ['', '\n'],
  'has no known reason': ['Error 96', 'Declined', 'funds', 'fraud', 'expired', '3DS', '😀'],
  'negates a reason': [
    ...['no suspected fraud', 'not suspected fraud', 'without suspected fraud', 'suspected fraud: no'],
    ...['Fraud not suspected', 'sufficient funds', 'Funds are not insufficient', 'card expired: false'],
    ...['card is not expired', 'Transaction permitted', 'do honor', 'no 3DS authentication error'],
    ...['3DS authentication successful', 'authentication never failed'],
  ],
  'has two reasons': ['Insufficient funds or card expired', 'do not honor / suspected fraud'],
  'only contains words that look similar': ['donothonors', 'insufficient fundsX', 'discard expired'],
};

test.each(Object.entries(UNREADABLE))('A decline has no reason if its text %s, as in %j', (_why, texts) => {
  expect(texts.map(findDeclineReason)).toEqual(texts.map(() => null));
});
