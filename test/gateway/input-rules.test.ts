import { make, validCall, withValue } from './fixtures/calls';
import { clear, expectAcceptance, expectRefusal, newRig, refused, taken, type Rig } from './fixtures/rig';
import { formRows, rowOf, textRows, type RuleRow } from './fixtures/rule-rows';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

describe('A field of free text', () => {
  test.each(refused(textRows()))(
    'is refused without being repeated, and nothing is sent: %s',
    (_title, row) => expectRefusal(rig, row),
  );

  test.each(taken(textRows()))('is taken: %s', (_title, row) => expectAcceptance(rig, row));

  test.each([
    '\u0001',
    '\t',
    '\n',
    '\r',
    '\u001b',
    '\u007f',
    '\u0085',
    '\u009f',
    '\u2028',
    '\u2029',
    '\udfff',
  ])('is refused with the character %j in it', (character) => {
    const place = { mutation: 'createPayment', field: 'description' } as const;
    return expectRefusal(rig, rowOf(place, `before${character}after`, ['printable']));
  });
});

describe('A field with a form of its own', () => {
  test.each(refused(formRows()))(
    'is refused without being repeated, and nothing is sent: %s',
    (_title, row) => expectRefusal(rig, row),
  );

  test.each(taken(formRows()))('is taken: %s', (_title, row) => expectAcceptance(rig, row));
});

describe('A currency', () => {
  const rowOfCurrency = (value: string, rules: string[]): RuleRow => {
    const { mutation, input } = validCall('createPayment', 'other');
    const path = ['amount', 'currency'];
    return { title: value, path, value, rules, call: { mutation, input: withValue(input, path, value) } };
  };

  test.each(['XYZ', 'ABC', 'ZZZ'])('is refused when ISO 4217 does not have it: %s', (code) =>
    expectRefusal(rig, rowOfCurrency(code, ['iso4217'])),
  );

  test.each(['EUR', 'BDT', 'KZT', 'JPY', 'BHD'])('is taken when ISO 4217 has it: %s', (code) =>
    expectAcceptance(rig, rowOfCurrency(code, [])),
  );
});

test('Every mistake of an input is told at once, each with its path', async () => {
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
  const { result } = await make(rig.client, { mutation, input: broken });
  const told = result?.fields?.map(({ path, rule }) => `${path.join('.')} ${rule}`) ?? [];
  expect(told.sort()).toEqual([
    'externalId printable',
    'idempotencyKey notBlank',
    'method.card.cardholder notBlank',
    'method.card.cvc cvc',
    'method.card.email email',
    'method.card.pan luhn',
  ]);
  expect(result?.message).toContain('6 rules');
  expect(rig.service.seen).toHaveLength(0);
});
