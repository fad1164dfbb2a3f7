import fc from 'fast-check';
import { GraphQLError, parse, validate, type DocumentNode } from 'graphql';
import { getVariableValues } from 'graphql/execution/values';
import { toPublicError } from '../../src/http/graphql/graphql-errors';
import { publicMessage, publicVariableMessage } from '../../src/redaction/graphql-message';
import { gatewaySchema } from '../../src/resolvers';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { plantedJson, plantedLiteral } from './fixtures/canaries';

/** Operations with a placeholder (§) for a literal, at every kind of place. */
const HOLES = [
  '{ payment(channel: §) { __typename } }',
  '{ payment(channel: "a", externalId: §) { __typename } }',
  '{ node(id: §) { id } }',
  '{ node(id: "a") @skip(if: §) { id } }',
  '{ node(id: "a") { id } } query ($id: ID = §) { node(id: $id) { id } }',
  'mutation { createPayment(input: §) { __typename } }',
  'mutation { createPayment(input: { idempotencyKey: §, amount: §, method: § }) { __typename } }',
  'mutation { createPayment(input: { method: { card: { pan: §, cvc: §, expiryYear: § } } }) { __typename } }',
  'mutation { createPayment(input: { method: { other: { fields: § } }, returnUrl: § }) { __typename } }',
  'mutation { confirmPayment(input: { confirmation: { c2c: §, upi: § } }) { __typename } }',
  'query ($a: UUID! = §, $b: [CurrencyCode!] = [§]) { __typename }',
  '{ __typename } §',
  '§',
];

test.each(['4111111111111111', 'pgk_0123456789abcdef0123', 'not a name'])(
  'A message of graphql-js is published without %s in its quotes',
  (secret) => {
    const message = `Cannot query field "${secret}" on type "Query".`;
    expect(publicMessage(message)).toContain('on type "Query"');
    expect(publicMessage(message)).not.toContain(secret);
  },
);

describe('A response of the gateway', () => {
  const CREATE = `mutation ($input: CreatePaymentInput!) {
    createPayment(input: $input) {
      __typename
      ... on UserError { message }
      ... on InvalidInputError { fields { path rule message } }
    }
  }`;

  const logLines: string[] = [];
  let client: TestClient;

  beforeAll(async () => {
    const sandbox = await testSandbox();
    client = await testGateway(sandbox.url, { logLines });
  });

  const given = { idempotencyKey: 'k', channel: CHANNEL, amount: { currency: 'EUR', value: '1.00' } };
  const card = { expiryMonth: '12', expiryYear: '2099', cardholder: 'A PAYER' };

  /** Valid inputs except for the placeholder. */
  const INPUTS: readonly ((hole: unknown) => unknown)[] = [
    (hole) => hole,
    (hole) => ({ ...given, method: { card: { ...card, pan: hole, cvc: hole } } }),
    (hole) => ({ ...given, method: { card: { ...card, pan: '4111111111111111', cvc: '123', phone: hole } } }),
    (hole) => ({ ...given, method: { other: { fields: { type: 'card', note: hole } } } }),
    (hole) => ({ ...given, method: { redirect: hole } }),
    (hole) => ({ ...given, amount: { currency: hole, value: hole }, method: { redirect: 'CARD' } }),
    (hole) => ({ ...given, method: { redirect: 'CARD' }, returnUrl: hole }),
  ];

  const planted: string[] = [];

  /** Expects a response without the mark. JSON may escape other characters of a value, but not those of its mark. */
  function expectNotEchoed(mark: string, response: string): void {
    planted.push(mark);
    expect(response).toMatch(/"errors"|"InvalidInputError"|"PaymentSuccess"/);
    expect(response).not.toContain(mark);
  }

  afterEach(() => {
    const log = logLines.splice(0);
    expect(log.length).toBeGreaterThan(planted.length / 2);
    expect(planted.splice(0).filter((mark) => log.some((line) => line.includes(mark)))).toEqual([]);
  });

  test('does not repeat an invalid variable, nor does the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...INPUTS), plantedJson, async (shape, { mark, json }) => {
        const { text } = await client.request(CREATE, { input: shape(json) });
        expectNotEchoed(mark, text);
      }),
      { numRuns: 60 },
    );
  });

  test('does not repeat an invalid literal, nor does the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...HOLES), plantedLiteral, async (hole, { mark, literal }) => {
        const { text } = await client.request(hole.replaceAll('§', () => literal));
        expectNotEchoed(mark, text);
      }),
      { numRuns: 150 },
    );
  });
});

describe('A public message', () => {
  const schema = gatewaySchema();

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

  test('does not repeat a literal of a malformed document', () => {
    const sign = fc.constantFrom('', '...', '"""', ...'"{}($@#\\:\u0000%0');
    fc.assert(
      fc.property(
        fc.constantFrom(...HOLES),
        // Without quotes a value is a name, which messages may show; therefore only marks of digits are used.
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
      { numRuns: 200 },
    );
  });

  /** Variables of every input type. */
  const TYPES = [
    ...['UUID!', 'ID!', 'Int', 'Boolean', 'Decimal', 'CardNumber!', '[UUID!]!', 'JSONObject!'],
    ...['AmountInput!', 'CreatePaymentInput!', 'PaymentMethodInput!', 'ConfirmationInput'],
  ];

  const coercionErrors = (type: string, value: unknown): readonly GraphQLError[] => {
    const [operation] = parse(`query ($given: ${type}) { __typename }`).definitions;
    const definitions = operation?.kind === 'OperationDefinition' ? operation.variableDefinitions : undefined;
    return getVariableValues(schema, definitions ?? [], { given: value }).errors ?? [];
  };

  /** Inputs with a placeholder at every depth. */
  const SHAPES: readonly ((hole: unknown) => unknown)[] = [
    (hole) => hole,
    (hole) => ({ amount: hole, idempotencyKey: hole, channel: hole }),
    (hole) => ({ method: { card: { pan: hole, cvc: hole, expiryMonth: hole } }, returnUrl: hole }),
    (hole) => ({ pan: hole, cvc: hole, cardholder: hole }),
    (hole) => ({ c2c: hole, upi: { utr: hole } }),
    (hole) => [
      hole,
      {
        [JSON.stringify(hole)
          .slice(0, 40)
          .replaceAll(/[QXZJ]/g, '_')]: hole,
      },
    ],
  ];

  test('does not repeat a variable', () => {
    let errors = 0;
    const types = fc.constantFrom(...TYPES);
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
      { numRuns: 200 },
    );
    expect(errors).toBeGreaterThan(60);
  });
});
