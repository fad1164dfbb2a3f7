import { drawQrCode } from '../../src/schema/qr-code';
import { testGateway } from '../support/gateway';
import { openBench, type Bench } from './bench';
import type { Json } from './golden-bodies';
import { readDrawings, readQrImage } from './qr-image';
import { lookUpPayment } from './selection';

/** What the payer or the client has to do next, for every status and state of the service (spec 3.1, 3.3). */

const channel = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const transactionId = '3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01';
const url = 'https://pay.example.com/page/1';

const redirect = { __typename: 'RedirectAction', url, pollAfterMs: 2000 };
const wait = { __typename: 'AwaitProviderAction', pollAfterMs: 2000 };

const OPEN = ['pending', 'processing', 'suspended'];
const FINISHED = ['completed', 'failed', 'mispaid'];
const STATES = [
  'waiting_for_utr',
  'waiting_for_code',
  'waiting_for_confirm',
  'waiting_for_provider',
  'waiting_for_rain',
];

interface Waiting {
  type: string;
  /** The state in which somebody has to do something. */
  state: string;
  facts: Json;
  action: Json;
  actionWithoutFacts: Json;
}

const wallet = (type: string): Waiting => ({
  type,
  state: 'waiting_for_code',
  facts: { account: '01700000001' },
  action: { __typename: 'ProvideCodeAction', account: '01700000001', confirmWith: type },
  actionWithoutFacts: { __typename: 'ProvideCodeAction', account: null, confirmWith: type },
});

const methods: Waiting[] = [
  {
    type: 'upi',
    state: 'waiting_for_utr',
    facts: { upi_id: 'm@upi', upi_link: 'upi://pay?pa=m@upi' },
    action: {
      __typename: 'ProvideUtrAction',
      upiId: 'm@upi',
      upiLink: 'upi://pay?pa=m@upi',
      confirmWith: 'upi',
    },
    actionWithoutFacts: { __typename: 'ProvideUtrAction', upiId: null, upiLink: null, confirmWith: 'upi' },
  },
  {
    type: 'dcb',
    state: 'waiting_for_code',
    facts: { phone: '77011234567' },
    action: { __typename: 'ProvideCodeAction', account: null, confirmWith: 'dcb' },
    actionWithoutFacts: { __typename: 'ProvideCodeAction', account: null, confirmWith: 'dcb' },
  },
  {
    type: 'c2c',
    state: 'waiting_for_confirm',
    facts: { card_number: '4400430000000003', recipient: 'ALIYA K.' },
    action: {
      __typename: 'ConfirmTransferAction',
      cardNumber: '4400430000000003',
      recipient: 'ALIYA K.',
      confirmWith: 'c2c',
    },
    actionWithoutFacts: {
      __typename: 'ConfirmTransferAction',
      cardNumber: null,
      recipient: null,
      confirmWith: 'c2c',
    },
  },
  wallet('bkash'),
  wallet('nagad'),
  wallet('rocket'),
];

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

async function nextActionOf(answer: Json): Promise<unknown> {
  bench.answers({ get: { status: 200, json: { transaction_id: transactionId, channel, ...answer } } });
  const { data, errors } = await bench.gateway.ask(lookUpPayment(), { channel, transactionId });
  expect(errors).toBeUndefined();
  const { payment } = readDrawings(data) as { payment: Json };
  return payment['nextAction'];
}

const everyState = methods.flatMap((method) =>
  STATES.map((state): [string, string, Waiting] => [method.type, state, method]),
);

test.each(everyState)(
  '%s in the state %s says what to do, as long as the payment is open',
  async (type, state, method) => {
    const isTurn = state === method.state;
    for (const status of OPEN) {
      const payment = { status, redirect_url: url, payment_method: { type, state, ...method.facts } };
      expect([status, await nextActionOf(payment)]).toEqual([status, isTurn ? method.action : wait]);
      expect(await nextActionOf({ status, payment_method: { type, state } })).toEqual(
        isTurn ? method.actionWithoutFacts : wait,
      );
    }
  },
);

test.each(everyState)(
  '%s in the state %s has nothing left to do once the payment is finished',
  async (type, state, method) => {
    for (const status of FINISHED) {
      const payment = { status, redirect_url: url, payment_method: { type, state, ...method.facts } };
      expect([status, await nextActionOf(payment)]).toEqual([status, null]);
    }
  },
);

const QR = '00020101021226610014ID.EXAMPLE.WWW6304A1B2';
const virtualAccount = { type: 'virtual_account', bank_code: 'bni', virtual_account: '8808123412341234' };

/** Without a state: a payment_method, and what to do with and without a hosted page. */
const stateless: [string, Json, Json, Json][] = [
  ...['card', 'upi', 'dcb', 'jazz_cash', 'easy_paisa', 'virtual_account', 'qris', 'ewallet'].map(redirects),
  ...['c2c', 'bkash', 'nagad', 'rocket', 'scheme', 'havale', 'other', 'crypto'].map(redirects),
  withAction('virtual_account with its account', virtualAccount, {
    __typename: 'PayVirtualAccountAction',
    virtualAccount: '8808123412341234',
    bankCode: 'bni',
    pollAfterMs: 2000,
  }),
  withAction(
    'virtual_account of a bank not said',
    { type: 'virtual_account', virtual_account: '88' },
    {
      __typename: 'PayVirtualAccountAction',
      virtualAccount: '88',
      bankCode: null,
      pollAfterMs: 2000,
    },
  ),
  withAction(
    'qris with its code',
    { type: 'qris', qr_code: QR },
    { __typename: 'ScanQrCodeAction', qrCode: QR, qrCodeImage: `(drawn) ${QR}`, pollAfterMs: 2000 },
  ),
  ['qris with a text too long for a code', { type: 'qris', qr_code: 'x'.repeat(5000) }, redirect, wait],
  ['qris with an empty code', { type: 'qris', qr_code: '' }, redirect, wait],
];

function redirects(type: string): [string, Json, Json, Json] {
  return [type, { type }, redirect, wait];
}

function withAction(name: string, method: Json, action: Json): [string, Json, Json, Json] {
  return [name, method, action, action];
}

test.each(stateless)('%s without a state says what to do', async (_name, method, withPage, withoutPage) => {
  for (const status of OPEN) {
    expect(await nextActionOf({ status, redirect_url: url, payment_method: method })).toEqual(withPage);
    expect(await nextActionOf({ status, payment_method: method })).toEqual(withoutPage);
  }
  for (const status of FINISHED) {
    expect(await nextActionOf({ status, redirect_url: url, payment_method: method })).toBeNull();
  }
});

test('a caller that polls is told the intervals of WATCH_PACE_PAYER and WATCH_PACE_PROVIDER', async () => {
  const env = { WATCH_PACE_PAYER: '7s/1m 60s', WATCH_PACE_PROVIDER: '9s' };
  const slow = await testGateway(bench.service.url, { env });
  const method = { type: 'card' };
  for (const [page, action] of [
    [{ redirect_url: url }, { ...redirect, pollAfterMs: 7000 }],
    [{}, { ...wait, pollAfterMs: 9000 }],
  ]) {
    const answer = { transaction_id: transactionId, status: 'pending', payment_method: method, ...page };
    bench.answers({ get: { status: 200, json: answer } });
    const { data } = await slow.ask(lookUpPayment(), { channel, transactionId });
    expect(data).toMatchObject({ payment: { nextAction: action } });
  }
});

/** Payloads as payment systems make them (EMVCo merchant-presented, and addresses), and the most that a picture of each may take. */
const PAYLOADS: [string, number][] = [
  [QR, 2000],
  [`000201010212266${'1'.repeat(60)}5204541153033605405150000.005802ID6304A1B2`, 3000],
  [
    '00020101021226670016COM.NOBUBANK.WWW01189360050300000898240214545454545454540303UMI51440014ID.CO.QRIS.WWW0215ID20232546363660303UMI5204481253033605405150005802ID5910TOKO ABCDE6007BANDUNG61054011162070703A016304ABCD',
    5000,
  ],
  [`https://pay.example/${'Aa0'.repeat(60)}`, 6000],
];

test.each(PAYLOADS)('the picture of %s can be read, and takes at most %i characters', (payload, most) => {
  const picture = drawQrCode(payload) ?? '';
  expect(readQrImage(picture)).toBe(payload);
  expect(picture.length).toBeLessThan(most);
});
