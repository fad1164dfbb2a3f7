import { randomUUID } from 'node:crypto';
import * as kit from '@paygraph/client';
import {
  AttemptDocument,
  AttemptsDocument,
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  CreatePayoutDocument,
  PaymentByExternalIdDocument,
  PaymentDocument,
  PaymentsDocument,
  PayoutByExternalIdDocument,
  PayoutDocument,
  PayoutsDocument,
  WatchPaymentDocument,
  WatchPayoutDocument,
  possibleTypes,
  type CreatePaymentInput,
  type CreatePayoutInput,
  type PaymentFieldsFragment,
  type PayoutFieldsFragment,
} from '@paygraph/client';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { isUnionType, Kind, print, validate, type DocumentNode } from 'graphql';
import { createClient } from 'graphql-sse';
import committed from '../../possible-types.json';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { CLIENTS, type AnyClient } from '../clients/clients';
import { paymentInput, payoutInput, upiInput } from '../clients/samples';
import { until } from '../exactly-once/support/gate';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';

const DOCUMENTS = Object.values(kit).filter((value): value is DocumentNode & typeof value => 'kind' in value);
const operationsIn = (document: DocumentNode) =>
  document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
const OPERATIONS = DOCUMENTS.filter((document) => operationsIn(document).length > 0);

/** The operations that the tests of this file have sent. */
const sent = new Set<DocumentNode>();

let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  sandbox = await testSandbox();
  ({ url } = await testGateway(sandbox.url, { env: { SERVICE_TIMEOUT_MS: '120000' } }));
});

test('every document of the kit fits the schema, and says nothing twice', () => {
  const schema = gatewaySchema();
  const faults = OPERATIONS.flatMap((document) => validate(schema, document));
  expect(faults).toEqual([]);
  const names = DOCUMENTS.map(({ definitions }) =>
    definitions.map((node) => ('name' in node ? node.name?.value : '')),
  );
  expect(names.map((all) => new Set(all).size)).toEqual(names.map(({ length }) => length));
});

test('it has the possible types and thirteen operations', () => {
  expect(possibleTypes).toEqual(committed.possibleTypes);
  expect(OPERATIONS).toHaveLength(13);
});

/** Sends typed documents with a client that applications use; what is wrong with an answer is thrown. */
function sender(client: AnyClient) {
  const fail = (errors: readonly unknown[]): never => {
    throw new Error(JSON.stringify(errors));
  };
  return {
    async query<D, V extends Record<string, unknown>>(document: TypedDocumentNode<D, V>, variables: V) {
      sent.add(document);
      const { data, errors } = await client.query(document, variables);
      return data ?? fail(errors);
    },
    async mutate<D, V extends Record<string, unknown>>(document: TypedDocumentNode<D, V>, variables: V) {
      sent.add(document);
      const { data, errors } = await client.mutate(document, variables);
      return data ?? fail(errors);
    },
  };
}

describe.each(CLIENTS)('With %s', (_name, clientAt) => {
  const at = () => sender(clientAt(url));

  async function pay(input: CreatePaymentInput): Promise<PaymentFieldsFragment> {
    const { createPayment } = await at().mutate(CreatePaymentDocument, { input });
    if (createPayment.__typename !== 'PaymentSuccess') throw new Error(createPayment.message);
    return createPayment.payment;
  }

  async function payOut(input: CreatePayoutInput): Promise<PayoutFieldsFragment> {
    const { createPayout } = await at().mutate(CreatePayoutDocument, { input });
    if (createPayout.__typename !== 'PayoutSuccess') throw new Error(createPayout.message);
    return createPayout.payout;
  }

  test('a payment is created, found by both its ids, confirmed, and its attempt told', async () => {
    const input = { ...upiInput(), externalId: `order ${randomUUID()}` };
    const { transactionId, nextAction } = await pay(input);
    expect(nextAction).toMatchObject({ __typename: 'ProvideUtrAction', confirmWith: 'upi' });
    const where = { channel: CHANNEL, transactionId };
    const found = await at().query(PaymentDocument, where);
    const { payment: byOrder } = await at().query(PaymentByExternalIdDocument, {
      channel: CHANNEL,
      externalId: input.externalId,
    });
    expect(byOrder).toEqual({ ...found.payment, externalId: input.externalId });
    const confirmation = { upi: { utr: '412345678901' } };
    const { confirmPayment } = await at().mutate(ConfirmPaymentDocument, {
      input: { ...where, confirmation },
    });
    expect(confirmPayment).toMatchObject({ __typename: 'PaymentSuccess', payment: { status: 'COMPLETED' } });
    const { payments } = await at().query(PaymentsDocument, {
      channel: CHANNEL,
      transactionIds: [transactionId, randomUUID()],
    });
    expect(payments).toMatchObject([{ __typename: 'UpiPayment', status: 'COMPLETED' }, null]);
    const { idempotencyKey } = input;
    const { attempt } = await at().query(AttemptDocument, { idempotencyKey });
    expect(attempt).toMatchObject({ outcome: 'SUCCEEDED', payment: { transactionId }, payout: null });
    const { attempts } = await at().query(AttemptsDocument, { channel: CHANNEL, first: 1 });
    expect(attempts.edges).toMatchObject([{ node: { idempotencyKey } }]);
  });

  test('a payout is created, and found by both its ids', async () => {
    const input = payoutInput();
    const { transactionId, externalId } = await payOut(input);
    expect(externalId).toBe(input.externalId);
    const { payout } = await at().query(PayoutDocument, { channel: CHANNEL, transactionId });
    const byOrder = await at().query(PayoutByExternalIdDocument, {
      channel: CHANNEL,
      externalId: input.externalId,
    });
    expect(payout).toMatchObject({ __typename: 'BankTransferPayout', amount: { value: '25.00' } });
    expect(byOrder.payout).toMatchObject({ transactionId });
    const { payouts } = await at().query(PayoutsDocument, {
      channel: CHANNEL,
      transactionIds: [transactionId],
    });
    expect(payouts).toMatchObject([{ transactionId }]);
  });
});

describe('Each member', () => {
  const overApollo = () => sender(CLIENTS[0]![1](url));
  const create = async (input: CreatePaymentInput) =>
    (await overApollo().mutate(CreatePaymentDocument, { input })).createPayment;

  const ACTIONS: [action: string, currency: string, method: CreatePaymentInput['method'], has: object][] = [
    ['RedirectAction', 'EUR', { redirect: 'CARD' }, { url: expect.stringContaining('/pay/') }],
    [
      'ProvideUtrAction',
      'INR',
      { upi: { phone: '+919876543210' } },
      { upiLink: expect.stringContaining('upi://') },
    ],
    [
      'ProvideCodeAction',
      'BDT',
      { bkash: { firstName: 'A', surname: 'P', phone: '+8801712345678', email: 'a@example.com' } },
      { account: expect.any(String), confirmWith: 'bkash' },
    ],
    [
      'ConfirmTransferAction',
      'KZT',
      { c2c: { firstName: 'A' } },
      { cardNumber: expect.any(String), confirmWith: 'c2c' },
    ],
    [
      'PayVirtualAccountAction',
      'IDR',
      { virtualAccount: { bankCode: 'bca', accountNumber: '1234567890' } },
      { virtualAccount: expect.any(String) },
    ],
    ['ScanQrCodeAction', 'IDR', { redirect: 'QRIS' }, { qrCodeImage: expect.stringMatching(/^data:image/) }],
  ];

  test('of the next actions is covered by a fragment', async () => {
    for (const [__typename, currency, method, fields] of ACTIONS) {
      const result = await create(paymentInput({ amount: { currency, value: '500.00' }, method }));
      expect(result).toMatchObject({ payment: { nextAction: { __typename, ...fields } } });
    }
    const waiting = await create(upiInput());
    if (waiting.__typename !== 'PaymentSuccess') throw new Error(waiting.message);
    const { channel, transactionId } = waiting.payment;
    // The sandbox lets a confirm with this UTR wait for the provider.
    const input = { channel, transactionId, confirmation: { upi: { utr: '111111' } } };
    const { confirmPayment } = await overApollo().mutate(ConfirmPaymentDocument, { input });
    const awaited = 'AwaitProviderAction';
    expect(confirmPayment).toMatchObject({
      payment: { nextAction: { __typename: awaited, pollAfterMs: expect.any(Number) } },
    });
    expect([...ACTIONS.map(([name]) => name), awaited].sort()).toEqual(possibleTypes['NextAction']);
  });

  test('of the failures is covered by a fragment', async () => {
    const wrong = await create(
      paymentInput({ amount: { currency: 'USD', value: '1.00' }, method: { redirect: 'QRIS' } }),
    );
    expect(wrong).toMatchObject({
      __typename: 'InvalidInputError',
      fields: [{ path: ['amount', 'currency'] }],
    });

    sandbox.control.inject({ operation: 'create', fault: 'status', status: 422, times: 1 });
    const refused = await create(paymentInput());
    expect(refused).toMatchObject({ __typename: 'RejectedByServiceError', httpStatus: 422 });

    const input = paymentInput();
    await create(input);
    const conflict = await create({ ...input, description: 'another' });
    expect(conflict).toMatchObject({ __typename: 'IdempotencyConflictError', code: 'IDEMPOTENCY_CONFLICT' });

    const slow = paymentInput();
    sandbox.control.inject({ operation: 'create', fault: 'delay', ms: 3_600_000, times: 1 });
    const arrived = sandbox.control.counts().payment.creates;
    const first = create(slow);
    await until(
      () => sandbox.control.counts().payment.creates,
      (count) => count > arrived,
    );
    const meanwhile = await create(slow);
    expect(meanwhile).toMatchObject({
      __typename: 'RequestInProgressError',
      retryAfterMs: expect.any(Number),
    });
    sandbox.control.advance(3_600_000);
    expect(await first).toMatchObject({ __typename: 'PaymentSuccess', replayed: false });

    const lost = paymentInput({ externalId: 'order 9' });
    sandbox.control.inject({ operation: 'create', fault: 'cut_before', times: 1 });
    expect(await create(lost)).toMatchObject({
      __typename: 'OutcomeUnknownError',
      idempotencyKey: lost.idempotencyKey,
      externalId: 'order 9',
    });
  });

  test('of the results is known to these tests', () => {
    const results = Object.values(gatewaySchema().getTypeMap()).filter(
      (type) => isUnionType(type) && type.name.endsWith('Result'),
    );
    const members = new Set(results.flatMap(({ name }) => possibleTypes[name]));
    expect([...members].filter((name) => name?.endsWith('Error'))).toHaveLength(5);
  });
});

test('payments and payouts are watched', async () => {
  const apollo = sender(CLIENTS[0]![1](url));
  const stream = createClient({ url: `${url}/stream`, headers: AUTHORIZED });
  /** The last state that is told of it; it is settled after the first. */
  const watched = async (document: DocumentNode, transactionId: string, look: () => Promise<unknown>) => {
    sent.add(document);
    const variables = { channel: CHANNEL, transactionId };
    const seen: unknown[] = [];
    for await (const { data, errors } of stream.iterate({ query: print(document), variables })) {
      if (seen.push(data ?? errors) > 1) continue;
      sandbox.control.settle(transactionId);
      await look();
    }
    return seen.at(-1);
  };
  const { createPayment } = await apollo.mutate(CreatePaymentDocument, { input: paymentInput() });
  const { createPayout } = await apollo.mutate(CreatePayoutDocument, { input: payoutInput() });
  if (createPayment.__typename !== 'PaymentSuccess' || createPayout.__typename !== 'PayoutSuccess')
    throw new Error('They were not created.');
  const [{ transactionId: paid }, { transactionId: paidOut }] = [createPayment.payment, createPayout.payout];
  const look = (transactionId: string) => ({ channel: CHANNEL, transactionId });
  const payment = await watched(WatchPaymentDocument, paid, () => apollo.query(PaymentDocument, look(paid)));
  expect(payment).toMatchObject({
    paymentUpdated: { __typename: 'CardPayment', status: 'COMPLETED', nextAction: null },
  });
  const payout = await watched(WatchPayoutDocument, paidOut, () =>
    apollo.query(PayoutDocument, look(paidOut)),
  );
  expect(payout).toMatchObject({
    payoutUpdated: { __typename: 'BankTransferPayout', status: 'COMPLETED' },
  });
});

test('every operation of the kit was sent by these tests', () => {
  const texts = (documents: Iterable<DocumentNode>) => [...documents].map((document) => print(document));
  expect(texts(sent).sort()).toEqual(texts(OPERATIONS).sort());
});
