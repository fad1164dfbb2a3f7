import fc from 'fast-check';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { plantedJson, plantedLiteral } from './fixtures/planted';

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

const input = { idempotencyKey: 'k', channel: CHANNEL, amount: { currency: 'EUR', value: '1.00' } };
const card = { expiryMonth: '12', expiryYear: '2099', cardholder: 'A PAYER' };

/** Inputs that are right but for the places where the planted value stands. */
const INPUTS: readonly ((hole: unknown) => unknown)[] = [
  (hole) => hole,
  (hole) => ({ ...input, method: { card: { ...card, pan: hole, cvc: hole } } }),
  (hole) => ({ ...input, method: { card: { ...card, pan: '4111111111111111', cvc: '123', phone: hole } } }),
  (hole) => ({ ...input, method: { c2c: { cardMask: hole } } }),
  (hole) => ({ ...input, method: { other: { fields: { type: 'card', note: hole } } } }),
  (hole) => ({ ...input, method: { redirect: hole } }),
  (hole) => ({ ...input, amount: { currency: hole, value: hole }, method: { redirect: 'CARD' } }),
  (hole) => ({ ...input, method: { redirect: 'CARD' }, returnUrl: hole }),
];

const planted: string[] = [];

/** JSON may have escaped a value, but never its mark. */
function expectNotEchoed(mark: string, answer: string): void {
  planted.push(mark);
  expect(answer).toMatch(/"errors"|"InvalidInputError"|"PaymentSuccess"/);
  expect(answer).not.toContain(mark);
}

afterEach(() => {
  const log = logLines.splice(0);
  expect(log.length).toBeGreaterThan(planted.length / 2);
  expect(planted.splice(0).filter((mark) => log.some((line) => line.includes(mark)))).toEqual([]);
});

test('no wrong value of a variable comes back in an answer or stands in the log', async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...INPUTS), plantedJson, async (shape, { mark, json }) => {
      const { text } = await client.ask(CREATE, { input: shape(json) });
      expectNotEchoed(mark, text);
    }),
    { numRuns: 150 },
  );
});

test('no wrong value in a document comes back in an answer or stands in the log', async () => {
  const documents = fc.constantFrom(
    '{ payment(channel: §) { __typename } }',
    '{ node(id: "a") @skip(if: §) { id } }',
    'mutation { createPayment(input: { method: { card: { pan: § } } }) { __typename } }',
    'mutation { createPayment(input: { amount: { value: § }, method: { redirect: § } }) { __typename } }',
    '{ __typename } §',
  );
  await fc.assert(
    fc.asyncProperty(documents, plantedLiteral, async (document, { mark, literal }) => {
      const { text } = await client.ask(document.replaceAll('§', () => literal));
      expectNotEchoed(mark, text);
    }),
    { numRuns: 150 },
  );
});
