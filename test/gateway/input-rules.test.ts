import { getNamedType, isInputObjectType, type GraphQLNamedType } from 'graphql';
import { paymentMethods, payoutMethods } from '../../src/schema/methods';
import { schema } from '../methods/selection';
import {
  VARIANTS,
  newIds,
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
import { clear, type LoggedGateway } from '../support/gateway';
import { startRuleHarness } from './fixtures/rig';

/** A value of an input field, and the rules that refuse it; no rules if it is accepted. */
interface RuleRow {
  title: string;
  path: string[];
  value: unknown;
  rules: string[];
  call: MutationCall;
}

interface Place {
  mutation: Mutation;
  /** The method or confirmation that has the field; absent if the input itself has it. */
  variant?: string;
  field: string;
}

const shown = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (text.length <= 40) return JSON.stringify(value);
  return `${JSON.stringify(`${text.slice(0, 24)}…`)} (${text.length} characters)`;
};

const pathOf = ({ mutation, variant, field }: Place): string[] =>
  variant === undefined ? [field] : [...variantPath(mutation, variant), field];

function rowOf(place: Place, value: unknown, rules: string[] = []): RuleRow {
  const { mutation, variant = VARIANTS[mutation][0] ?? '' } = place;
  const path = pathOf(place);
  const input = withValue(validCall(mutation, variant).input, path, value);
  const title = `${mutation} ${path.join('.')} = ${shown(value)}`;
  return { title, path, value, rules, call: { mutation, input } };
}

const places = (mutation: Mutation, variant: string | undefined, fields: string): Place[] =>
  fields.split(' ').map((field) => ({ mutation, field, ...(variant && { variant }) }));

const wallets = (mutation: Mutation, variants: string, fields: string): Place[] =>
  variants.split(' ').flatMap((variant) => places(mutation, variant, fields));

const CREATES = ['createPayment', 'createPayout'] as const;

/** Free-text fields by their maximum length. */
const TEXT_FIELDS: ReadonlyMap<number, Place[]> = new Map([
  [
    255,
    [
      ...places('createPayment', undefined, 'idempotencyKey externalId'),
      ...places('createPayment', 'card', 'cardholder city street'),
      ...places('createPayment', 'upi', 'firstName lastName'),
      ...places('createPayment', 'dcb', 'userId firstName lastName'),
      ...wallets('createPayment', 'c2c bkash nagad rocket', 'firstName surname'),
      ...places('createPayout', undefined, 'idempotencyKey externalId'),
      ...places('createPayout', 'bankTransfer', 'bankName firstName lastName'),
      ...wallets('createPayout', 'imps dcb', 'firstName lastName'),
    ],
  ],
  [1000, CREATES.flatMap((mutation) => places(mutation, undefined, 'description'))],
  [512, places('createPayment', 'card', 'address')],
  [32, places('createPayment', 'card', 'postalCode')],
  [
    64,
    [
      ...wallets('createPayment', 'jazzCash easyPaisa', 'account'),
      ...places('createPayment', 'virtualAccount', 'bankCode accountNumber'),
      ...places('createPayment', 'ewallet', 'ewallet'),
      ...places('createPayout', 'bankTransfer', 'bankCode accountNumber branchCode'),
      ...places('createPayout', 'imps', 'bankCode accountNumber'),
      ...wallets('createPayout', 'easyPaisa jazzCash bkash nagad rocket', 'accountNumber'),
      ...places('confirmPayment', 'upi', 'utr'),
      ...wallets('confirmPayment', 'dcb bkash nagad rocket', 'code'),
    ],
  ],
]);

const EMAIL_FIELDS: Place[] = [
  ...wallets('createPayment', 'card upi c2c bkash nagad rocket', 'email'),
  ...wallets('createPayout', 'bankTransfer imps', 'email'),
];

const PHONE_FIELDS: Place[] = [
  ...wallets('createPayment', 'card upi dcb bkash nagad rocket', 'phone'),
  ...wallets('createPayout', 'bankTransfer imps dcb', 'phone'),
];

const PAN_FIELDS = CREATES.flatMap((mutation) => places(mutation, 'card', 'pan'));

const card = (field: string): Place[] => places('createPayment', 'card', field);
const LONG_IBAN = `DE89${'0'.repeat(31)}`;

/** Fields with a format, the rule, values that the rule refuses, and values that it accepts. */
const FORMS: [places: Place[], rule: string, bad: unknown[], good: unknown[]][] = [
  [EMAIL_FIELDS, 'email', ['', 'a@@example.com', 'a@b', 'a\nb@example.com'], ['first.last+tag@a.b.example']],
  [EMAIL_FIELDS, 'email', [`${'a'.repeat(250)}@example.com`], []],
  [PHONE_FIELDS, 'e164', ['', '+0123456789', '123456', '+49 170 1234567', '٠١٢٣٤٥٦٧٨'], ['+123456789012345']],
  [PHONE_FIELDS, 'e164', ['+1234567890123456'], ['1234567']],
  [card('countryCode'), 'iso3166Alpha2', ['de', 'XX', 'DEU', ''], ['KZ']],
  [card('cvc'), 'cvc', ['12', '12345', '12a', ' 123', '١٢٣', ''], ['000', '1234']],
  [card('expiryMonth'), 'expiryMonth', ['00', '13', '1', '012', '1a', ''], ['01', '12']],
  [card('expiryYear'), 'expiryYear', ['99', '2199', '20299', '202x', ''], ['2099']],
  [card('birthDate'), 'date', ['2000-02-30', '1999-13-01', '01.02.1990', '1990-1-1', ''], ['2000-02-29']],
  [card('birthDate'), 'past', ['2999-12-31'], ['2020-12-31']],
  [
    places('createPayment', 'c2c', 'cardMask'),
    'maskedPan',
    ['4111 1111 1111 1111', '4111***1111', '4111111****1111', '************1111', '4111********', ''],
    ['4111********1111', '4400 43XX XXXX 1234', '4111••••••••1111'],
  ],
  [
    places('createPayout', 'bankTransfer', 'iban'),
    'iban',
    ['DE', '1234567890123456', 'DE89-3704-0044-0532', LONG_IBAN, ''],
    ['DE89 3704 0044 0532 0130 00', `MT84${'A'.repeat(30)}`],
  ],
  [
    places('createPayout', 'other', 'type'),
    'methodType',
    ['New_Method', '1method', 'with space', `m${'x'.repeat(64)}`, 'new-method', ''],
    [`m${'x'.repeat(63)}`],
  ],
];

/** All values for the first field of each entry, one bad and one good value for the others. */
const formRows = FORMS.flatMap(([fields, rule, bad, good]) =>
  fields.flatMap((place, nth) => [
    ...(nth === 0 ? bad : bad.slice(-1)).map((value) => rowOf(place, value, [rule])),
    ...(nth === 0 ? good : good.slice(-1)).map((value) => rowOf(place, value, [])),
  ]),
);

const textRows = [...TEXT_FIELDS].flatMap(([max, fields]) =>
  fields.flatMap((place) => [
    rowOf(place, '', ['notBlank']),
    rowOf(place, 'before\u0007after', ['printable']),
    rowOf(place, 'x'.repeat(max + 1), ['maxLength']),
    // The text names the mutation, because an idempotency key belongs to the first mutation that uses it.
    rowOf(place, `é 漢 ${place.mutation}`.padEnd(max, 'x'), []),
  ]),
);

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

beforeEach(() => clear(harness));

/** Expects errors only at the row's path, its rules among them, without the value, and no request to the service. */
async function expectRefusal(row: RuleRow): Promise<void> {
  const { result, text, errors, status } = await sendCall(harness.client, row.call);
  expect(errors).toBeUndefined();
  expect(status).toBe(200);
  expect(result).toMatchObject({ __typename: 'InvalidInputError', code: 'INVALID_INPUT' });
  const here = result?.fields?.filter(({ path }) => path.join() === row.path.join()) ?? [];
  expect(here.map(({ rule }) => rule)).toEqual(expect.arrayContaining(row.rules));
  expect(result?.fields).toHaveLength(here.length);
  expect(harness.service.requests).toHaveLength(0);
  const written = JSON.stringify(row.value).replace(/^"|"$/g, '');
  // Short values may occur by chance: two letters in any sentence, a few digits in the time of a log line.
  if (written.trim().length > 2) expect(text).not.toContain(written);
  if (written.length > 4) expect(harness.logLines.join('')).not.toContain(written);
}

/** Expects success. Returns the method that was sent to the service. */
async function expectAcceptance({ call }: RuleRow): Promise<unknown> {
  const { result, errors } = await sendCall(harness.client, call);
  expect(errors).toBeUndefined();
  expect(result?.__typename).toMatch(/^Pay(ment|out)Success$/);
  // A test that changes the clock can end the lease of the call, which is then looked up.
  const posts = harness.service.requests.filter(({ method }) => method === 'POST');
  expect(posts).toHaveLength(1);
  const json = posts[0]?.json;
  return json?.['payment_method'] ?? json?.['payout_method'];
}

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
    .map((place) => pathOf(place).join('.'));

test.each([
  ['createPayment', 'CreatePaymentInput'],
  ['createPayout', 'CreatePayoutInput'],
  ['confirmPayment', 'ConfirmPaymentInput'],
] as const)('Every text field of %s is tested with valid and invalid values', (mutation, input) => {
  const found = leaves(schema.getType(input));
  expect(found.length).toBeGreaterThan(4);
  expect([...new Set(covered(mutation))].sort()).toEqual(found.sort());
});

test('One response reports all errors of an input, each with path and rule', async () => {
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
  ...textRows,
  ...['\u0000', '\ud83d', '\t', '\n', '\u001b', '\u007f', '\u009f', '\u2028', '\udfff'].map((character) =>
    description(`before${character}after`, 'printable'),
  ),
  description(' \u3000 ', 'notBlank'),
  ...formRows,
  ...PAN_FIELDS.flatMap((place) => BAD_PANS.map(([pan, rules]) => rowOf(place, pan, rules))),
  currency('XYZ', ['iso4217']),
  currency('BHD', []),
];

describe('An input field', () => {
  test.each(ROWS.filter(({ rules }) => rules.length > 0))(
    'with an invalid value is refused, and the value is neither sent nor repeated in the error: $title',
    expectRefusal,
  );

  test.each(ROWS.filter(({ rules }) => rules.length === 0))(
    'with a valid value is accepted: $title',
    expectAcceptance,
  );

  test.each(PAN_FIELDS.flatMap((place) => GOOD_PANS.map((pan) => rowOf(place, pan))))(
    'with a valid card number is sent to the service as digits only: $title',
    async (row) =>
      expect(await expectAcceptance(row)).toMatchObject({ pan: String(row.value).replace(/\D/g, '') }),
  );
});

describe('The expiry date of a card', () => {
  afterEach(() => jest.restoreAllMocks());

  const expiry = (month: string, year: string, rules: string[]): RuleRow => {
    const row = rowOf({ mutation: 'createPayment', variant: 'card', field: 'expiryYear' }, year, rules);
    const input = withValue(row.call.input, ['method', 'card', 'expiryMonth'], month);
    return { ...row, call: { ...row.call, input } };
  };

  const setDate = (iso: string): void => void jest.spyOn(Date, 'now').mockReturnValue(Date.parse(iso));

  test('is accepted until the month has ended in every time zone', () => {
    setDate('2030-07-01T11:59:59Z');
    return expectAcceptance(expiry('06', '2030', []));
  });

  test.each([
    ['once the month has ended in every time zone', '2030-07-01T12:00:00Z', '06', '2030'],
    ['once the year has ended in every time zone', '2031-01-01T12:00:00Z', '12', '2030'],
  ])('is refused %s', (_when, now, month, year) => {
    setDate(now);
    return expectRefusal(expiry(month, year, ['notExpired']));
  });
});

describe('The address of a card payment', () => {
  const ADDRESS = 'Main Street 1, 10115 Berlin';
  const STRUCTURED = { countryCode: 'DE', city: 'Berlin', street: 'Main Street 1', postalCode: '10115' };
  const withFields = (fields: object): RuleRow => {
    const { mutation, input } = validCall('createPayment', 'card');
    const path = ['method', 'card', 'address'];
    const method = { card: { ...Object((input['method'] as Json)['card']), ...fields } as Json };
    const call = { mutation, input: { ...input, method } };
    return { title: '', path, value: ADDRESS, rules: ['addressOrStructuredFields'], call };
  };

  test.each(Object.entries(STRUCTURED))(
    'as a single text is refused if the structured field %s is set too',
    (name, value) => expectRefusal(withFields({ address: ADDRESS, [name]: value })),
  );

  test.each([
    ['as a single text', { address: ADDRESS }],
    ['as a single text if structured fields are null', { address: ADDRESS, city: null, street: null }],
    ['as structured fields beside a null address', { address: null, ...STRUCTURED }],
  ])('is accepted %s', (_how, fields) => expectAcceptance(withFields(fields)));
});

/** Spec section 8, row "Currency per method": the calls that need each currency. */
const STATED = {
  EUR: 'payment card, redirect CARD',
  INR: 'payment upi, redirect UPI, payout imps',
  PKR: `payment jazzCash, payment easyPaisa, redirect JAZZ_CASH, redirect EASY_PAISA,
    payout easyPaisa, payout jazzCash`,
  IDR: 'payment virtualAccount, payment ewallet, redirect QRIS',
  KZT: 'payment c2c, redirect C2C, payout dcb, payout card',
  BDT: 'payout bkash, payout nagad, payout rocket',
};

/** Calls that are accepted in any currency. */
const FREE = `payment dcb, payment bkash, payment nagad, payment rocket, payment havale, payment other, redirect BKASH,
  redirect NAGAD, redirect ROCKET, redirect SCHEME, redirect HAVALE, payout bankTransfer, payout other, typeOnly SCHEME`;

const MAKERS: Record<string, (method: string) => MutationCall> = {
  payment: (variant) => validCall('createPayment', variant),
  payout: (variant) => validCall('createPayout', variant),
  redirect: redirectCall,
  typeOnly: typeOnlyCall,
};

/** Returns the names of calls, each with a function that makes a new one. */
const callsIn = (names: string): [string, () => MutationCall][] =>
  names.split(/,\s+/).map((name) => {
    const [kind = '', method = ''] = name.split(' ');
    return [name, () => MAKERS[kind]!(method)];
  });

const inCurrency = ({ mutation, input }: MutationCall, currency: string): MutationCall => ({
  mutation,
  input: withValue(input, ['amount', 'currency'], currency),
});

test.each(
  Object.entries(STATED).flatMap(([currency, names]) =>
    callsIn(names).map(([name, newCall]) => [name, currency, newCall()] as const),
  ),
)(
  'The method %s is accepted in %s, and refused in other currencies without a request to the service',
  async (_method, currency, call) => {
    for (const another of ['EUR', 'INR', 'USD'].filter((code) => code !== currency)) {
      const { mutation, input } = inCurrency(call, another);
      const { result } = await sendCall(harness.client, { mutation, input: { ...input, ...newIds() } });
      expect(result?.fields).toMatchObject([{ path: ['amount', 'currency'], rule: 'currencyOfMethod' }]);
    }
    expect(harness.service.requests).toHaveLength(0);
    const { result } = await sendCall(harness.client, inCurrency(call, currency));
    expect(result?.__typename).toMatch(/Success$/);
    expect(harness.service.requests[0]?.json['amount']).toEqual({ currency, value: '10.00' });
  },
);

test('Every method is tested either in its only currency or in several currencies', () => {
  const ways = [
    ...paymentMethods.flatMap(({ name, inputField, input, redirectDescription }) => [
      ...(input ? [`payment ${inputField}`] : []),
      ...(redirectDescription ? [`redirect ${name}`] : []),
    ]),
    ...payoutMethods.flatMap(({ name, inputField, input, typeOnlyDescription }) => [
      ...(input ? [`payout ${inputField}`] : []),
      ...(typeOnlyDescription ? [`typeOnly ${name}`] : []),
    ]),
  ];
  const tested = [...Object.values(STATED), FREE].flatMap(callsIn).map(([name]) => name);
  expect(tested.sort()).toEqual(ways.sort());
});

test.each(callsIn(FREE))('The method %s is accepted in any currency', async (_method, newCall) => {
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

const nested = (depth: number, innermost: unknown = 'deep'): Json =>
  depth === 0 ? { value: innermost } : { inner: nested(depth - 1, innermost) };

const REFUSED_FIELDS: [title: string, fields: Json, rule: string][] = [
  ['a field named type', { type: 'card' }, 'noType'],
  ['a text of 8200 characters (limit: 8192)', { text: 'x'.repeat(8200) }, 'size'],
  ['a control character in a value', { text: 'before\u0007after' }, 'printable'],
  ['a control character in a field name', { 'before\nafter': 'x' }, 'printable'],
  ['half of a surrogate pair', { list: ['lone\ud800'] }, 'printable'],
  ['ten levels of nesting', nested(10), 'printable'],
  ['a card number', { pan: '4111111111111111' }, 'noCardNumber'],
  ['a card number as a JSON number', { number: 4111111111111111 }, 'noCardNumber'],
  ['a card number in a list', { list: ['a', ['4111111111111111']] }, 'noCardNumber'],
  ['a deeply nested card number', nested(5, '4111111111111111'), 'noCardNumber'],
  ['a card number as a field name', { '4111111111111111': 'x' }, 'noCardNumber'],
  ['a card number in an invalid IBAN', { iban: 'TR56 0006 1075 2703 7774 7790 18' }, 'noCardNumber'],
];

const TAKEN_FIELDS: [title: string, fields: Json][] = [
  ['numbers, booleans, null and lists', { n: 1.5, yes: true, none: null, list: [1, 'two', { three: 3 }] }],
  ['eight levels of nesting', nested(6)],
  ['a phone number that passes the Luhn check', { phone: '+628193155551' }],
  ['an IBAN whose groups form a card number', { iban: 'TR56 0006 1075 2703 7774 7790 19' }],
  ['a text of 8100 characters (limit: 8192)', { text: 'x'.repeat(8100) }],
  ['names of properties that every JavaScript object has', { constructor: 'a', toString: 'b', toJSON: 'c' }],
];

describe.each(CUSTOM_VARIANTS)('The custom fields of %s with the method "%s"', (mutation, variant) => {
  const place = { mutation, variant, field: 'fields' };

  test.each(REFUSED_FIELDS)('are refused without a request if they contain %s', (_title, fields, rule) =>
    expectRefusal(rowOf(place, fields, [rule])),
  );

  test.each(TAKEN_FIELDS)('are sent unchanged if they contain %s', async (_title, fields) => {
    const method = await expectAcceptance(rowOf(place, fields));
    expect(method).toEqual({ type: mutation === 'createPayout' ? 'new_method' : variant, ...fields });
    expect(Object.keys(Object(method))[0]).toBe('type');
  });
});

describe('For the payout method "other", a type', () => {
  const withType = (type: string): RuleRow =>
    rowOf({ mutation: 'createPayout', variant: 'other', field: 'type' }, type, ['knownMethod']);

  test.each(payoutMethods.map(({ type }) => type).filter((type) => type !== 'other'))(
    'that has its own method in the schema is refused, and the error does not repeat the type: %s',
    (type) => expectRefusal(withType(type)),
  );

  test('that has no method of its own in the schema is sent unchanged', async () =>
    expect(await expectAcceptance(withType('upi'))).toEqual({ type: 'upi', anything: 'goes' }));
});
