import { parseValue, type GraphQLError } from 'graphql';
import { JSONObject, Timestamp } from '../../src/schema/scalars';
import { VALUE_RULES } from '../../src/schema/value-rules';
import { EventStream } from '../subscriptions/support/event-stream';
import { WireClient, errorsIn, type WireError } from '../subscriptions/support/wire-client';
import { asNew, DifferentialHarness } from '../compiled/support/differential';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import {
  DOCUMENTS,
  TRANSACTION_ID,
  sendCall,
  validCall,
  withValue,
  type Json,
  type Mutation,
} from '../support/calls';

/** An error for an invalid value has the same `extensions.fields` however the value was sent. */

type Fields = { path: string[]; rule: string }[];

const PAN = '4111111111111111';

interface Row {
  query: string;
  variables?: object;
  /** Valid variables, sent first so that the operation is compiled. */
  fitting?: object;
  fields: Fields;
}

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
  [
    'amount.value',
    'decimal',
    [10.25, '+1.00', '1.', '1e30', '٣٫٥٠', 'NaN', ' 1.00', '1234567890123456', '', true],
  ],
  ['amount.currency', 'currencyCode', ['eur', 'EURO', 'ЕUR', '', 978978]],
  ['amount.currency', 'required', [null]],
  [
    'returnUrl',
    'url',
    ['javascript:alert(77777)', '//host.example/path', 'https://', ' https://example.test/', '', 77777],
  ],
  ['returnUrl', 'url', [`https://example.test/${'x'.repeat(2048)}`]],
  ['method.other.fields', 'jsonObject', ['{"a":1}', 12345678, true]],
  ['method.other.fields', 'required', [null]],
  [
    'method.other.fields',
    'exactNumber',
    [{ account_number: 2 ** 53 }, { list: [{ inner: -(2 ** 53) }] }, { large: 1e300 }],
  ],
  ['method.card.pan', 'string', [{ pan: PAN }, [PAN], true]],
  ['method.card.pan', 'required', [null]],
  ['method.card.cvc', 'string', [73737, { cvc: '73737' }, ['73737']]],
];

const MANY = `query Q($c: UUID!, $ids: [UUID!]!, $shown: Boolean!) {
  payments(channel: $c, transactionIds: $ids) { ... on Node { id @include(if: $shown) } }
}`;
const MANY_FIT = { c: CHANNEL, ids: [TRANSACTION_ID], shown: true };
const LIST =
  'query Q($c: UUID! $n: Int, $o: AttemptOutcome, $a: String) { attempts(channel: $c, first: $n, outcome: $o, after: $a) { edges { cursor } } }';
const LOOKUP = `query Q($c: UUID!, $t: UUID, $e: String) { payment(channel: $c, transactionId: $t, externalId: $e) { __typename } }`;
const LOOKUP_FITS = { c: CHANNEL, t: TRANSACTION_ID };
const INLINE = `mutation M($value: Decimal!) {
  createPayment(input: { idempotencyKey: "k", channel: "${CHANNEL}", amount: { currency: "EUR", value: $value }, method: { redirect: CARD } }) { __typename }
}`;
const DEFAULTED = `query Q($c: UUID = "${CHANNEL}", ) { payments(channel: $c, transactionIds: []) { __typename } }`;

const row = (query: string, variables: object, fields: Fields, fitting?: object): Row => ({
  query,
  variables,
  fields,
  ...(fitting && { fitting }),
});
const many = (over: object, ...fields: Fields): Row => row(MANY, { ...MANY_FIT, ...over }, fields, MANY_FIT);
const list = (over: object, ...fields: Fields): Row =>
  row(LIST, { c: CHANNEL, ...over }, fields, { c: CHANNEL });
const lookup = (over: object, ...fields: Fields): Row =>
  row(LOOKUP, { c: CHANNEL, ...over }, fields, LOOKUP_FITS);

const TWO_FAULTS = withValue(
  withValue(validCall('createPayment', 'card').input, ['amount', 'value'], '1,50'),
  ['method', 'card', 'cvc'],
  737,
);

/** Returns the GraphQL literal of a JSON value; words of more than three capitals become enum values. */
function literalOf(value: unknown): string {
  if (typeof value === 'string' && /^[A-Z_]{4,}$/.test(value)) return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, inner]) => `${name}: ${literalOf(inner)}`);
  return `{ ${fields.join(', ')} }`;
}

const asLiteral = (mutation: Mutation, input: unknown): string =>
  `mutation { ${mutation}(input: ${literalOf(input)}) { __typename } }`;

const ONE_OF: [Mutation, name: string, variant: string, one: Json, another: Json][] = [
  [
    'createPayment',
    'method',
    'jazzCash',
    { other: { fields: { a: 'b' } } },
    { jazzCash: { account: '03001234567' } },
  ],
  [
    'createPayout',
    'method',
    'jazzCash',
    { typeOnly: 'SCHEME' },
    { jazzCash: { accountNumber: '03001234567' } },
  ],
  ['confirmPayment', 'confirmation', 'upi', { c2c: 'TRANSFER_MADE' }, { upi: { utr: '123456789012' } }],
];

/** Calls with an invalid value of a @oneOf input, and the fields that their errors name. */
const WRONG_VARIANTS = ONE_OF.flatMap(([mutation, name, variant, one, another]) => {
  const [chosen = '', other = ''] = [one, another].flatMap(Object.keys);
  const cases: [value: Json, fields: Fields][] = [
    [{}, [field(name, 'oneOf')]],
    [{ ...one, ...another }, [field(name, 'oneOf')]],
    [{ ...one, [other]: null }, [field(name, 'oneOf'), field(`${name}.${other}`, 'required')]],
    [{ [chosen]: null }, [field(`${name}.${chosen}`, 'required')]],
  ];
  return cases.map(([value, fields]) => {
    const input: Json = { ...validCall(mutation, variant).input, [name]: value };
    return { title: `${mutation} with ${JSON.stringify(value)}`, mutation, input, fields };
  });
});

const CALLS: [string, Row][] = [
  ['an argument', many({ c: 1 }, field('channel', 'uuid'))],
  [
    'items of a list',
    many(
      { ids: ['x', TRANSACTION_ID, null] },
      field('transactionIds.0', 'uuid'),
      field('transactionIds.2', 'required'),
    ),
  ],
  ['a variable that is missing', many({ c: undefined }, field('channel', 'required'))],
  ['the argument of a directive', many({ shown: 'yes' }, field('if', 'boolean'))],
  ...['payments', 'payouts'].map((name): [string, Row] => {
    const variables = { ...MANY_FIT, ids: Array(101).fill(TRANSACTION_ID) };
    const fields = [field('transactionIds', 'maxItems')];
    return [`more than 100 ${name}`, row(MANY.replace('payments', name), variables, fields, MANY_FIT)];
  }),
  [
    'several variables',
    list(
      { c: 'x', n: 1.5, o: 'NOSUCH', a: 1 },
      field('channel', 'uuid'),
      field('first', 'int'),
      field('outcome', 'enum'),
      field('after', 'string'),
    ),
  ],
  ['a page that is too large', list({ n: 101 }, field('first', 'range'))],
  ['an invalid cursor', list({ a: 'x' }, field('after', 'cursor'))],
  ...[
    ['payment', {}],
    ['payout', { t: null, e: null }],
  ].map(([name, ids]): [string, Row] => {
    const fields = [field('transactionId', 'atLeastOne'), field('externalId', 'atLeastOne')];
    const query = LOOKUP.replace('payment', String(name));
    return [
      `a lookup of a ${String(name)} without an id`,
      row(query, Object.assign({ c: CHANNEL }, ids), fields, LOOKUP_FITS),
    ];
  }),
  ['an empty external id', lookup({ e: '' }, field('externalId', 'notBlank'))],
  ...['lone\ud800', 'a\nb', 'a\u0000'].map((e): [string, Row] => [
    `the external id ${JSON.stringify(e)}`,
    lookup({ e }, field('externalId', 'printable')),
  ]),
  ['an external id that is too long', lookup({ e: 'x'.repeat(256) }, field('externalId', 'maxLength'))],
  ['a card number as an external id', lookup({ e: PAN }, field('externalId', 'noCardNumber'))],
  [
    'an id that is not a global id',
    row('query Q($id: ID!) { node(id: $id) { id } }', { id: 'x' }, [field('id', 'nodeId')]),
  ],
  ['no input at all', row(DOCUMENTS.createPayment, {}, [field('input', 'required')])],
  [
    'several fields of an input',
    row(DOCUMENTS.createPayment, { input: TWO_FAULTS }, [
      field('amount.value', 'decimal'),
      field('method.card.cvc', 'string'),
    ]),
  ],
  ['a variable within an input', row(INLINE, { value: '10,00' }, [field('amount.value', 'decimal')])],
  ...WRONG_VARIANTS.map(({ title, mutation, input, fields }): [string, Row] => [
    title,
    row(DOCUMENTS[mutation], { input }, fields),
  ]),
  ['null in place of a default', row(DEFAULTED, { c: null }, [field('channel', 'required')], {})],
];

const literal = (argument: string, ...fields: Fields): [string, Row] => [
  argument,
  { query: `mutation { createPayment(input: { idempotencyKey: "k", ${argument} }) { __typename } }`, fields },
];
const FIT = `channel: "${CHANNEL}", method: { redirect: CARD }, amount:`;
const PAYS = `channel: "${CHANNEL}", amount: { currency: "EUR", value: "1" }, method:`;

const LITERALS: [string, Row][] = [
  literal(
    `${FIT} { currency: EUR, value: "0.00" }`,
    field('amount.currency', 'currencyCode'),
    field('amount.value', 'positive'),
  ),
  literal(`${FIT} { currency: "EUR" }`, field('amount.value', 'required')),
  literal(`${FIT} { currency: "EUR", value: null }`, field('amount.value', 'required')),
  literal(`${FIT} { currency: "EUR", value: "1", nosuch: 1 }`, field('amount.nosuch', 'unknownField')),
  literal(`${FIT} "10.00"`, field('amount', 'object')),
  literal(`${PAYS} { redirect: NOSUCH }`, field('method.redirect', 'enum')),
  literal(
    `${PAYS} { card: { pan: "4111111111111111", expiryMonth: "12", expiryYear: "2099", cvc: "737", cardholder: "A" } }`,
    field('method.card.pan', 'variableOnly'),
    field('method.card.cvc', 'variableOnly'),
  ),
  ...WRONG_VARIANTS.map(({ title, mutation, input, fields }): [string, Row] => [
    title,
    // A null beside another field is named only in a variable.
    { query: asLiteral(mutation, input), fields: fields.slice(0, 1) },
  ]),
  literal(`externalId: 5, ${PAYS} { redirect: CARD }`, field('externalId', 'string')),
];

/** Literals with a number that must not be repeated, and the rule that they break. */
const SHORT_LITERALS: [argument: string, path: string, rule: string][] = [
  ['channel: "77777-not-a-uuid"', 'channel', 'uuid'],
  ['channel: NOT_A_UUID_77777', 'channel', 'uuid'],
  ['amount: { currency: "EUR", value: 77777.25 }', 'amount.value', 'decimal'],
  ['amount: { currency: "EUR", value: "77777.123" }', 'amount.value', 'decimalPlaces'],
  ['amount: { currency: "E77777", value: "1" }', 'amount.currency', 'currencyCode'],
  ['returnUrl: "javascript:alert(77777)"', 'returnUrl', 'url'],
  ['method: { other: { fields: "77777" } }', 'method.other.fields', 'jsonObject'],
  [
    'method: { other: { fields: { l: [0.12345678901234577777] } } }',
    'method.other.fields.l.0',
    'exactNumber',
  ],
  ['method: { other: { fields: { n: 77777e400 } } }', 'method.other.fields.n', 'exactNumber'],
  ['method: { card: { pan: "4111 1111 1111 77777" } }', 'method.card.pan', 'variableOnly'],
  ['method: { card: { pan: E77777 } }', 'method.card.pan', 'variableOnly'],
  ['method: { card: { cvc: "77777" } }', 'method.card.cvc', 'variableOnly'],
];

const ABSENT: [string, Row][] = (
  [
    ['mutation { createPayment { __typename } }', 'input'],
    [`{ payment(transactionId: "${TRANSACTION_ID}") { __typename } }`, 'channel'],
    ['{ attempts { edges { cursor } } }', 'channel'],
  ] as const
).map(([query, argument]) => [query, { query, fields: [field(argument, 'required')] }]);

interface Answer {
  errors: { extensions: Record<string, unknown> }[];
}

const fieldsIn = (errors: readonly { extensions: Record<string, unknown> }[]): Fields =>
  errors.flatMap(({ extensions }) => extensions['fields'] as Fields);

const seen = new Set<string>();
const remember = (fields: Fields): void => fields.forEach(({ rule }) => seen.add(rule));

let ways: DifferentialHarness;

beforeAll(async () => {
  ways = await DifferentialHarness.start();
});

beforeEach(() => {
  ways.logLines.length = 0;
  ways.service.requests.length = 0;
});

describe('An invalid value', () => {
  const expectFields = (body: string, fields: Fields, code: string): void => {
    const { errors } = JSON.parse(body) as Answer;
    expect(fieldsIn(errors)).toEqual(fields);
    errors.forEach(({ extensions }) => expect(extensions).toMatchObject({ code, retryable: false }));
    expect(body).not.toMatch(/4111111111111111|03001234567|123456789012/);
    remember(fields);
  };

  test.each(CALLS)(
    'has the same path and rule in errors of Apollo and of a compiled operation: %s',
    async (_, { query, variables, fitting, fields }) => {
      const byApollo = await ways.send({ body: { query: asNew(query), variables } });
      if (fitting) await ways.prepare({ query, variables: fitting });
      const afterwards = await ways.send({ body: { query, variables } });
      for (const { effects } of [byApollo, afterwards]) {
        expectFields(effects.body, fields, 'BAD_USER_INPUT');
        expect(effects.calls).toEqual([]);
      }
      expect(afterwards.effects.body).toBe(byApollo.effects.body);
    },
  );

  /** Returns the JSON form of a value, as responses and log lines would contain it. */
  const written = (value: unknown): string => (JSON.stringify(value) ?? '').replace(/^"|"$/g, '');

  const SENT = MISFITS.flatMap(([path, rule, values]) =>
    values.map((value): [string, unknown, string] => [path, value, rule]),
  );
  test.each(SENT)(
    'is in no response or log, and nothing is sent: %s = %j breaks the rule %s',
    async (path, value, rule) => {
      const [head, variant = 'other'] = path.split('.');
      const { input } = validCall('createPayment', head === 'method' ? variant : 'other');
      const response = await ways.client.request(DOCUMENTS.createPayment, {
        input: withValue(input, path.split('.'), value),
      });
      expect(response.status).toBe(400);
      expectFields(response.text, [field(path, rule)], 'BAD_USER_INPUT');
      const output = (response.text + ways.logLines.join('')).replace('for example 10.00', '');
      if (written(value).length > 4) expect(output).not.toContain(written(value));
      expect(ways.service.requests).toHaveLength(0);
    },
  );

  test.each(SHORT_LITERALS)('as the literal %s is in no response or log', async (argument, path, rule) => {
    const query = `mutation { createPayment(input: { ${argument} }) { __typename } }`;
    const response = await ways.client.request(query);
    const faults = fieldsIn(response.errors ?? []);
    expect(faults).toContainEqual(field(path, rule));
    expect(response.errors?.map(({ extensions }) => extensions['code'])).toContain(
      'GRAPHQL_VALIDATION_FAILED',
    );
    expect(response.text).not.toContain('77777');
    expect(ways.logLines.join('')).not.toMatch(/[^\d]77777/);
    expect(ways.service.requests).toHaveLength(0);
  });

  test.each([...LITERALS, ...ABSENT])(
    'has path and rule in the error when it is a literal or a missing argument: %s',
    async (_, { query, fields }) => {
      const { effects } = await ways.send({ body: { query } });
      expectFields(effects.body, fields, 'GRAPHQL_VALIDATION_FAILED');
      expect(effects.calls).toEqual([]);
    },
  );

  test('has `fields` in its error, unlike an unknown field of a selection', async () => {
    const { effects } = await ways.send({ body: { query: '{ nosuch }' } });
    expect((JSON.parse(effects.body) as Answer).errors[0]?.extensions).not.toHaveProperty('fields');
  });

  test.each([PAN, '737', 'a b'])(
    'is redacted when it is an unknown field name that may be a secret: %s',
    async (name) => {
      const variables = { input: { ...validCall('createPayment', 'upi').input, [name]: 1 } as Json };
      const { effects } = await ways.send({ body: { query: DOCUMENTS.createPayment, variables } });
      expectFields(effects.body, [field('[redacted]', 'unknownField')], 'BAD_USER_INPUT');
    },
  );

  const WATCH =
    'subscription S($c: UUID!, $t: UUID!, $b: Boolean!) { paymentUpdated(channel: $c, transactionId: $t) { ... on Node { id @include(if: $b) } } }';
  const WATCHED: [string, Row][] = [
    [
      'invalid variables',
      row(WATCH, { c: 'x', t: 5, b: 'x' }, [
        field('channel', 'uuid'),
        field('transactionId', 'uuid'),
        field('if', 'boolean'),
      ]),
    ],
    [
      'null or missing variables',
      row(WATCH, { c: null, b: true }, [field('channel', 'required'), field('transactionId', 'required')]),
    ],
  ];

  test.each(WATCHED)(
    'has path and rule in the error over WebSocket and SSE: %s',
    async (_, { query, variables = {}, fields }) => {
      const client = await WireClient.ready(ways.client.url, AUTHORIZED);
      client.subscribe('1', { query, variables });
      expect(fieldsIn(errorsIn(await client.next()))).toEqual(fields);
      const stream = await EventStream.open(`${ways.client.url}/stream`, { query, variables });
      const event = await stream.next();
      if (event.event !== 'next') throw new Error(stream.text);
      expect(fieldsIn(event.data.errors as unknown as WireError[])).toEqual(fields);
    },
  );
});

describe('A @oneOf input', () => {
  test.each(ONE_OF)(
    'is accepted as a literal with one field: %s.%s',
    async (...[mutation, name, variant, one]) => {
      const input = { ...validCall(mutation, variant).input, [name]: one };
      expect((await ways.client.request(asLiteral(mutation, input))).errors).toBeUndefined();
      expect(ways.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
    },
  );

  test.each([null, undefined])('is refused when the variable of its only field is %s', async (account) => {
    const query = `mutation M($account: WalletAccountInput) { createPayment(input: { idempotencyKey: "k",
      channel: "${CHANNEL}", amount: { currency: "PKR", value: "1" }, method: { jazzCash: $account } }) { __typename } }`;
    const { errors, data } = await ways.client.request(query, { account });
    expect(errors?.[0]?.extensions['code']).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
    expect(data ?? null).toBeNull();
    expect(ways.service.requests).toHaveLength(0);
  });

  test.each(['upi', 'c2c'])(
    'is refused when the object in its field %s is empty, although all fields of that object are optional',
    async (variant) => {
      const { mutation, input } = validCall('createPayment', variant);
      for (const empty of [{}, { email: null }, { firstName: null, email: null }]) {
        const call = { mutation, input: withValue(input, ['method', variant], empty) };
        const { result } = await sendCall(ways.client, call);
        expect(result?.fields).toMatchObject([{ path: ['method', variant], rule: 'notEmpty' }]);
      }
      expect(ways.service.requests).toHaveLength(0);
    },
  );
});

test('A JSONObject accepts numbers that JavaScript represents exactly, and refuses others', () => {
  const text = '{a: 9007199254740991, b: -9007199254740991, c: 1.50, d: 1e3, e: 0.1, f: 0, g: 2.5e-7}';
  const read = { a: 2 ** 53 - 1, b: 1 - 2 ** 53, c: 1.5, d: 1000, e: 0.1, f: 0, g: 2.5e-7 };
  expect(JSONObject.parseLiteral(parseValue(text))).toEqual(read);
  expect(JSONObject.parseValue(read)).toEqual(read);
  for (const variable of ['{"a":9007199254740993}', '{"a":1e400}'])
    expect(() => JSONObject.parseValue(JSON.parse(variable))).toThrow(
      expect.objectContaining({ extensions: expect.objectContaining({ rule: 'exactNumber' }) as unknown }),
    );
});

test('Every rule in VALUE_RULES is tested with an invalid value', () => {
  try {
    Timestamp.parseValue('yesterday');
  } catch (error) {
    seen.add(String((error as GraphQLError).extensions['rule']));
  }
  // Tested in test/federation/subgraph.test.ts.
  seen.add('entityType');
  expect(VALUE_RULES.filter((rule) => !seen.has(rule))).toEqual([]);
});
