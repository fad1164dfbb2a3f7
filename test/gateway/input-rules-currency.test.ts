import { make, redirectCall, typeOnlyCall, validCall, withValue, type MoneyCall } from './fixtures/calls';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

// Spec section 8, row "Currency per method", word for word.
const STATED_PAYMENTS = {
  EUR: 'card',
  INR: 'upi',
  PKR: 'jazzCash easyPaisa',
  IDR: 'virtualAccount ewallet',
  KZT: 'c2c',
};
const STATED_REDIRECTS = { EUR: 'CARD', INR: 'UPI', PKR: 'JAZZ_CASH EASY_PAISA', IDR: 'QRIS', KZT: 'C2C' };
const STATED_PAYOUTS = { INR: 'imps', PKR: 'easyPaisa jazzCash', KZT: 'dcb card', BDT: 'bkash nagad rocket' };

type Maker = (arm: string) => MoneyCall;
const payment: Maker = (arm) => validCall('createPayment', arm);
const payout: Maker = (arm) => validCall('createPayout', arm);
const redirect: Maker = (method) => redirectCall(method);
const typeOnly: Maker = (method) => typeOnlyCall(method);

const stated = (kind: string, table: Record<string, string>, of: Maker): [string, string, MoneyCall][] =>
  Object.entries(table).flatMap(([currency, arms]) =>
    arms.split(' ').map((arm): [string, string, MoneyCall] => [`${kind} ${arm}`, currency, of(arm)]),
  );

const STATED = [
  ...stated('payment', STATED_PAYMENTS, payment),
  ...stated('redirect', STATED_REDIRECTS, redirect),
  ...stated('payout', STATED_PAYOUTS, payout),
];

const free = (kind: string, arms: string, of: Maker): [string, () => MoneyCall][] =>
  arms.split(' ').map((arm): [string, () => MoneyCall] => [`${kind} ${arm}`, () => of(arm)]);

const FREE = [
  ...free('payment', 'dcb bkash nagad rocket havale other', payment),
  ...free('redirect', 'BKASH NAGAD ROCKET SCHEME HAVALE', redirect),
  ...free('payout', 'bankTransfer other', payout),
  ...free('typeOnly', 'SCHEME', typeOnly),
];

const inCurrency = ({ mutation, input }: MoneyCall, currency: string): MoneyCall => ({
  mutation,
  input: withValue(input, ['amount', 'currency'], currency),
});

test.each(STATED)('%s is taken in %s', async (_method, currency, call) => {
  const { result } = await make(rig.client, inCurrency(call, currency));
  expect(result?.__typename).toMatch(/Success$/);
  expect(rig.service.seen[0]?.json['amount']).toEqual({ currency, value: '10.00' });
});

test.each(STATED)(
  '%s is refused in another currency than %s, and nothing is sent',
  async (_method, currency, call) => {
    for (const another of ['EUR', 'INR', 'PKR', 'IDR', 'KZT', 'BDT', 'USD'].filter(
      (code) => code !== currency,
    )) {
      const { mutation, input } = inCurrency(call, another);
      const key = `${String(input['idempotencyKey'])}-${another}`;
      const { result } = await make(rig.client, { mutation, input: { ...input, idempotencyKey: key } });
      expect(result?.fields).toEqual([
        {
          path: ['amount', 'currency'],
          rule: 'currencyOfMethod',
          message: expect.stringContaining(currency) as unknown,
        },
      ]);
    }
    expect(rig.service.seen).toHaveLength(0);
  },
);

test.each(FREE)('%s is taken in any currency', async (_method, newCall) => {
  const currencies = ['EUR', 'INR', 'PKR', 'IDR', 'KZT', 'BDT', 'USD', 'TRY'];
  for (const currency of currencies) {
    const { result } = await make(rig.client, inCurrency(newCall(), currency));
    expect(result?.__typename).toMatch(/Success$/);
  }
  expect(rig.service.seen.map(({ json }) => json['amount'])).toEqual(
    currencies.map((currency) => ({ currency, value: '10.00' })),
  );
});
