import fc, { type Arbitrary } from 'fast-check';
import {
  getNullableType,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  parse,
  type GraphQLInputType,
  type OperationDefinitionNode,
} from 'graphql';
import { variablesReader } from '../../src/http/prepared/variables';
import { gatewaySchema } from '../../src/resolvers';
import { CHANNEL } from '../support/gateway';

/** The variables of prepared operations, against what graphql-js makes of them. */

const schema = gatewaySchema();

/** Values as requests have them: mostly what fits somewhere, and anything else that JSON can hold. */
const ANY: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(CHANNEL, CHANNEL.toUpperCase(), '10.00', 'INR', 'a text', '', 7, 1.5, true, null),
  fc.constantFrom<unknown>([], {}, [[]], [null], { nosuch: 1 }, { '0': 'x' }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values that fit a scalar. */
const FITTING: Readonly<Record<string, unknown[]>> = {
  UUID: [CHANNEL, CHANNEL.toUpperCase()],
  CurrencyCode: ['INR', 'EUR'],
  Decimal: ['10.00', '0.01'],
  URL: ['https://shop.example/back'],
  CardNumber: ['4111111111111111'],
  CardSecurityCode: ['123'],
  JSONObject: [{}, { a: { b: [1] } }],
  Int: [7, 12, 2030],
  Boolean: [true, false],
};

/** Values of which most fit a type, and some do not at one place or another. */
function valuesOf(type: GraphQLInputType, depth = 0): Arbitrary<unknown> {
  const bare = getNullableType(type);
  const absent: Arbitrary<unknown> = fc.constant(isNonNullType(type) ? undefined : null);
  const fitting = (): Arbitrary<unknown> => {
    if (isListType(bare)) {
      const item = valuesOf(bare.ofType, depth);
      return fc.oneof({ weight: 4, arbitrary: fc.array(item, { maxLength: 3 }) }, item);
    }
    if (isEnumType(bare)) return fc.constantFrom(...bare.getValues().map(({ name }) => name));
    if (!isInputObjectType(bare)) return fc.constantFrom(...(FITTING[String(bare)] ?? ['a text']));
    const fields = Object.values(bare.getFields());
    const record = fc.record(
      Object.fromEntries(
        fields.map((field) => [field.name, depth > 3 ? ANY : valuesOf(field.type, depth + 1)]),
      ),
      { requiredKeys: fields.filter(({ type: of }) => isNonNullType(of)).map(({ name }) => name) },
    );
    if (!bare.isOneOf) return record;
    const one = fc
      .constantFrom(...fields)
      .chain((field) => valuesOf(field.type, depth + 1).map((value) => ({ [field.name]: value })));
    return fc.oneof({ weight: 8, arbitrary: one }, record);
  };
  return fc.oneof(
    { weight: 60, arbitrary: fitting() },
    { weight: 1, arbitrary: absent },
    { weight: 1, arbitrary: ANY },
  );
}

/** What a request can hold: JSON. */
const asSent = (variables: unknown): Record<string, unknown> =>
  JSON.parse(JSON.stringify(variables)) as Record<string, unknown>;

const INPUTS = ['CreatePaymentInput', 'CreatePayoutInput', 'ConfirmPaymentInput'];

test.each([
  ...INPUTS.map((name) => `query ($input: ${name}!) { __typename }`),
  ...INPUTS.map((name) => `query ($input: [${name}]) { __typename }`),
  'query ($input: [[UUID!]!], $other: PaymentMethodInput) { __typename }',
  `query ($input: UUID! = "${CHANNEL}", $other: Int = 3, $more: [String] = ["a"]) { __typename }`,
])('%s: the values that fit are the same, and those that do not are the same', (query) => {
  const [operation] = parse(query).definitions as [OperationDefinitionNode];
  const definitions = operation.variableDefinitions ?? [];
  const read = variablesReader(schema, operation);
  const named = schema.getTypeMap();
  const typeOf = (text: string): Arbitrary<unknown> => {
    const name = /\w+/.exec(text)?.[0] ?? '';
    const of = named[name];
    const arbitrary = of ? valuesOf(of as GraphQLInputType) : ANY;
    return text.includes('[') ? fc.oneof(fc.array(arbitrary, { maxLength: 2 }), arbitrary) : arbitrary;
  };
  const types = [...query.matchAll(/\$(\w+): ([[\]\w!]+)/g)];
  const given = fc.record(Object.fromEntries(types.map(([, name = '', text = '']) => [name, typeOf(text)])), {
    requiredKeys: [],
  });
  let fitting = 0;
  fc.assert(
    fc.property(given, (values) => {
      const sent = asSent(values);
      const { coerced, errors } = getVariableValues(schema, definitions, sent);
      const own = read(sent);
      if (errors) return expect(own).toBeNull();
      fitting += 1;
      expect(own).toEqual(coerced);
    }),
    { numRuns: 1500 },
  );
  expect(fitting).toBeGreaterThan(50);
});
