import { parseValue, type GraphQLError } from 'graphql';
import { JSONObject, Timestamp } from '../../src/schema/scalars';
import { VALUE_RULE_NAMES } from '../../src/schema/value-rules';
import { EventStream } from '../subscriptions/support/event-stream';
import { WireClient, errorsIn, type WireError } from '../subscriptions/support/wire-client';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, clear, type LoggedGateway } from '../support/gateway';
import { DOCUMENTS, TRANSACTION_ID, sendCall, validCall, withValue, type Json } from '../support/calls';
import { startRuleHarness } from './fixtures/rig';

/** An error for an invalid value has the same `extensions.fields` however the value was sent. */

type Fields = { path: string[]; rule: string }[];
type Row = [title: string, query: string, variables: object, fields: Fields];

const PAN = '4111111111111111';

const field = (path: string, rule: string): Fields[number] => ({ path: path.split('.'), rule });

/** Values that a scalar refuses, by the path in createPayment and the rule that they break. */
const MISFITS: [path: string, rule: string, values: unknown[]][] = [
  ['channel', 'uuid', ['', CHANNEL.replaceAll('-', ''), `${CHANNEL}\n`, 12345678, {}, []]],
  ['channel', 'required', [null]],
  ['amount', 'object', ['10.00']],
  ['idempotencyKey', 'id', [{ key: 1 }]],
  ['externalId', 'string', [12]],
  ['nosuch', 'unknownField', ['x']],
  ['method.redirect', 'enum', ['VIRTUAL_ACCOUNT', 'DCB', 'card', 'NOSUCH']],
  ['method.upi', 'required', [null]],
  ['method.card.cvc', 'required', [undefined]],
  ['amount.value', 'positive', ['0', '-1.00']],
  ['amount.value', 'decimalPlaces', ['1.234']],
  ['amount.value', 'decimal', [10.25, '+1.00', '1e30', '٣٫٥٠', ' 1.00', '1234567890123456', '', true]],
  ['amount.currency', 'currencyCode', ['eur', 'EURO', 'ЕUR', '', 978978]],
  ['amount.currency', 'required', [null]],
  ['returnUrl', 'url', ['javascript:alert(77777)', '//host.example/path', ' https://a.test/', '', 77777]],
  ['returnUrl', 'url', [`https://example.test/${'x'.repeat(2048)}`]],
  ['method.other.fields', 'jsonObject', ['{"a":1}', 12345678, true]],
  ['method.other.fields', 'required', [null]],
  ['method.other.fields', 'exactNumber', [{ a: 2 ** 53 }, { list: [{ inner: -(2 ** 53) }] }, { a: 1e300 }]],
  ['method.card.pan', 'string', [{ pan: PAN }, [PAN], true]],
  ['method.card.pan', 'required', [null]],
  ['method.card.cvc', 'string', [73737, { cvc: '73737' }, ['73737']]],
];

const MANY = `query Q($c: UUID!, $ids: [UUID!]!, $shown: Boolean!) {
  payments(channel: $c, transactionIds: $ids) { ... on Node { id @include(if: $shown) } } }`;
const LIST = `query Q($c: UUID! $n: Int, $o: AttemptOutcome, $a: String) {
  attempts(channel: $c, first: $n, outcome: $o, after: $a) { edges { cursor } } }`;
const LOOKUP = `query Q($c: UUID!, $t: UUID, $e: String) {
  payment(channel: $c, transactionId: $t, externalId: $e) { __typename } }`;
const INLINE = `mutation M($value: Decimal!) {
  createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", amount: { currency: "EUR", value: $value }, method: { redirect: CARD } }) { __typename } }`;
const DEFAULTED = `query Q($c: UUID = "${CHANNEL}") { payments(channel: $c, transactionIds: []) { __typename } }`;

const many = (over: object): object => ({ c: CHANNEL, ids: [TRANSACTION_ID], shown: true, ...over });
const list = (over: object): object => ({ c: CHANNEL, ...over });

const TWO_FAULTS = withValue(
  withValue(validCall('createPayment', 'card').input, ['amount', 'value'], '1,50'),
  ['method', 'card', 'cvc'],
  737,
);

const ONE = { other: { fields: { a: 'b' } } };
const ANOTHER = { jazzCash: { account: '03001234567' } };

/** Invalid values of the @oneOf input `method`, and the fields that their errors name. */
const WRONG_METHODS: [value: Json, fields: Fields][] = [
  [{}, [field('method', 'oneOf')]],
  [{ ...ONE, ...ANOTHER }, [field('method', 'oneOf')]],
  [{ ...ONE, jazzCash: null }, [field('method', 'oneOf'), field('method.jazzCash', 'required')]],
  [{ other: null }, [field('method.other', 'required')]],
];

const NO_ID = [field('transactionId', 'atLeastOne'), field('externalId', 'atLeastOne')];

const CALLS: Row[] = [
  ['an argument', MANY, many({ c: 1 }), [field('channel', 'uuid')]],
  [
    'items of a list',
    MANY,
    many({ ids: ['x', TRANSACTION_ID, null] }),
    [field('transactionIds.0', 'uuid'), field('transactionIds.2', 'required')],
  ],
  ['a variable that is missing', MANY, many({ c: undefined }), [field('channel', 'required')]],
  ['the argument of a directive', MANY, many({ shown: 'yes' }), [field('if', 'boolean')]],
  ...['payments', 'payouts'].map((name): Row => {
    const variables = many({ ids: Array(101).fill(TRANSACTION_ID) });
    const fields = [field('transactionIds', 'maxItems')];
    return [`more than 100 ${name}`, MANY.replace('payments', name), variables, fields];
  }),
  [
    'several variables',
    LIST,
    list({ c: 'x', n: 1.5, o: 'NOSUCH', a: 1 }),
    [field('channel', 'uuid'), field('first', 'int'), field('outcome', 'enum'), field('after', 'string')],
  ],
  ['a page that is too large', LIST, list({ n: 101 }), [field('first', 'range')]],
  ['an invalid cursor', LIST, list({ a: 'x' }), [field('after', 'cursor')]],
  ['a payment lookup without an id', LOOKUP, list({}), NO_ID],
  ['a payout lookup without an id', LOOKUP.replace('payment', 'payout'), list({ t: null, e: null }), NO_ID],
  ...Object.entries({
    notBlank: '',
    printable: 'a\u0000',
    maxLength: 'x'.repeat(256),
    noCardNumber: PAN,
  }).map(([rule, e]): Row => [`an external id (${rule})`, LOOKUP, list({ e }), [field('externalId', rule)]]),
  ['an invalid node id', 'query Q($id: ID!) { node(id: $id) { id } }', { id: 'x' }, [field('id', 'nodeId')]],
  ['no input at all', DOCUMENTS.createPayment, {}, [field('input', 'required')]],
  [
    'several fields of an input',
    DOCUMENTS.createPayment,
    { input: TWO_FAULTS },
    [field('amount.value', 'decimal'), field('method.card.cvc', 'string')],
  ],
  ['a variable within an input', INLINE, { value: '10,00' }, [field('amount.value', 'decimal')]],
  ...WRONG_METHODS.map(([method, fields]): Row => {
    const input = { ...validCall('createPayment', 'jazzCash').input, method };
    return [`the method ${JSON.stringify(method)}`, DOCUMENTS.createPayment, { input }, fields];
  }),
  ['null in place of a default', DEFAULTED, { c: null }, [field('channel', 'required')]],
  ...MISFITS.flatMap(([path, rule, values]) =>
    values.map((value): Row => {
      const [head, variant = 'other'] = path.split('.');
      const { input } = validCall('createPayment', head === 'method' ? variant : 'other');
      const variables = { input: withValue(input, path.split('.'), value) };
      return [`${path} = ${JSON.stringify(value)}`, DOCUMENTS.createPayment, variables, [field(path, rule)]];
    }),
  ),
];

const literal = (argument: string, ...fields: Fields): Row => [
  argument,
  `mutation { createPayment(input: { idempotencyKey: "k", ${argument} }) { __typename } }`,
  {},
  fields,
];
const FIT = `channel: "${CHANNEL}", method: { redirect: CARD }, amount:`;
const PAYS = `channel: "${CHANNEL}", amount: { currency: "EUR", value: "1" }, method:`;

const LITERALS: Row[] = [
  literal(
    `${FIT} { currency: EUR, value: "0.00" }`,
    field('amount.currency', 'currencyCode'),
    field('amount.value', 'positive'),
  ),
  literal(`${FIT} { currency: "EUR" }`, field('amount.value', 'required')),
  literal(`${FIT} { currency: "EUR", value: null }`, field('amount.value', 'required')),
  literal(`${FIT} { currency: "EUR", value: 7.25 }`, field('amount.value', 'decimal')),
  literal(`${FIT} { currency: "EUR", value: "7.123" }`, field('amount.value', 'decimalPlaces')),
  literal(`${FIT} { currency: "EUR", value: "1", nosuch: 1 }`, field('amount.nosuch', 'unknownField')),
  literal(`${FIT} "10.00"`, field('amount', 'object')),
  literal(`${PAYS.replace(CHANNEL, 'x')} { redirect: CARD }`, field('channel', 'uuid')),
  literal(`${PAYS} { redirect: NOSUCH }`, field('method.redirect', 'enum')),
  literal(`returnUrl: "javascript:alert(1)", ${PAYS} { redirect: CARD }`, field('returnUrl', 'url')),
  literal(`externalId: 5, ${PAYS} { redirect: CARD }`, field('externalId', 'string')),
  literal(
    `${PAYS} { card: { pan: E4111, expiryMonth: "12", expiryYear: "2099", cvc: "737", cardholder: "A" } }`,
    field('method.card.pan', 'variableOnly'),
    field('method.card.cvc', 'variableOnly'),
  ),
  literal(`${PAYS} { other: { fields: "7" } }`, field('method.other.fields', 'jsonObject')),
  literal(
    `${PAYS} { other: { fields: { l: [0.12345678901234577777] } } }`,
    field('method.other.fields.l.0', 'exactNumber'),
  ),
  literal(`${PAYS} { other: { fields: { n: 7e400 } } }`, field('method.other.fields.n', 'exactNumber')),
  literal(`${PAYS} {}`, field('method', 'oneOf')),
  literal(`${PAYS} { redirect: CARD, jazzCash: { account: "1" } }`, field('method', 'oneOf')),
  literal(`${PAYS} { redirect: null }`, field('method.redirect', 'required')),
  ...[
    ['mutation { createPayment { __typename } }', 'input'],
    [`{ payment(transactionId: "${TRANSACTION_ID}") { __typename } }`, 'channel'],
    ['{ attempts { edges { cursor } } }', 'channel'],
  ].map(([query = '', argument = '']): Row => [query, query, {}, [field(argument, 'required')]]),
];

type Errors = readonly { extensions: Record<string, unknown> }[];

const fieldsIn = (errors: Errors = []): Fields =>
  errors.flatMap(({ extensions }) => extensions['fields'] as Fields);

const seen = new Set<string>();

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

beforeEach(() => clear(harness));

async function expectFields(code: string, ...[, query, variables, fields]: Row): Promise<void> {
  const { errors, text } = await harness.client.request(query, variables);
  expect(fieldsIn(errors)).toEqual(fields);
  for (const { extensions } of errors ?? []) expect(extensions).toMatchObject({ code, retryable: false });
  expect(text).not.toMatch(/4111111111111111|03001234567|77777/);
  expect(harness.service.requests).toHaveLength(0);
  fields.forEach(({ rule }) => seen.add(rule));
}

// test/properties/messages.test.ts shows that no invalid value is in a response or log.
describe('The error for an invalid input value', () => {
  test.each(CALLS)('names path and rule when the value is in a variable: %s', (...row) =>
    expectFields('BAD_USER_INPUT', ...row),
  );

  test.each(LITERALS)('names path and rule when the value is a literal or missing: %s', (...row) =>
    expectFields('GRAPHQL_VALIDATION_FAILED', ...row),
  );

  test('has the extension `fields`, unlike the error for an unknown field in a selection', async () => {
    const { errors } = await harness.client.request('{ nosuch }');
    expect(errors?.[0]?.extensions).not.toHaveProperty('fields');
  });

  test.each([PAN, '737', 'a b'])(
    'redacts the name of an unknown input field that may be a secret: %s',
    (name) => {
      const variables = { input: { ...validCall('createPayment', 'upi').input, [name]: 1 } };
      const fields = [field('[redacted]', 'unknownField')];
      return expectFields('BAD_USER_INPUT', name, DOCUMENTS.createPayment, variables, fields);
    },
  );

  const WATCH = `subscription S($c: UUID!, $t: UUID!, $b: Boolean!) {
    paymentUpdated(channel: $c, transactionId: $t) { ... on Node { id @include(if: $b) } } }`;

  test.each<[string, variables: Json, Fields]>([
    [
      'invalid variables',
      { c: 'x', t: 5, b: 'x' },
      [field('channel', 'uuid'), field('transactionId', 'uuid'), field('if', 'boolean')],
    ],
    [
      'null or missing variables',
      { c: null, b: true },
      [field('channel', 'required'), field('transactionId', 'required')],
    ],
  ])('names path and rule over WebSocket and server-sent events: %s', async (_what, variables, fields) => {
    const { url } = harness.client;
    const client = await WireClient.ready(url, AUTHORIZED);
    client.subscribe('1', { query: WATCH, variables });
    expect(fieldsIn(errorsIn(await client.next()))).toEqual(fields);
    const stream = await EventStream.open(`${url}/stream`, { query: WATCH, variables });
    const event = await stream.next();
    if (event.event !== 'next') throw new Error(stream.text);
    expect(fieldsIn(event.data.errors as unknown as WireError[])).toEqual(fields);
  });
});

describe('A @oneOf input', () => {
  test('is accepted when it is a literal with one field', async () => {
    const { errors } = await harness.client.request(literal(`${PAYS} { other: { fields: { a: "b" } } }`)[1]);
    expect(errors).toBeUndefined();
    expect(harness.service.requests).toHaveLength(1);
  });

  test.each([null, undefined])('is refused when the variable of its only field is %s', async (account) => {
    const query = `mutation M($account: WalletAccountInput) { createPayment(input: { idempotencyKey: "k",
      ${PAYS} { jazzCash: $account } }) { __typename } }`;
    const { errors, data } = await harness.client.request(query, { account });
    expect(errors?.[0]?.extensions['code']).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
    expect(data ?? null).toBeNull();
    expect(harness.service.requests).toHaveLength(0);
  });

  test.each(['upi', 'c2c'])(
    'is refused when the object in its field %s has no values, although all fields of that object are optional',
    async (variant) => {
      const { mutation, input } = validCall('createPayment', variant);
      for (const empty of [{}, { email: null }, { firstName: null, email: null }]) {
        const call = { mutation, input: withValue(input, ['method', variant], empty) };
        const { result } = await sendCall(harness.client, call);
        expect(result?.fields).toMatchObject([{ path: ['method', variant], rule: 'notEmpty' }]);
      }
      expect(harness.service.requests).toHaveLength(0);
    },
  );
});

test('The scalar JSONObject accepts numbers that JavaScript represents exactly, and refuses all other numbers', () => {
  const text = '{a: 9007199254740991, b: -9007199254740991, c: 1.50, d: 1e3, e: 0.1, f: 0, g: 2.5e-7}';
  const read = { a: 2 ** 53 - 1, b: 1 - 2 ** 53, c: 1.5, d: 1000, e: 0.1, f: 0, g: 2.5e-7 };
  expect(JSONObject.parseLiteral(parseValue(text))).toEqual(read);
  expect(JSONObject.parseValue(read)).toEqual(read);
  for (const variable of ['{"a":9007199254740993}', '{"a":1e400}'])
    expect(() => JSONObject.parseValue(JSON.parse(variable))).toThrow(
      expect.objectContaining({ extensions: expect.objectContaining({ rule: 'exactNumber' }) as unknown }),
    );
});

test('Every rule in VALUE_RULE_NAMES is tested with an invalid value', () => {
  try {
    Timestamp.parseValue('yesterday');
  } catch (error) {
    seen.add(String((error as GraphQLError).extensions['rule']));
  }
  // Tested in test/federation/subgraph.test.ts.
  seen.add('entityType');
  expect(VALUE_RULE_NAMES.filter((rule) => !seen.has(rule))).toEqual([]);
});
