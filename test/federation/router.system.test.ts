import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { DOCUMENTS, validCall, type Json } from '../support/calls';
import { encodeNodeId } from '../../src/schema/node';
import { THEIRS, bearer, clientOf, keyOf } from '../auth/support/harness';
import { codesOf } from '../auth/support/responses';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { CHANNEL, closeAfterTests, testGateway } from '../support/gateway';
import { post, type RawResult } from '../support/raw';
import { ordersSubgraph, startRouter, type Order } from './support';

let service: FakePaymentService;
let orders: Order[];
let router: string;
const logLines: string[] = [];

beforeAll(async () => {
  service = closeAfterTests(await FakePaymentService.start());
  const env = {
    SUBGRAPH: 'on',
    INTROSPECTION: 'off',
    CLIENT_KEYS_FILE: clientKeysFile(clientOf('elsewhere', { channels: [THEIRS] })),
  };
  const payments = await testGateway(service.url, { env, logLines });
  router = await startRouter(payments.url, await ordersSubgraph(() => orders));
});

const ask = (
  query: string,
  variables: object = {},
  headers: Record<string, string> = AUTHORIZED,
): Promise<RawResult> => post(router, JSON.stringify({ query, variables }), headers);

function payment(method: Json = { type: 'card' }): string {
  const body = { channel: CHANNEL, external_id: 'x', amount: { currency: 'EUR', value: '10.00' } };
  const { transactionId } = service.ledger.create('payment', { ...body, payment_method: method }, Date.now());
  return encodeNodeId({ kind: 'payment', channel: CHANNEL, transactionId });
}

test('Orders of another subgraph show their payments, with one gateway operation and one lookup per payment', async () => {
  const [card, upi] = [payment(), payment({ type: 'upi', email: 'ann@example.com' })];
  orders = [card, upi, card, null, upi].map((paymentId, place) => ({ id: `${place}`, paymentId }));
  const [lines, lookups] = [logLines.length, service.requestsTo('look-up-payment').length];

  const { data, errors } = await ask(
    'query Orders { orders { id payment { status amount { currency value } ... on UpiPayment { upiLink } } } }',
  );

  expect(errors).toBeUndefined();
  const ofCard = { status: 'PENDING', amount: { currency: 'EUR', value: '10.00' } };
  const ofUpi = { ...ofCard, status: 'PROCESSING', upiLink: null };
  expect(data).toEqual({
    orders: [ofCard, ofUpi, ofCard, null, ofUpi].map((payment, place) => ({ id: `${place}`, payment })),
  });
  expect(
    logLines.slice(lines).filter((line) => line.includes('"msg":"GraphQL operation ended"')),
  ).toHaveLength(1);
  expect(service.requestsTo('look-up-payment').length - lookups).toBe(2);
});

test('A payment shows the field that another subgraph adds to it', async () => {
  const id = payment();
  orders = [{ id: 'order 8731', paymentId: id }];
  const { data, errors } = await ask(
    'query Q($id: ID!) { node(id: $id) { __typename ... on PaymentResource { status order { id } } } }',
    { id },
  );
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    node: { __typename: 'CardPayment', status: 'PENDING', order: { id: 'order 8731' } },
  });
});

test('Two creates through the router with one idempotency key create one payment, and can select a field of another subgraph', async () => {
  const { input } = validCall('createPayment', 'card');
  const create = DOCUMENTS.createPayment.replace('transactionId', 'id order { id } transactionId');
  const first = await ask(create, { input });
  const again = await ask(create, { input });
  expect(first.errors).toBeUndefined();
  expect(first.data).toMatchObject({
    createPayment: { __typename: 'PaymentSuccess', replayed: false, payment: { order: null } },
  });
  expect(again.data).toMatchObject({ createPayment: { __typename: 'PaymentSuccess', replayed: true } });
  expect(service.created(String(input['externalId']))).toHaveLength(1);
  expect(first.text + logLines.join('')).not.toContain('4111111111111111');
});

test('A payment whose lookup fails is null with an error code, and other payments are returned', async () => {
  const [good, bad] = [payment(), payment()];
  orders = [good, bad].map((paymentId) => ({ id: paymentId, paymentId }));
  const failing = service.ledger.entries.at(-1)?.transactionId ?? '';
  service.plan((_purpose, { parameters }) =>
    parameters.get('transaction_id') === failing
      ? { acts: false, reply: (connection) => connection.send({ status: 403, json: {} }) }
      : undefined,
  );
  const response = await ask('{ orders { payment { status } } }');
  service.plan(() => undefined);
  expect(response.data).toEqual({ orders: [{ payment: { status: 'PENDING' } }, { payment: null }] });
  expect(response.errors).toMatchObject([
    { extensions: { code: 'SERVICE_AUTH_FAILED', retryable: false, requestId: expect.any(String) } },
  ]);
});

test('The Authorization header that the router forwards determines the caller', async () => {
  orders = [{ id: '1', paymentId: payment() }];
  const lookups = service.requestsTo('look-up-payment').length;
  const question = '{ orders { payment { status } } }';

  expect(codesOf(await ask(question, {}, { authorization: '' }))).toEqual(['UNAUTHENTICATED']);
  expect(codesOf(await ask(question, {}, bearer(keyOf('elsewhere'))))).toEqual(['FORBIDDEN']);
  expect(service.requestsTo('look-up-payment')).toHaveLength(lookups);
  expect(codesOf(await ask(question))).toEqual([]);
});
