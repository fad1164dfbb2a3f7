import type { GraphQLError } from 'graphql';
import { Timestamp } from '../../src/schema/scalars';
import { VALUE_RULES } from '../../src/schema/value-rules';
import { EventStream } from '../live/support/event-stream';
import { WireClient, toldIn, type Told } from '../live/support/wire-client';
import { asNew, BothWays } from '../prepared/support/both-ways';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { DOCUMENTS, TRANSACTION_ID, validCall, withValue, type Json } from './fixtures/calls';

/** What a value that does not fit is answered with: `extensions.fields`, the same however it came. */

type Fields = { path: string[]; rule: string }[];

interface Row {
  query: string;
  variables?: object;
  /** Variables that fit, which prepare the operation; the same document is refused before when there are none. */
  fitting?: object;
  fields: Fields;
}

const field = (path: string, rule: string): Fields[number] => ({ path: path.split('.'), rule });

const create = (arm: string, path: string, [value, rule]: [unknown, string]): [string, Row] => {
  const { input } = validCall('createPayment', arm);
  return [
    `${path} = ${JSON.stringify(value) ?? 'missing'}`,
    {
      query: DOCUMENTS.createPayment,
      variables: { input: withValue(input, path.split('.'), value) },
      fitting: { input: validCall('createPayment', arm).input },
      fields: [field(path, rule)],
    },
  ];
};

const AMOUNTS: [unknown, string][] = [
  ['0.00', 'positive'],
  ['0', 'positive'],
  ['-1.00', 'positive'],
  ['10,00', 'decimal'],
  ['1e3', 'decimal'],
  ['1 000', 'decimal'],
  ['1234567890123456', 'decimal'],
  ['', 'decimal'],
  [10.5, 'decimal'],
  ['10.001', 'decimalPlaces'],
  [null, 'required'],
  [undefined, 'required'],
];

const INPUTS: [string, Row][] = [
  ...AMOUNTS.map((amount) => create('upi', 'amount.value', amount)),
  create('upi', 'amount.currency', ['eur', 'currencyCode']),
  create('upi', 'amount', ['10.00', 'object']),
  create('upi', 'channel', ['no-uuid', 'uuid']),
  create('upi', 'returnUrl', ['javascript:alert(1)', 'url']),
  create('upi', 'idempotencyKey', [{ key: 1 }, 'id']),
  create('upi', 'externalId', [12, 'string']),
  create('upi', 'nosuch', ['x', 'unknownField']),
  create('upi', 'method', [{}, 'oneOf']),
  create('upi', 'method.redirect', ['CARD', 'oneOf']),
  create('upi', 'method.upi', [null, 'required']),
  create('card', 'method.card.pan', [4111111111111111, 'string']),
  create('card', 'method.card.cvc', [undefined, 'required']),
  create('other', 'method.other.fields', [['listed'], 'jsonObject']),
  create('other', 'method.other.fields', [{ account: 2 ** 53 }, 'exactNumber']),
].map(([title, row]): [string, Row] =>
  // With two arms none of them is the wrong one.
  title.startsWith('method.redirect')
    ? [title, { ...row, fields: [field('method', 'oneOf')] }]
    : [title, row],
);

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
const DEFAULTED = `query Q($c: UUID = "${CHANNEL}", $t: UUID = "${TRANSACTION_ID}") { payments(channel: $c, transactionIds: [$t]) { __typename } }`;

const CALLS: [string, Row][] = [
  [
    'an argument',
    { query: MANY, variables: { ...MANY_FIT, c: 1 }, fitting: MANY_FIT, fields: [field('channel', 'uuid')] },
  ],
  [
    'items of a list',
    {
      query: MANY,
      variables: { ...MANY_FIT, ids: ['x', TRANSACTION_ID, null] },
      fitting: MANY_FIT,
      fields: [field('transactionIds.0', 'uuid'), field('transactionIds.2', 'required')],
    },
  ],
  [
    'a variable that is missing',
    {
      query: MANY,
      variables: { ids: [], shown: true },
      fitting: MANY_FIT,
      fields: [field('channel', 'required')],
    },
  ],
  [
    'a variable that is null',
    {
      query: MANY,
      variables: { ...MANY_FIT, ids: null },
      fitting: MANY_FIT,
      fields: [field('transactionIds', 'required')],
    },
  ],
  [
    'the argument of a directive',
    {
      query: MANY,
      variables: { ...MANY_FIT, shown: 'yes' },
      fitting: MANY_FIT,
      fields: [field('if', 'boolean')],
    },
  ],
  [
    'too many items',
    {
      query: MANY,
      variables: { ...MANY_FIT, ids: Array.from({ length: 101 }, () => TRANSACTION_ID) },
      fitting: MANY_FIT,
      fields: [field('transactionIds', 'maxItems')],
    },
  ],
  [
    'several variables',
    {
      query: LIST,
      variables: { c: 'x', n: 1.5, o: 'NOSUCH', a: 1 },
      fitting: { c: CHANNEL },
      fields: [
        field('channel', 'uuid'),
        field('first', 'int'),
        field('outcome', 'enum'),
        field('after', 'string'),
      ],
    },
  ],
  [
    'a page that is too large',
    {
      query: LIST,
      variables: { c: CHANNEL, n: 101 },
      fitting: { c: CHANNEL },
      fields: [field('first', 'range')],
    },
  ],
  [
    'a cursor of somebody else',
    {
      query: LIST,
      variables: { c: CHANNEL, a: 'x' },
      fitting: { c: CHANNEL },
      fields: [field('after', 'cursor')],
    },
  ],
  [
    'a lookup without an id',
    {
      query: LOOKUP,
      variables: { c: CHANNEL },
      fitting: LOOKUP_FITS,
      fields: [field('transactionId', 'atLeastOne'), field('externalId', 'atLeastOne')],
    },
  ],
  [
    'an empty external id',
    {
      query: LOOKUP,
      variables: { c: CHANNEL, e: '' },
      fitting: LOOKUP_FITS,
      fields: [field('externalId', 'notBlank')],
    },
  ],
  [
    'a card number as an external id',
    {
      query: LOOKUP,
      variables: { c: CHANNEL, e: '4111111111111111' },
      fitting: LOOKUP_FITS,
      fields: [field('externalId', 'noCardNumber')],
    },
  ],
  [
    'an id that no gateway made',
    {
      query: 'query Q($id: ID!) { node(id: $id) { id } }',
      variables: { id: 'x' },
      fields: [field('id', 'nodeId')],
    },
  ],
  [
    'no input at all',
    { query: DOCUMENTS.createPayment, variables: {}, fields: [field('input', 'required')] },
  ],
  [
    'several fields of an input',
    {
      query: DOCUMENTS.createPayment,
      variables: {
        input: withValue(
          withValue(validCall('createPayment', 'card').input, ['amount', 'value'], '1,50'),
          ['method', 'card', 'cvc'],
          737,
        ),
      },
      fields: [field('amount.value', 'decimal'), field('method.card.cvc', 'string')],
    },
  ],
  [
    'a variable within an input',
    { query: INLINE, variables: { value: '10,00' }, fields: [field('amount.value', 'decimal')] },
  ],
  [
    'null in the place of a default',
    { query: DEFAULTED, variables: { c: null }, fitting: {}, fields: [field('channel', 'required')] },
  ],
  [
    'null in the place of a default in a list',
    { query: DEFAULTED, variables: { t: null }, fitting: {}, fields: [field('transactionIds', 'required')] },
  ],
];

const literal = (argument: string, ...fields: Fields): [string, Row] => [
  argument,
  { query: `mutation { createPayment(input: { idempotencyKey: "k", ${argument} }) { __typename } }`, fields },
];
const FIT = `channel: "${CHANNEL}", method: { redirect: CARD }, amount:`;
const PAYS = `channel: "${CHANNEL}", amount: { currency: "EUR", value: "1" }, method:`;

const LITERALS: [string, Row][] = [
  literal(`${FIT} { currency: "EUR", value: "10,00" }`, field('amount.value', 'decimal')),
  literal(`${FIT} { currency: "EUR", value: 10.00 }`, field('amount.value', 'decimal')),
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
  literal(`${PAYS} { redirect: CARD, upi: { phone: "+919876543210" } }`, field('method', 'oneOf')),
  literal(`${PAYS} { upi: null }`, field('method.upi', 'required')),
  literal(
    `${PAYS} { card: { pan: "4111111111111111", expiryMonth: "12", expiryYear: "2099", cvc: "737", cardholder: "A" } }`,
    field('method.card.pan', 'variableOnly'),
    field('method.card.cvc', 'variableOnly'),
  ),
  literal(
    `${PAYS} { other: { fields: { list: [1, 9007199254740993] } } }`,
    field('method.other.fields.list.1', 'exactNumber'),
  ),
  literal(`${PAYS} { other: { fields: "x" } }`, field('method.other.fields', 'jsonObject')),
  literal(`externalId: 5, ${PAYS} { redirect: CARD }`, field('externalId', 'string')),
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

const PAN = '4111111111111111';

describe('A value that does not fit', () => {
  let ways: BothWays;
  beforeAll(async () => {
    ways = await BothWays.start();
  });

  const expectFields = (body: string, fields: Fields, code: string): void => {
    const { errors } = JSON.parse(body) as Answer;
    expect(fieldsIn(errors)).toEqual(fields);
    errors.forEach(({ extensions }) => expect(extensions['code']).toBe(code));
    expect(body).not.toContain(PAN);
    remember(fields);
  };

  test.each([...INPUTS, ...CALLS])('is named with path and rule by both query paths: %s', async (_, row) => {
    const { query, variables, fitting, fields } = row;
    const byApollo = await ways.ask({ body: { query: asNew(query), variables } });
    if (fitting) await ways.prepare({ query, variables: fitting });
    const afterwards = await ways.ask({ body: { query, variables } });
    for (const { told } of [byApollo, afterwards]) expectFields(told.body, fields, 'BAD_USER_INPUT');
    expect(afterwards.told.body).toBe(byApollo.told.body);
  });

  test.each([...LITERALS, ...ABSENT])(
    'is named with path and rule in the document itself: %s',
    async (_, row) => {
      const { told } = await ways.ask({ body: { query: row.query } });
      expectFields(told.body, row.fields, 'GRAPHQL_VALIDATION_FAILED');
    },
  );

  test('has no field where an error is not about a value', async () => {
    const { told } = await ways.ask({ body: { query: '{ nosuch }' } });
    expect((JSON.parse(told.body) as Answer).errors[0]?.extensions).not.toHaveProperty('fields');
  });

  test.each([PAN, '737', 'a b'])(
    'is not repeated when it is a name that may be a secret: %s',
    async (name) => {
      const variables = { input: { ...validCall('createPayment', 'upi').input, [name]: 1 } as Json };
      const { told } = await ways.ask({ body: { query: DOCUMENTS.createPayment, variables } });
      expectFields(told.body, [field('[hidden]', 'unknownField')], 'BAD_USER_INPUT');
    },
  );

  const WATCH =
    'subscription S($c: UUID!, $t: UUID!, $b: Boolean!) { paymentUpdated(channel: $c, transactionId: $t) { ... on Node { id @include(if: $b) } } }';
  const WATCHED: [string, Row][] = [
    [
      'wrong',
      {
        query: WATCH,
        variables: { c: 'x', t: 5, b: 'x' },
        fields: [field('channel', 'uuid'), field('transactionId', 'uuid'), field('if', 'boolean')],
      },
    ],
    [
      'null or missing',
      {
        query: WATCH,
        variables: { c: null, b: true },
        fields: [field('channel', 'required'), field('transactionId', 'required')],
      },
    ],
    [
      'an inline UUID',
      {
        query: `subscription { paymentUpdated(channel: "x", transactionId: "${TRANSACTION_ID}") { __typename } }`,
        fields: [field('channel', 'uuid')],
      },
    ],
    [
      'null in the place of a default',
      {
        query: `subscription S($c: UUID = "${CHANNEL}") { paymentUpdated(channel: $c, transactionId: "${TRANSACTION_ID}") { __typename } }`,
        variables: { c: null },
        fields: [field('channel', 'required')],
      },
    ],
  ];

  test.each(WATCHED)('is named alike over WebSocket and in an event: %s', async (_, row) => {
    const { query, variables = {}, fields } = row;
    const client = await WireClient.ready(ways.client.url, AUTHORIZED);
    client.subscribe('1', { query, variables });
    expect(fieldsIn(toldIn(await client.next()))).toEqual(fields);
    const stream = await EventStream.open(`${ways.client.url}/stream`, { query, variables });
    const event = await stream.next();
    if (event.event !== 'next') throw new Error(stream.text);
    expect(fieldsIn(event.data.errors as unknown as Told[])).toEqual(fields);
  });
});

test('every rule is one that a value was found to break', () => {
  try {
    Timestamp.parseValue('yesterday');
  } catch (error) {
    seen.add(String((error as GraphQLError).extensions['rule']));
  }
  // test/federation/subgraph.test.ts
  seen.add('entityType');
  expect(VALUE_RULES.filter((rule) => !seen.has(rule))).toEqual([]);
});
