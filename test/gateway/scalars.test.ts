import { parseValue } from 'graphql';
import { JSONObject } from '../../src/schema/scalars';
import { CHANNEL } from '../support/gateway';
import { DOCUMENTS, validCall, withValue, type Json } from './fixtures/calls';
import { expectErrors } from './fixtures/raw';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

/** Each scalar, where one of it stands in createPayment, and what does not fit it. */
const MISFITS: [scalar: string, path: string[], rule: RegExp, values: unknown[]][] = [
  [
    'UUID',
    ['channel'],
    /must be a UUID/,
    [
      '',
      'not-a-uuid',
      CHANNEL.replaceAll('-', ''),
      `{${CHANNEL}}`,
      `${CHANNEL}\n`,
      `${CHANNEL}0`,
      12345678,
      true,
      {},
      [],
      null,
    ],
  ],
  [
    'Decimal',
    ['amount', 'value'],
    /string that holds a decimal number above zero/,
    [
      10.25,
      7654321,
      '0',
      '0.00',
      '000.0',
      '-1.00',
      '+1.00',
      '1.234',
      '1.',
      '.50',
      '1e30',
      '1,50',
      '1 000',
      '٣٫٥٠',
      'NaN',
      'Infinity',
      '0x10',
      ' 1.00',
      '1.00\n',
      '1234567890123456',
      '',
      true,
      { value: '1' },
      null,
    ],
  ],
  [
    'CurrencyCode',
    ['amount', 'currency'],
    /three capital letters/,
    ['eur', 'Eur', 'EURO', 'EU', 'E1R', 'ЕUR', '€€€', '', 978978, null],
  ],
  [
    'URL',
    ['returnUrl'],
    /absolute http or https address/,
    [
      'javascript:alert(77777)',
      '/relative/path',
      '//host.example/path',
      'ftp://host.example/',
      'data:text/html,77777',
      'file:///etc/passwd',
      'https://',
      'https://a b.example/',
      'https://exa\\mple.test',
      'https:/one.example',
      ' https://example.test/',
      'https://example.test/\n',
      'vbscript:77777',
      `https://example.test/${'x'.repeat(2048)}`,
      '',
      77777,
    ],
  ],
  ['JSONObject', ['method', 'other', 'fields'], /JSON object/, ['{"a":1}', 12345678, ['listed'], true, null]],
  [
    'JSONObject',
    ['method', 'other', 'fields'],
    /send it as text/,
    [{ account_number: 2 ** 53 }, { list: [{ inner: -(2 ** 53) }] }, { large: 1e300 }],
  ],
  [
    'CardNumber',
    ['method', 'card', 'pan'],
    /must be a string/,
    [4111111111111111, { pan: '4111111111111111' }, ['4111111111111111'], true, null],
  ],
  [
    'CardSecurityCode',
    ['method', 'card', 'cvc'],
    /must be a string/,
    [73737, { cvc: '73737' }, ['73737'], null],
  ],
];

const inputWith = (path: string[], value: unknown): Json =>
  withValue(validCall('createPayment', (path[0] === 'method' && path[1]) || 'other').input, path, value);

const ROWS = MISFITS.flatMap(([scalar, path, rule, values]) =>
  values.map((value): [string, unknown, { path: string[]; rule: RegExp }] => [scalar, value, { path, rule }]),
);

test.each(ROWS)(
  'A %s refuses the variable %j, and says where and why without repeating it',
  async (_scalar, value, { path, rule }) => {
    const answer = await rig.client.ask(DOCUMENTS.createPayment, { input: inputWith(path, value) });
    expect(answer.status).toBe(400);
    expectErrors(answer, 'BAD_USER_INPUT');
    expect(answer.errors?.[0]?.extensions['retryable']).toBe(false);
    const [fault] = answer.errors ?? [];
    expect(fault?.message).toContain('Variable "$input"');
    expect(fault?.message).toContain(`"input.${path.join('.')}"`);
    expect(fault?.message).toMatch(value === null ? /not to be null/ : rule);
    const written = JSON.stringify(value ?? '').replace(/^"|"$/g, '');
    const said = (answer.text + rig.logLines.join('')).replace('for example 10.00', '');
    if (written.length > 3) expect(said).not.toContain(written);
    expect(rig.service.seen).toHaveLength(0);
  },
);

const LITERALS: [scalar: string, argument: string][] = [
  ['UUID', 'channel: "77777-not-a-uuid"'],
  ['UUID', 'channel: 7777777'],
  ['UUID', 'channel: NOT_A_UUID_77777'],
  ['Decimal', 'amount: { currency: "EUR", value: 77777.25 }'],
  ['Decimal', 'amount: { currency: "EUR", value: 77777 }'],
  ['Decimal', 'amount: { currency: "EUR", value: "77777.123" }'],
  ['CurrencyCode', 'amount: { currency: "E77777", value: "1" }'],
  ['CurrencyCode', 'amount: { currency: E77777, value: "1" }'],
  ['URL', 'returnUrl: "javascript:alert(77777)"'],
  ['JSONObject', 'method: { other: { fields: "77777" } }'],
  ['JSONObject', 'method: { other: { fields: { account_number: 9007199254777777 } } }'],
  ['JSONObject', 'method: { other: { fields: { list: [0.12345678901234577777] } } }'],
  ['JSONObject', 'method: { other: { fields: { tiny: 77777e-400 } } }'],
  ['JSONObject', 'method: { other: { fields: { large: 77777e400 } } }'],
  ['CardNumber', 'method: { card: { pan: "4111 1111 1111 77777" } }'],
  ['CardNumber', 'method: { card: { pan: 411111111177777 } }'],
  ['CardNumber', 'method: { card: { pan: E77777 } }'],
  ['CardSecurityCode', 'method: { card: { cvc: "77777" } }'],
  ['CardSecurityCode', 'method: { card: { cvc: 77777 } }'],
];

test.each(LITERALS)('A %s refuses the literal in { %s } without repeating it', async (_scalar, argument) => {
  const answer = await rig.client.ask(`mutation { createPayment(input: { ${argument} }) { __typename } }`);
  expect(answer.status).toBe(400);
  expectErrors(answer, 'GRAPHQL_VALIDATION_FAILED');
  expect(answer.text).not.toContain('77777');
  expect(rig.logLines.join('')).not.toMatch(/[^\d]77777/);
  expect(rig.service.seen).toHaveLength(0);
});

test.each([
  ['CardNumber', 'pan', '4111111111111111'],
  ['CardSecurityCode', 'cvc', '737'],
])('A %s refuses even a right literal: only a variable may carry it', async (scalar, field, value) => {
  const card = {
    pan: '$pan',
    expiryMonth: '"12"',
    expiryYear: '"2099"',
    cvc: '$cvc',
    cardholder: '"Ann Payer"',
  };
  const literal = Object.entries({ ...card, [field]: `"${value}"` }).map(
    ([name, text]) => `${name}: ${text}`,
  );
  const query = `mutation M($pan: CardNumber!, $cvc: CardSecurityCode!) { createPayment(input: { idempotencyKey: "k",
    channel: "${CHANNEL}", amount: { currency: "EUR", value: "1" }, method: { card: { ${literal.join(', ')} } }
  }) { __typename } }`;
  const answer = await rig.client.ask(query, { pan: '4111111111111111', cvc: '737' });
  expectErrors(answer, 'GRAPHQL_VALIDATION_FAILED');
  expect(answer.text).toContain(`literal ${scalar}`);
  expect(answer.text).not.toContain(value);
  expect(rig.service.seen).toHaveLength(0);
});

test('A default value of a card number variable is a literal too, and refused', async () => {
  const query =
    'mutation M($pan: CardNumber = "4111111111111111") { createPayment(input: { method: { card: { pan: $pan } } }) { __typename } }';
  const answer = await rig.client.ask(query);
  expectErrors(answer, 'GRAPHQL_VALIDATION_FAILED');
  expect(answer.text).not.toContain('4111');
});

test.each([
  [
    'a variable whose default was overruled by null',
    'query Q($c: UUID = "7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10") { payment(channel: $c) { __typename } }',
    { c: null },
  ],
  [
    'a card number as a variable for another type',
    'query Q($c: CardNumber!) { payment(channel: $c) { __typename } }',
    { c: '4111111111111111' },
  ],
])('It is the fault of the caller: %s', async (_what, query, variables) => {
  const answer = await rig.client.ask(query, variables);
  expectErrors(answer, /^(BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED)$/);
  expect(answer.text).not.toContain('4111');
});

test('Numbers in a JSONObject are taken where they are exact, and infinite ones are not', () => {
  const text = '{a: 9007199254740991, b: -9007199254740991, c: 1.50, d: 1e3, e: 0.1, f: 0, g: 2.5e-7}';
  const read = { a: 2 ** 53 - 1, b: 1 - 2 ** 53, c: 1.5, d: 1000, e: 0.1, f: 0, g: 2.5e-7 };
  expect(JSONObject.parseLiteral(parseValue(text))).toEqual(read);
  expect(JSONObject.parseValue(read)).toEqual(read);
  for (const variable of ['{"a":9007199254740993}', '{"a":1e400}'])
    expect(() => JSONObject.parseValue(JSON.parse(variable))).toThrow('send it as text');
});
