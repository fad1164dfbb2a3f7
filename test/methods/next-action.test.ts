import { testGateway } from '../support/gateway';
import { openHarness, type MethodHarness } from './harness';
import type { Json } from './golden-bodies';
import { readDrawings } from './qr-image';
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

const LINK = 'upi://pay?pa=m@upi';
const C2C = { cardNumber: '4400430000000003', recipient: 'ALIYA K.' };
const ACCOUNT = { account: '01700000001' };
const CODE = { __typename: 'ProvideCodeAction', account: null };

/** The state in which a method waits for the payer, its fields on the wire, and the action with the same fields. */
const WAITING: [type: string, state: string, wireFields: Json, action: Json][] = [
  [
    'upi',
    'waiting_for_utr',
    { upi_id: 'm@upi', upi_link: LINK },
    { __typename: 'ProvideUtrAction', upiId: 'm@upi', upiLink: LINK },
  ],
  ['dcb', 'waiting_for_code', {}, CODE],
  [
    'c2c',
    'waiting_for_confirm',
    { card_number: C2C.cardNumber, recipient: C2C.recipient },
    { __typename: 'ConfirmTransferAction', ...C2C },
  ],
  ['bkash', 'waiting_for_code', ACCOUNT, { ...CODE, ...ACCOUNT }],
  ['nagad', 'waiting_for_code', ACCOUNT, { ...CODE, ...ACCOUNT }],
  ['rocket', 'waiting_for_code', ACCOUNT, { ...CODE, ...ACCOUNT }],
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

test.each(WAITING)(
  'An open payment by %s has an action for the payer in the state %s, and AwaitProviderAction in any other state',
  async (type, state, wireFields, { __typename, ...fields }) => {
    const action = { __typename, confirmWith: type };
    const nulls = Object.fromEntries(Object.keys(fields).map((field) => [field, null]));
    for (const status of OPEN) {
      const of = (shown: string, known: Json): Promise<unknown> =>
        nextActionOf({ status, redirect_url: url, payment_method: { type, state: shown, ...known } });
      expect([status, await of(state, wireFields)]).toEqual([status, { ...action, ...fields }]);
      expect([status, await of(state, {})]).toEqual([status, { ...action, ...nulls }]);
      for (const other of ['waiting_for_provider', 'waiting_for_rain'])
        expect([status, await of(other, wireFields)]).toEqual([status, wait]);
    }
    for (const status of FINISHED)
      expect(await nextActionOf({ status, payment_method: { type, state } })).toBeNull();
  },
);

const QR = '00020101021226610014ID.EXAMPLE.WWW6304A1B2';
const virtualAccount = { type: 'virtual_account', bank_code: 'bni', virtual_account: '8808123412341234' };

const payAccount = {
  __typename: 'PayVirtualAccountAction',
  virtualAccount: '8808123412341234',
  bankCode: 'bni',
  pollAfterMs: 2000,
};
const scan = { __typename: 'ScanQrCodeAction', qrCode: QR, qrCodeImage: `(drawn) ${QR}`, pollAfterMs: 2000 };

/** Payments without a state: payment_method, and the next action with and without a hosted page. */
const stateless: [string, Json, Json, Json][] = [
  ...['card', 'upi', 'virtual_account', 'qris', 'c2c', 'bkash', 'crypto'].map(
    (type): (typeof stateless)[0] => [type, { type }, redirect, wait],
  ),
  ['virtual_account with its account', virtualAccount, payAccount, payAccount],
  ['qris with its code', { type: 'qris', qr_code: QR }, scan, scan],
  ['qris with a text too long for a code', { type: 'qris', qr_code: 'x'.repeat(5000) }, redirect, wait],
  ['qris with an empty code', { type: 'qris', qr_code: '' }, redirect, wait],
];

test.each(stateless)(
  'The next action of an open payment without a state depends on its method and its hosted page: %s',
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

test('pollAfterMs is the first interval of POLL_INTERVALS_PAYER or POLL_INTERVALS_PROVIDER, depending on the next action', async () => {
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
