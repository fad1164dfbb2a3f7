import fc from 'fast-check';
import { GraphQLError, parse, validate, type DocumentNode } from 'graphql';
import { getVariableValues } from 'graphql/execution/values';
import { toPublicError } from '../../src/http/graphql-errors';
import { publicMessage, publicVariableMessage } from '../../src/http/public-message';
import { gatewaySchema } from '../../src/resolvers';
import { plantedJson, plantedLiteral } from './fixtures/planted';

const schema = gatewaySchema();

/** Operations with a hole for a value at every kind of place. */
const HOLES: readonly string[] = [
  '{ payment(channel: §) { __typename } }',
  '{ payment(channel: "a", externalId: §) { __typename } }',
  '{ payments(channel: "a", transactionIds: [§]) { __typename } }',
  '{ node(id: §) { id } }',
  '{ node(id: "a") @include(if: §) { id } }',
  '{ node(id: "a") { id } } query ($id: ID = §) { node(id: $id) { id } }',
  'mutation { createPayment(input: §) { __typename } }',
  'mutation { createPayment(input: { idempotencyKey: §, amount: §, method: § }) { __typename } }',
  'mutation { createPayment(input: { amount: { currency: §, value: § } }) { __typename } }',
  'mutation { createPayment(input: { method: { redirect: § } }) { __typename } }',
  'mutation { createPayment(input: { method: { card: { pan: §, cvc: §, expiryYear: § } } }) { __typename } }',
  'mutation { createPayment(input: { method: { other: { fields: § } }, returnUrl: § }) { __typename } }',
  'mutation { confirmPayment(input: { confirmation: { c2c: §, upi: § } }) { __typename } }',
  'mutation { createPayout(input: { method: { card: { pan: § }, typeOnly: § } }) { __typename } }',
  'query ($a: UUID! = §, $b: [CurrencyCode!] = [§]) { __typename }',
  '{ __typename } §',
  '§',
  '{ a: payment(channel: §) { __typename } a: payment(channel: "b") { __typename } }',
];

function errorsOf(text: string): readonly GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parse(text);
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
  return validate(schema, document);
}

test('no message about a document holds a value that was written in it', () => {
  let errors = 0;
  fc.assert(
    fc.property(fc.constantFrom(...HOLES), plantedLiteral, (hole, { mark, literal }) => {
      for (const { message } of errorsOf(hole.replaceAll('§', () => literal))) {
        errors += 1;
        expect(publicMessage(message) ?? '').not.toContain(mark);
      }
    }),
    { numRuns: 3000 },
  );
  expect(errors).toBeGreaterThan(1000);
});

test('no message holds a value from a document that was cut or spoilt anywhere', () => {
  const sign = fc.constantFrom(
    '',
    '"',
    '{',
    '}',
    '(',
    '$',
    '@',
    '...',
    '#',
    '\\',
    '"""',
    ':',
    '\u0000',
    '%',
    '0',
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...HOLES),
      // Spoilt quotes make names of values, and names may be shown: only digits are marks here.
      plantedLiteral.filter(({ mark }) => /^\d+$/.test(mark)),
      fc.record({ at: fc.nat(), cut: fc.nat(3), put: sign }),
      (hole, { mark, literal }, { at, cut, put }) => {
        const whole = hole.replaceAll('§', () => literal);
        const place = at % whole.length;
        for (const { message } of errorsOf(whole.slice(0, place) + put + whole.slice(place + cut))) {
          expect(publicMessage(message) ?? '').not.toContain(mark);
        }
      },
    ),
    { numRuns: 3000 },
  );
});

/** Variables of every type that callers can give. */
const TYPES = [
  'UUID!',
  'ID!',
  'String',
  'Int',
  'Boolean',
  'Decimal',
  'URL',
  'CardNumber!',
  '[UUID!]!',
  'JSONObject!',
];
const INPUTS = [
  'AmountInput!',
  'CreatePaymentInput!',
  'PaymentMethodInput!',
  'CardPaymentInput!',
  'ConfirmationInput',
];

const coercionErrors = (type: string, value: unknown): readonly GraphQLError[] => {
  const [operation] = parse(`query ($given: ${type}) { __typename }`).definitions;
  const definitions = operation?.kind === 'OperationDefinition' ? operation.variableDefinitions : undefined;
  return getVariableValues(schema, definitions ?? [], { given: value }).errors ?? [];
};

/** Inputs with a hole at every depth. */
const SHAPES: readonly ((hole: unknown) => unknown)[] = [
  (hole) => hole,
  (hole) => ({ amount: hole, idempotencyKey: hole, channel: hole }),
  (hole) => ({ amount: { currency: hole, value: hole } }),
  (hole) => ({ method: { redirect: hole, card: hole } }),
  (hole) => ({ method: { card: { pan: hole, cvc: hole, expiryMonth: hole } }, returnUrl: hole }),
  (hole) => ({ pan: hole, cvc: hole, cardholder: hole }),
  (hole) => ({ c2c: hole, upi: { utr: hole } }),
  (hole) => [
    hole,
    {
      [String(JSON.stringify(hole))
        .slice(0, 40)
        .replaceAll(/[QXZJ]/g, '_')]: hole,
    },
  ],
];

test('no message about a variable holds a value that was given', () => {
  let errors = 0;
  const types = fc.constantFrom(...TYPES, ...INPUTS);
  fc.assert(
    fc.property(types, plantedJson, fc.constantFrom(...SHAPES), (type, { mark, json }, shape) => {
      for (const error of coercionErrors(type, shape(json))) {
        errors += 1;
        const reason = error.originalError?.message ?? '';
        expect(publicVariableMessage(error.message, reason)).not.toContain(mark);
        const formatted = { message: error.message, extensions: { code: 'BAD_USER_INPUT' } };
        const shown = toPublicError(formatted, error, () => undefined);
        expect(JSON.stringify(shown)).not.toContain(mark);
      }
    }),
    { numRuns: 3000 },
  );
  expect(errors).toBeGreaterThan(1000);
});

test.each([
  ['CreatePaymentInput!', { amount: { currency: 'EUR', value: 1 } }, 'at "given.amount.value"'],
  ['PaymentMethodInput!', { redirect: 'CASH' }, 'at "given.redirect"'],
  ['[UUID!]!', ['7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10', 'x'], 'at "given[1]"'],
])('a message about a %s still says where the mistake is', (type, value, place) => {
  const messages = coercionErrors(type, value).map(({ message, originalError }) =>
    publicVariableMessage(message, originalError?.message ?? ''),
  );
  expect(messages.join('\n')).toContain(place);
});
