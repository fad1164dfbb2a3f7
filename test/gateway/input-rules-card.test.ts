import { validCall, withValue } from './fixtures/calls';
import { clear, expectAcceptance, expectRefusal, newRig, refused, taken, type Rig } from './fixtures/rig';
import { PAN_FIELDS, rowOf, type RuleRow } from './fixtures/rule-rows';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

afterEach(() => jest.useRealTimers());

// Test numbers that the card networks publish, and what goes wrong with them.
const GOOD_PANS = [
  '4111111111111111',
  '4111 1111 1111 1111',
  '4111-1111-1111-1111',
  '378282246310005',
  '6304000000000000',
  '411111111117',
  '6304000000000000000',
];
const BAD_PANS: [string, string[]][] = [
  ['4111111111111112', ['luhn']],
  ['4111 1111 1111 1121', ['luhn']],
  ['41111111111', ['cardNumber']],
  ['63040000000000000000', ['cardNumber']],
  ['4111.1111.1111.1111', ['cardNumber']],
  ['4111111111111111\n', ['cardNumber']],
  ['41111111１1111111', ['cardNumber']],
  ['٤١١١١١١١١١١١١١١١', ['cardNumber']],
  ['not a card number', ['cardNumber']],
  ['411111******1111', ['cardNumber']],
  ['', ['cardNumber']],
];
const PAN_ROWS = PAN_FIELDS.flatMap((place) => [
  ...GOOD_PANS.map((pan) => rowOf(place, pan, [])),
  ...BAD_PANS.map(([pan, rules]) => rowOf(place, pan, rules)),
]);

describe('A card number', () => {
  test.each(refused(PAN_ROWS))('is refused without being repeated, and nothing is sent: %s', (_title, row) =>
    expectRefusal(rig, row),
  );

  test.each(taken(PAN_ROWS))('is taken and sent as bare digits: %s', async (_title, row) => {
    await expectAcceptance(rig, row);
    const [sent] = rig.service.seen;
    const method = sent?.json['payment_method'] ?? sent?.json['payout_method'];
    expect(method).toMatchObject({ pan: String(row.value).replace(/\D/g, '') });
  });
});

describe('The expiry of a card', () => {
  const expiry = (month: string, year: string, rules: string[]): RuleRow => {
    const row = rowOf({ mutation: 'createPayment', arm: 'card', field: 'expiryYear' }, year, rules);
    return {
      ...row,
      call: { ...row.call, input: withValue(row.call.input, ['method', 'card', 'expiryMonth'], month) },
    };
  };

  // Only the date is moved: sockets and deadlines stay real.
  const setDate = (iso: string): void => {
    const clocks = ['hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
    const timers = [
      'setImmediate',
      'clearImmediate',
      'setInterval',
      'clearInterval',
      'setTimeout',
      'clearTimeout',
    ] as const;
    jest.useFakeTimers({ now: new Date(iso), doNotFake: [...clocks, ...timers] });
  };

  test.each([
    ['the last minute of its month', '2030-06-30T23:59:59Z', '06', '2030'],
    ['the new month, while the old one lasts somewhere on Earth', '2030-07-01T11:59:59Z', '06', '2030'],
    ['the last minute of its year', '2030-12-31T23:59:59Z', '12', '2030'],
    ['years before', '2030-12-31T23:59:59Z', '01', '2031'],
  ])('is taken in %s', (_when, now, month, year) => {
    setDate(now);
    return expectAcceptance(rig, expiry(month, year, []));
  });

  test.each([
    ['once its month is over everywhere', '2030-07-01T12:00:00Z', '06', '2030'],
    ['once its year is over', '2031-01-01T12:00:00Z', '12', '2030'],
    ['years later', '2032-01-01T00:00:00Z', '12', '2029'],
  ])('is refused %s', (_when, now, month, year) => {
    setDate(now);
    return expectRefusal(rig, expiry(month, year, ['notExpired']));
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

  test.each(Object.entries(STRUCTURED))('is refused beside the structured field %s', (name, value) =>
    expectRefusal(rig, withFields({ address: ADDRESS, [name]: value })),
  );

  test('is refused beside all structured fields', () =>
    expectRefusal(rig, withFields({ address: ADDRESS, ...STRUCTURED })));

  test.each([
    ['alone', { address: ADDRESS }],
    ['beside structured fields that are null', { address: ADDRESS, city: null, street: null }],
    ['as structured fields alone', STRUCTURED],
    ['as structured fields beside a null address', { address: null, ...STRUCTURED }],
    ['not at all', {}],
  ])('is taken %s', (_how, fields) => expectAcceptance(rig, withFields(fields)));
});
