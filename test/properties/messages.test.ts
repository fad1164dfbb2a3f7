import fc from 'fast-check';
import { redactGraphqlMessage } from '../../src/redaction/graphql-message';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { plantedJson, plantedLiteral } from './fixtures/canaries';

test.each(['4111111111111111', 'pgk_0123456789abcdef0123', 'not a name'])(
  'An error message of graphql-js is published without the value that it quotes: "%s"',
  (secret) => {
    const message = `Cannot query field "${secret}" on type "Query".`;
    expect(redactGraphqlMessage(message)).toContain('on type "Query"');
    expect(redactGraphqlMessage(message)).not.toContain(secret);
  },
);

describe('A response of the gateway', () => {
  const logLines: string[] = [];
  let client: TestClient;

  beforeAll(async () => {
    const sandbox = await testSandbox();
    client = await testGateway(sandbox.url, { logLines });
  });

  const planted: string[] = [];
  let rejected = 0;

  /** Expects a response without the mark. JSON may escape other characters of a value, but not those of its mark. */
  async function expectNotEchoed(mark: string, query: string, variables?: object): Promise<void> {
    planted.push(mark);
    const { text } = await client.request(query, variables);
    expect(text).not.toContain(mark);
    if (/"(code|rule)":/.test(text)) rejected += 1;
  }

  afterEach(() => {
    const log = logLines.splice(0);
    expect(Math.min(rejected, log.length)).toBeGreaterThan(planted.length / 2);
    expect(planted.splice(0).filter((mark) => log.some((line) => line.includes(mark)))).toEqual([]);
    rejected = 0;
  });

  const CREATE = `mutation ($given: CreatePaymentInput!) {
    createPayment(input: $given) { ... on InvalidInputError { message fields { path rule message } } } }`;
  /** Operations with a variable of every input type. */
  const OPERATIONS = [
    CREATE,
    'query ($given: UUID!) { payment(channel: $given, externalId: "a") { __typename } }',
    'query ($given: ID!) { node(id: $given) { id } }',
    `query ($given: Int) { changes(channel: "${CHANNEL}", first: $given) { endCursor } }`,
    'query ($given: Boolean!) { __typename @skip(if: $given) }',
    `query ($given: [UUID!]!) { payments(channel: "${CHANNEL}", transactionIds: $given) { __typename } }`,
    ...Object.entries({
      'Decimal!': 'amount: { value: $given }',
      'AmountInput!': 'amount: $given',
      'PaymentMethodInput!': 'method: $given',
      'CardNumber!': 'method: { card: { pan: $given } }',
      'JSONObject!': 'method: { other: { fields: $given } }',
    }).map(([type, field]) =>
      CREATE.replace('CreatePaymentInput!', type).replace('$given)', `{ ${field} })`),
    ),
    'mutation ($given: ConfirmationInput!) { confirmPayment(input: { confirmation: $given }) { __typename } }',
  ];

  const given = { idempotencyKey: 'k', channel: CHANNEL, amount: { currency: 'EUR', value: '1.00' } };
  const card = { expiryMonth: '12', expiryYear: '2099', cardholder: 'A PAYER' };

  /** Inputs that are valid for some type, except for the placeholder. */
  const SHAPES: readonly ((hole: unknown) => unknown)[] = [
    (hole) => hole,
    (hole) => [
      hole,
      {
        [JSON.stringify(hole)
          .slice(0, 40)
          .replaceAll(/[QXZJ]/g, '_')]: hole,
      },
    ],
    (hole) => ({ ...given, amount: { currency: hole, value: hole }, method: { redirect: 'CARD' } }),
    (hole) => ({ ...given, method: { card: { ...card, pan: hole, cvc: hole } } }),
    (hole) => ({ ...given, method: { card: { ...card, pan: '4111111111111111', cvc: '123', phone: hole } } }),
    (hole) => ({ ...given, method: { other: { fields: { type: 'card', note: hole } } } }),
    (hole) => ({ ...given, method: { redirect: hole } }),
    (hole) => ({ ...given, method: { redirect: 'CARD' }, returnUrl: hole }),
    (hole) => ({ pan: hole, cvc: hole, cardholder: hole }),
    (hole) => ({ c2c: hole, upi: { utr: hole } }),
  ];

  test('does not repeat the value of an invalid variable, nor does the log', async () => {
    const operations = fc.oneof(fc.constant(CREATE), fc.constantFrom(...OPERATIONS));
    await fc.assert(
      fc.asyncProperty(operations, fc.constantFrom(...SHAPES), plantedJson, (query, shape, { mark, json }) =>
        expectNotEchoed(mark, query, { given: shape(json) }),
      ),
      { numRuns: 250 },
    );
  });

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

  test('does not repeat an invalid literal, nor does the log', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...HOLES), plantedLiteral, (hole, { mark, literal }) =>
        expectNotEchoed(
          mark,
          hole.replaceAll('§', () => literal),
        ),
      ),
      { numRuns: 150 },
    );
  });

  test('does not repeat a literal of a malformed document, nor does the log', async () => {
    const put = fc.constantFrom('', '...', '"""', ...'"{}($@#\\:\u0000%0');
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...HOLES),
        // Without quotes a value is a name, which messages may show; therefore only marks of digits are used.
        plantedLiteral.filter(({ mark }) => /^\d+$/.test(mark)),
        fc.record({ at: fc.nat(), cut: fc.nat(3), put }),
        (hole, { mark, literal }, { at, cut, put }) => {
          const whole = hole.replaceAll('§', () => literal);
          const place = at % whole.length;
          return expectNotEchoed(mark, whole.slice(0, place) + put + whole.slice(place + cut));
        },
      ),
      { numRuns: 200 },
    );
  });
});
