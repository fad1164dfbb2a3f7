import { clear, type LoggedGateway } from '../support/gateway';
import { getNamedType, isInputObjectType, type GraphQLNamedType } from 'graphql';
import { schema } from '../methods/selection';
import {
  variantPath,
  sendCall,
  redirectCall,
  typeOnlyCall,
  validCall,
  withValue,
  type Json,
  type MutationCall,
  type Mutation,
} from '../support/calls';
import { expectAcceptance, expectRefusal, startRuleHarness, refusedRows, acceptedRows } from './fixtures/rig';
import {
  FORMS,
  PAN_FIELDS,
  TEXT_FIELDS,
  formRows,
  rowOf,
  textRows,
  type RuleRow,
} from './fixtures/rule-rows';

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

beforeEach(() => clear(harness));

/** Names of the scalars that input-types.test.ts tests, and of enums. */
const FITTED =
  /^(UUID|Decimal|CurrencyCode|URL|JSONObject|RedirectPaymentMethod|TypeOnlyPayoutMethod|C2cConfirmation)$/;

/** Returns the paths of all input fields that have none of these types. */
const leaves = (type: GraphQLNamedType | undefined, path: string[] = []): string[] =>
  Object.values(isInputObjectType(type) ? type.getFields() : {}).flatMap((field) => {
    const inner = getNamedType(field.type);
    const here = [...path, field.name];
    if (isInputObjectType(inner)) return leaves(inner, here);
    return FITTED.test(inner.name) ? [] : [here.join('.')];
  });

const covered = (mutation: Mutation): string[] =>
  [...TEXT_FIELDS.values(), PAN_FIELDS, ...FORMS.map(([places]) => places)]
    .flat()
    .filter((place) => place.mutation === mutation)
    .map(({ variant, field }) => {
      const oneOf = mutation === 'confirmPayment' ? 'confirmation' : 'method';
      return variant === undefined ? field : `${oneOf}.${variant}.${field}`;
    });

test.each([
  ['createPayment', 'CreatePaymentInput'],
  ['createPayout', 'CreatePayoutInput'],
  ['confirmPayment', 'ConfirmPaymentInput'],
] as const)('The tables of this test cover every text field of %s', (mutation, input) => {
  const found = leaves(schema.getType(input));
  expect(found.length).toBeGreaterThan(4);
  expect([...new Set(covered(mutation))].sort()).toEqual(found.sort());
});

test('All errors of an input are reported at once, each with its path', async () => {
  const wrong: [string[], unknown][] = [
    [['idempotencyKey'], ''],
    [['externalId'], 'a\tb'],
    [['method', 'card', 'cardholder'], ' '],
    [['method', 'card', 'cvc'], '1'],
    [['method', 'card', 'email'], 'nobody'],
    [['method', 'card', 'pan'], '411111111111'],
  ];
  const { mutation, input } = validCall('createPayment', 'card');
  const broken = wrong.reduce((soFar, [path, value]) => withValue(soFar, path, value), input);
  const { result } = await sendCall(harness.client, { mutation, input: broken });
  const faults = result?.fields?.map(({ path, rule }) => `${path.join('.')} ${rule}`) ?? [];
  expect(faults.sort()).toEqual([
    'externalId printable',
    'idempotencyKey notBlank',
    'method.card.cardholder notBlank',
    'method.card.cvc cvc',
    'method.card.email email',
    'method.card.pan luhn',
  ]);
  expect(harness.service.requests).toHaveLength(0);
});

// Test numbers of the card networks, and invalid numbers.
const GOOD_PANS = ['4111 1111-1111 1111', '378282246310005', '411111111117', '6304000000000000000'];
const BAD_PANS: [string, string[]][] = [
  ['4111 1111 1111 1121', ['luhn']],
  ['41111111111', ['cardNumber']],
  ['63040000000000000000', ['cardNumber']],
  ['4111.1111.1111.1111', ['cardNumber']],
  ['4111111111111111\n', ['cardNumber']],
  ['٤١١١١١١١١١١١١١١١', ['cardNumber']],
  ['411111******1111', ['cardNumber']],
  ['', ['cardNumber']],
];

const description = (text: string, rule: string): RuleRow =>
  rowOf({ mutation: 'createPayment', field: 'description' }, text, [rule]);

const currency = (value: string, rules: string[]): RuleRow => {
  const { mutation, input } = validCall('createPayment', 'other');
  const path = ['amount', 'currency'];
  const call = { mutation, input: withValue(input, path, value) };
  return { title: `currency = ${value}`, path, value, rules, call };
};

const ROWS = [
  ...textRows(),
  ...['\u0000', '\ud83d', '\t', '\n', '\u001b', '\u007f', '\u009f', '\u2028', '\udfff'].map((character) =>
    description(`before${character}after`, 'printable'),
  ),
  description(' \u3000 ', 'notBlank'),
  ...formRows(),
  ...PAN_FIELDS.flatMap((place) => BAD_PANS.map(([pan, rules]) => rowOf(place, pan, rules))),
  currency('XYZ', ['iso4217']),
  currency('BHD', []),
];

describe('A field of an input', () => {
  test.each(refusedRows(ROWS))(
    'is refused, not repeated in the error, and not sent when it is invalid: %s',
    (_title, row) => expectRefusal(harness, row),
  );

  test.each(acceptedRows(ROWS))('is accepted when it is valid: %s', (_title, row) =>
    expectAcceptance(harness, row),
  );

  test.each(acceptedRows(PAN_FIELDS.flatMap((place) => GOOD_PANS.map((pan) => rowOf(place, pan, [])))))(
    'is accepted and sent as digits when it is a valid card number: %s',
    async (_title, row) => {
      await expectAcceptance(harness, row);
      const [sent] = harness.service.requests;
      const method = sent?.json['payment_method'] ?? sent?.json['payout_method'];
      expect(method).toMatchObject({ pan: String(row.value).replace(/\D/g, '') });
    },
  );
});

describe('The expiry of a card', () => {
  afterEach(() => jest.restoreAllMocks());

  const expiry = (month: string, year: string, rules: string[]): RuleRow => {
    const row = rowOf({ mutation: 'createPayment', variant: 'card', field: 'expiryYear' }, year, rules);
    return {
      ...row,
      call: { ...row.call, input: withValue(row.call.input, ['method', 'card', 'expiryMonth'], month) },
    };
  };

  const setDate = (iso: string): void => void jest.spyOn(Date, 'now').mockReturnValue(Date.parse(iso));

  test('is accepted until its month is over everywhere on Earth', () => {
    setDate('2030-07-01T11:59:59Z');
    return expectAcceptance(harness, expiry('06', '2030', []));
  });

  test.each([
    ['once its month is over everywhere', '2030-07-01T12:00:00Z', '06', '2030'],
    ['once its year is over', '2031-01-01T12:00:00Z', '12', '2030'],
    ['years later', '2032-01-01T00:00:00Z', '12', '2029'],
  ])('is refused %s', (_when, now, month, year) => {
    setDate(now);
    return expectRefusal(harness, expiry(month, year, ['notExpired']));
  });
});

describe('An address', () => {
  const ADDRESS = 'Main Street 1, 10115 Berlin';
  const STRUCTURED = { countryCode: 'DE', city: 'Berlin', street: 'Main Street 1', postalCode: '10115' };
  const withFields = (fields: object): RuleRow => {
    const { mutation, input } = validCall('createPayment', 'card');
    const path = ['method', 'card', 'address'];
    const given = Object.entries(fields).reduce((soFar, [name, value]) => {
      return withValue(soFar, ['method', 'card', name], value);
    }, input);
    const value = 'address' in fields ? fields.address : '';
    return { title: '', path, value, rules: ['addressOrStructuredFields'], call: { mutation, input: given } };
  };

  test.each(Object.entries(STRUCTURED))('is refused together with the structured field %s', (name, value) =>
    expectRefusal(harness, withFields({ address: ADDRESS, [name]: value })),
  );

  test.each([
    ['alone', { address: ADDRESS }],
    ['beside structured fields that are null', { address: ADDRESS, city: null, street: null }],
    ['as structured fields beside a null address', { address: null, ...STRUCTURED }],
  ])('is accepted %s', (_how, fields) => expectAcceptance(harness, withFields(fields)));
});

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

type Maker = (variant: string) => MutationCall;
const payment: Maker = (variant) => validCall('createPayment', variant);
const payout: Maker = (variant) => validCall('createPayout', variant);
const redirect: Maker = (method) => redirectCall(method);

const each = (variants: string, of: Maker): [string, () => MutationCall][] =>
  variants.split(' ').map((variant) => [`${of.name} ${variant}`, () => of(variant)]);

const stated = (table: Record<string, string>, of: Maker): [string, string, MutationCall][] =>
  Object.entries(table).flatMap(([currency, variants]) =>
    each(variants, of).map(([title, call]): [string, string, MutationCall] => [title, currency, call()]),
  );

const STATED = [
  ...stated(STATED_PAYMENTS, payment),
  ...stated(STATED_REDIRECTS, redirect),
  ...stated(STATED_PAYOUTS, payout),
];

const FREE = [
  ...each('dcb bkash nagad rocket havale other', payment),
  ...each('BKASH NAGAD ROCKET SCHEME HAVALE', redirect),
  ...each('bankTransfer other', payout),
  ...each('SCHEME', (method) => typeOnlyCall(method)),
];

const inCurrency = ({ mutation, input }: MutationCall, currency: string): MutationCall => ({
  mutation,
  input: withValue(input, ['amount', 'currency'], currency),
});

test.each(STATED)(
  'The method %s is accepted in %s, and refused in other currencies before anything is sent',
  async (_method, currency, call) => {
    for (const another of ['EUR', 'INR', 'USD'].filter((code) => code !== currency)) {
      const { mutation, input } = inCurrency(call, another);
      const key = `${String(input['idempotencyKey'])}-${another}`;
      const { result } = await sendCall(harness.client, {
        mutation,
        input: { ...input, idempotencyKey: key },
      });
      expect(result?.fields).toMatchObject([{ path: ['amount', 'currency'], rule: 'currencyOfMethod' }]);
    }
    expect(harness.service.requests).toHaveLength(0);
    const { result } = await sendCall(harness.client, inCurrency(call, currency));
    expect(result?.__typename).toMatch(/Success$/);
    expect(harness.service.requests[0]?.json['amount']).toEqual({ currency, value: '10.00' });
  },
);

test.each(FREE)('The method %s is accepted in any currency', async (_method, newCall) => {
  const currencies = ['EUR', 'INR', 'USD'];
  for (const currency of currencies) {
    const { result } = await sendCall(harness.client, inCurrency(newCall(), currency));
    expect(result?.__typename).toMatch(/Success$/);
  }
  expect(harness.service.requests.map(({ json }) => json['amount'])).toEqual(
    currencies.map((currency) => ({ currency, value: '10.00' })),
  );
});

const CUSTOM_VARIANTS: [Mutation, string][] = [
  ['createPayment', 'havale'],
  ['createPayment', 'other'],
  ['createPayout', 'other'],
];

const customRow = ([mutation, variant]: [Mutation, string], value: unknown, rule?: string): RuleRow => {
  const path = [...variantPath(mutation, variant), 'fields'];
  const { input } = validCall(mutation, variant);
  return {
    title: variant,
    path,
    value,
    rules: rule ? [rule] : [],
    call: { mutation, input: withValue(input, path, value) },
  };
};

const nested = (depth: number, innermost: unknown = 'deep'): Json =>
  depth === 0 ? { value: innermost } : { inner: nested(depth - 1, innermost) };

const REFUSED_FIELDS: [title: string, fields: Json, rule: string][] = [
  ['a field named type', { type: 'card' }, 'noType'],
  ['more than 8192 characters', { text: 'x'.repeat(8200) }, 'size'],
  ['a control character in a value', { text: 'before\u0007after' }, 'printable'],
  ['a control character in a name', { 'before\nafter': 'x' }, 'printable'],
  ['half of a surrogate pair', { list: ['lone\ud800'] }, 'printable'],
  ['ten levels', nested(10), 'printable'],
  ['a card number', { pan: '4111111111111111' }, 'noCardNumber'],
  ['a card number with spaces', { text: 'card 4111 1111 1111 1111' }, 'noCardNumber'],
  ['a card number as a JSON number', { number: 4111111111111111 }, 'noCardNumber'],
  ['a card number in a list', { list: ['a', ['4111111111111111']] }, 'noCardNumber'],
  ['a card number deep down', nested(5, '4111111111111111'), 'noCardNumber'],
  ['a card number as a name', { '4111111111111111': 'x' }, 'noCardNumber'],
  ['a card number between words', { text: 'pan=4111111111111111;cvc' }, 'noCardNumber'],
  ['a card number in an invalid IBAN', { iban: 'TR56 0006 1075 2703 7774 7790 18' }, 'noCardNumber'],
  ['a card number before its expiry', { text: '4111 1111 1111 1111 12/30' }, 'noCardNumber'],
  ['a card number after another number', { text: 'card 1 4111 1111 1111 1111' }, 'noCardNumber'],
];

const TAKEN_FIELDS: [title: string, fields: Json][] = [
  ['numbers, booleans, null and lists', { n: 1.5, yes: true, none: null, list: [1, 'two', { three: 3 }] }],
  ['eight levels', nested(6)],
  ['a phone number with the check digit of a card number', { phone: '+628193155551' }],
  ['an identity number with the check digit of a card number', { cnic: '42101-2945182-6' }],
  ['an IBAN whose groups form a card number', { iban: 'TR56 0006 1075 2703 7774 7790 19' }],
  ['a long number with a wrong check digit', { account: '4111111111111112' }],
  ['almost 8192 characters', { text: 'x'.repeat(8100) }],
  ['names of properties that every JavaScript object has', { constructor: 'a', toString: 'b', toJSON: 'c' }],
];

describe.each(CUSTOM_VARIANTS)('The custom fields of %s %s', (...variant) => {
  test.each(REFUSED_FIELDS)('are refused with %s, and nothing is sent', (_title, fields, rule) =>
    expectRefusal(harness, customRow(variant, fields, rule)),
  );

  test.each(TAKEN_FIELDS)('are sent unchanged beside the type: %s', async (_title, fields) => {
    await expectAcceptance(harness, customRow(variant, fields));
    const [sent] = harness.service.requests;
    const method = sent?.json['payment_method'] ?? sent?.json['payout_method'];
    const type = variant[0] === 'createPayout' ? 'new_method' : variant[1];
    expect(method).toEqual({ type, ...fields });
    expect(Object.keys(Object(method))[0]).toBe('type');
  });
});

describe('The type of a payout by "other"', () => {
  const withType = (type: string): RuleRow =>
    rowOf({ mutation: 'createPayout', variant: 'other', field: 'type' }, type, ['knownMethod']);

  test.each('bank_transfer imps easy_paisa jazz_cash dcb bkash nagad rocket card scheme'.split(' '))(
    'is refused, and not repeated, if it is a method with its own input field: %s',
    (type) => expectRefusal(harness, withType(type)),
  );

  test('is sent unchanged if it is not a method with its own input field', async () => {
    await expectAcceptance(harness, withType('upi'));
    expect(harness.service.requests[0]?.json['payout_method']).toEqual({ type: 'upi', anything: 'goes' });
  });
});
