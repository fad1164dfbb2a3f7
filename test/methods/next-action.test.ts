import { drawQrCode } from '../../src/schema/qr-code';
import { testGateway } from '../support/gateway';
import { openHarness, type MethodHarness } from './harness';
import type { Json } from './golden-bodies';
import { readDrawings, readQrImage } from './qr-image';
import { NEXT_ACTION, lookUpPayment } from './selection';

/** The next action of the payer or the client, for every status and state of the service (spec 3.1, 3.3). */

const channel = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const transactionId = '3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01';
const url = 'https://pay.example.com/page/1';
const LOOKUP = lookUpPayment(NEXT_ACTION);

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
  /** The state of the service that requires an action. */
  state: string;
  facts: Json;
  action: Json;
  actionWithoutFacts: Json;
}

const waiting = (type: string, state: string, facts: Json, action: Json): Waiting => ({
  type,
  state,
  facts,
  action: { ...action, confirmWith: type },
  actionWithoutFacts: {
    ...Object.fromEntries(Object.keys(action).map((name) => [name, null])),
    __typename: action['__typename'],
    confirmWith: type,
  },
});

const ACCOUNT = { account: '01700000001' };
const CODE = { __typename: 'ProvideCodeAction', account: null };
const LINK = 'upi://pay?pa=m@upi';
const C2C = { cardNumber: '4400430000000003', recipient: 'ALIYA K.' };

const methods: Waiting[] = [
  waiting(
    'upi',
    'waiting_for_utr',
    { upi_id: 'm@upi', upi_link: LINK },
    { __typename: 'ProvideUtrAction', upiId: 'm@upi', upiLink: LINK },
  ),
  waiting('dcb', 'waiting_for_code', { phone: '77011234567' }, CODE),
  waiting(
    'c2c',
    'waiting_for_confirm',
    { card_number: C2C.cardNumber, recipient: C2C.recipient },
    { __typename: 'ConfirmTransferAction', ...C2C },
  ),
  ...['bkash', 'nagad', 'rocket'].map((type) =>
    waiting(type, 'waiting_for_code', ACCOUNT, { ...CODE, ...ACCOUNT }),
  ),
];

let harness: MethodHarness;

beforeAll(async () => {
  harness = await openHarness();
});

async function nextActionOf(response: Json): Promise<unknown> {
  harness.respond({ get: { status: 200, json: { transaction_id: transactionId, channel, ...response } } });
  const { data, errors } = await harness.gateway.request(LOOKUP, { channel, transactionId });
  expect(errors).toBeUndefined();
  const { payment } = readDrawings(data) as { payment: Json };
  return payment['nextAction'];
}

const everyState = methods.flatMap((method) =>
  STATES.map((state): [string, string, Waiting] => [method.type, state, method]),
);

test.each(everyState)(
  'A payment by %s in the state %s has a next action while it is open',
  async (type, state, method) => {
    const isTurn = state === method.state;
    const payment = { redirect_url: url, payment_method: { type, state, ...method.facts } };
    for (const status of OPEN) {
      expect([status, await nextActionOf({ ...payment, status })]).toEqual([
        status,
        isTurn ? method.action : wait,
      ]);
      expect(await nextActionOf({ status, payment_method: { type, state } })).toEqual(
        isTurn ? method.actionWithoutFacts : wait,
      );
    }
    for (const status of FINISHED)
      expect([status, await nextActionOf({ ...payment, status })]).toEqual([status, null]);
  },
);

const QR = '00020101021226610014ID.EXAMPLE.WWW6304A1B2';
const virtualAccount = { type: 'virtual_account', bank_code: 'bni', virtual_account: '8808123412341234' };

/** Payments without a state: type, payment_method, and the next action with and without a hosted page. */
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

test.each(stateless)(
  'A payment by %s without a state has a next action, with and without a hosted page',
  async (_name, method, withPage, withoutPage) => {
    for (const status of OPEN) {
      expect(await nextActionOf({ status, redirect_url: url, payment_method: method })).toEqual(withPage);
      expect(await nextActionOf({ status, payment_method: method })).toEqual(withoutPage);
    }
    for (const status of FINISHED) {
      expect(await nextActionOf({ status, redirect_url: url, payment_method: method })).toBeNull();
    }
  },
);

test('pollAfterMs follows POLL_INTERVALS_PAYER and POLL_INTERVALS_PROVIDER', async () => {
  const env = { POLL_INTERVALS_PAYER: '7s/1m 60s', POLL_INTERVALS_PROVIDER: '9s' };
  const slow = await testGateway(harness.service.url, { env });
  const method = { type: 'card' };
  for (const [page, action] of [
    [{ redirect_url: url }, { ...redirect, pollAfterMs: 7000 }],
    [{}, { ...wait, pollAfterMs: 9000 }],
  ]) {
    const response = { transaction_id: transactionId, status: 'pending', payment_method: method, ...page };
    harness.respond({ get: { status: 200, json: response } });
    const { data } = await slow.request(LOOKUP, { channel, transactionId });
    expect(data).toMatchObject({ payment: { nextAction: action } });
  }
});

/** Payloads of payment systems (EMVCo merchant-presented, and addresses), and the maximum size of their images. */
const PAYLOADS: [string, number][] = [
  [QR, 2000],
  [
    '00020101021226670016COM.NOBUBANK.WWW01189360050300000898240214545454545454540303UMI51440014ID.CO.QRIS.WWW0215ID20232546363660303UMI5204481253033605405150005802ID5910TOKO ABCDE6007BANDUNG61054011162070703A016304ABCD',
    5000,
  ],
  [`https://pay.example/${'Aa0'.repeat(60)}`, 6000],
];

test.each(PAYLOADS)('The QR code of %s can be decoded, and has fewer than %i characters', (payload, most) => {
  const picture = drawQrCode(payload) ?? '';
  expect(readQrImage(picture)).toBe(payload);
  expect(picture.length).toBeLessThan(most);
});
