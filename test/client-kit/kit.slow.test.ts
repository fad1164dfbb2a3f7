import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import * as kit from '@paygraph/client';
import {
  AttemptDocument,
  AttemptsDocument,
  ChangesDocument,
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  CreatePayoutDocument,
  PaymentByExternalIdDocument,
  PaymentDocument,
  PaymentFieldsDocument,
  PaymentsDocument,
  PayoutByExternalIdDocument,
  PayoutDocument,
  PayoutsDocument,
  WatchChangesDocument,
  WatchPaymentDocument,
  WatchPayoutDocument,
  confirmationFor,
  formatMoney,
  gatewayError,
  isRetryable,
  possibleTypes,
  typePolicies,
  type ConfirmationField,
  type CreatePaymentInput,
  type PaymentFieldsFragment,
} from '@paygraph/client';
import { Client, fetchExchange } from '@urql/core';
import fc from 'fast-check';
import {
  coerceInputValue,
  getOperationAST,
  isEnumType,
  isInputType,
  print,
  validate,
  type DocumentNode,
} from 'graphql';
import { createClient } from 'graphql-sse';
import committed from '../../possible-types.json';
import { TRANSFORM_BY_CLIENT, findDocumentFiles, readClientOperations } from '../../src/cli/client-documents';
import { buildGatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { TOP } from '../docs/support/markdown';
import { graphqlWsClient } from '../subscriptions/support/graphql-ws-client';
import { AUTHORIZED } from '../support/credentials';
import { freePort } from '../support/free-port';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { serverOf } from '../support/http-server';
import { until } from '../support/latch';
import { apolloManifest, fileOf } from '../support/manifests';
import { post } from '../support/raw';
import { paymentInput, payoutInput, upiInput } from './samples';

let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  sandbox = await testSandbox();
  ({ url } = await testGateway(sandbox.url, { env: { SERVICE_TIMEOUT_MS: '120000' } }));
});

const somewhere = () => ({ channel: CHANNEL, transactionId: randomUUID() });

interface Result<D> {
  data?: D | undefined;
  error?: unknown;
}
/** Sends an operation. Resolves with its data, its error, or both. */
type Send = <D, V extends Record<string, unknown>>(
  document: TypedDocumentNode<D, V>,
  variables: V,
) => Promise<Result<D>>;

const isMutation = (document: DocumentNode): boolean => getOperationAST(document)?.operation === 'mutation';

const apollo = (uri = url, headers: Record<string, string> = AUTHORIZED) =>
  new ApolloClient({
    link: new HttpLink({ uri, headers }),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
  });

const overApollo =
  (client = apollo()): Send =>
  async (document, variables) => {
    const errorPolicy = 'all';
    const { data, error } = isMutation(document)
      ? await client.mutate({ mutation: document, variables, errorPolicy })
      : await client.query({ query: document, variables, fetchPolicy: 'network-only', errorPolicy });
    return { data: data as never, error };
  };

const urql = (at: string, headers: Record<string, string> = AUTHORIZED) =>
  new Client({
    url: at,
    exchanges: [fetchExchange],
    preferGetMethod: false,
    fetchSubscriptions: true,
    fetchOptions: { headers },
  });

const SENDERS: [name: string, to: (at: string, headers?: Record<string, string>) => Send][] = [
  ['Apollo Client', (at, headers) => overApollo(apollo(at, headers))],
  [
    'urql',
    (at, headers) => (document, variables) =>
      urql(at, headers)[isMutation(document) ? 'mutation' : 'query'](document, variables).toPromise(),
  ],
  [
    'fetch',
    (at, headers) => async (document, variables) => {
      const { text } = await post(at, JSON.stringify({ query: print(document), variables }), headers);
      const error = JSON.parse(text) as { data?: never };
      return { data: error.data, error };
    },
  ],
];

function dataOf<D>({ data, error }: Result<D>): D {
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}

async function pay(input: CreatePaymentInput, send = overApollo()): Promise<PaymentFieldsFragment> {
  const { createPayment } = dataOf(await send(CreatePaymentDocument, { input }));
  if (createPayment.__typename !== 'PaymentSuccess') throw new Error(createPayment.message);
  return createPayment.payment;
}

test('The client kit exports fifteen operations, which are valid against the schema, and the possible types', () => {
  const documents = Object.values(kit).filter(
    (value): value is DocumentNode & typeof value => 'kind' in value,
  );
  const operations = documents.filter((document) => getOperationAST(document));
  expect(operations).toHaveLength(15);
  expect(operations.flatMap((document) => validate(buildGatewaySchema(), document))).toEqual([]);
  expect(possibleTypes).toEqual(committed.possibleTypes);
});

describe.each(SENDERS)('The operations of the client kit, sent with %s,', (_name, to) => {
  const ask: <D, V extends Record<string, unknown>>(
    ...sent: [TypedDocumentNode<D, V>, V]
  ) => Promise<D> = async (...sent) => dataOf(await to(url)(...sent));

  test('create a payment, find it by transaction id and external id, confirm it, and show its attempt', async () => {
    const input = { ...upiInput(), externalId: `order ${randomUUID()}` };
    const { externalId, idempotencyKey } = input;
    const { transactionId, nextAction } = await pay(input, to(url));
    expect(nextAction).toMatchObject({ __typename: 'ProvideUtrAction', confirmWith: 'upi' });
    const where = { channel: CHANNEL, transactionId };
    const found = await ask(PaymentDocument, where);
    const byOrder = await ask(PaymentByExternalIdDocument, { channel: CHANNEL, externalId });
    expect(byOrder.payment).toEqual({ ...found.payment, externalId });
    const confirmed = { ...where, confirmation: { upi: { utr: '412345678901' } } };
    const { confirmPayment } = await ask(ConfirmPaymentDocument, { input: confirmed });
    expect(confirmPayment).toMatchObject({ __typename: 'PaymentSuccess', payment: { status: 'COMPLETED' } });
    const transactionIds = [transactionId, randomUUID()];
    const { payments } = await ask(PaymentsDocument, { channel: CHANNEL, transactionIds });
    expect(payments).toMatchObject([{ __typename: 'UpiPayment', status: 'COMPLETED' }, null]);
    const { attempt } = await ask(AttemptDocument, { idempotencyKey });
    expect(attempt).toMatchObject({ outcome: 'SUCCEEDED', payment: { transactionId }, payout: null });
    const { attempts } = await ask(AttemptsDocument, { channel: CHANNEL, first: 1 });
    expect(attempts.edges).toMatchObject([{ node: { idempotencyKey } }]);
  });

  test('create a payout, and find it by transaction id and external id', async () => {
    const input = payoutInput();
    const { externalId } = input;
    const { createPayout } = await ask(CreatePayoutDocument, { input });
    expect(createPayout).toMatchObject({ __typename: 'PayoutSuccess', payout: { externalId } });
    const { payout } = await ask(PayoutByExternalIdDocument, { channel: CHANNEL, externalId });
    expect(payout).toMatchObject({ __typename: 'BankTransferPayout', amount: { value: '25.00' } });
    const { transactionId } = payout!;
    const byId = await ask(PayoutDocument, { channel: CHANNEL, transactionId });
    expect(byId.payout).toMatchObject({ transactionId });
    const { payouts } = await ask(PayoutsDocument, { channel: CHANNEL, transactionIds: [transactionId] });
    expect(payouts).toMatchObject([{ transactionId }]);
  });
});

describe('The fragments of the client kit', () => {
  const create = async (input: CreatePaymentInput) =>
    dataOf(await overApollo()(CreatePaymentDocument, { input })).createPayment;

  const bkash = { firstName: 'A', surname: 'P', phone: '+8801712345678', email: 'a@example.com' };
  const virtualAccount = { bankCode: 'bca', accountNumber: '1234567890' };
  const TEXT: unknown = expect.any(String);
  const ACTIONS: [action: string, currency: string, method: CreatePaymentInput['method'], has: object][] = [
    ['RedirectAction', 'EUR', { redirect: 'CARD' }, { url: TEXT }],
    ['ProvideUtrAction', 'INR', { upi: { phone: '+919876543210' } }, { upiLink: TEXT }],
    ['ProvideCodeAction', 'BDT', { bkash }, { account: TEXT, confirmWith: 'bkash' }],
    ['ConfirmTransferAction', 'KZT', { c2c: { firstName: 'A' } }, { cardNumber: TEXT, confirmWith: 'c2c' }],
    ['PayVirtualAccountAction', 'IDR', { virtualAccount }, { virtualAccount: TEXT }],
    ['ScanQrCodeAction', 'IDR', { redirect: 'QRIS' }, { qrCodeImage: TEXT }],
  ];

  test('select the fields of every next action', async () => {
    for (const [__typename, currency, method, fields] of ACTIONS) {
      const result = await create(paymentInput({ amount: { currency, value: '500.00' }, method }));
      expect(result).toMatchObject({ payment: { nextAction: { __typename, ...fields } } });
    }
    const { channel, transactionId } = await pay(upiInput());
    // The sandbox lets a confirm with this UTR wait for the provider.
    const input = { channel, transactionId, confirmation: { upi: { utr: '111111' } } };
    const { confirmPayment } = dataOf(await overApollo()(ConfirmPaymentDocument, { input }));
    const awaited = 'AwaitProviderAction';
    expect(confirmPayment).toMatchObject({
      payment: { nextAction: { __typename: awaited, pollAfterMs: expect.any(Number) } },
    });
    expect([...ACTIONS.map(([name]) => name), awaited].sort()).toEqual(possibleTypes['NextAction']);
  });

  test('select the fields of every error that a create can return', async () => {
    const dollars = { currency: 'USD', value: '1.00' };
    expect(await create(paymentInput({ amount: dollars, method: { redirect: 'QRIS' } }))).toMatchObject({
      __typename: 'InvalidInputError',
      fields: [{ path: ['amount', 'currency'] }],
    });

    sandbox.controlPlane.inject({ operation: 'create', fault: 'status', status: 422, times: 1 });
    const rejected = { __typename: 'RejectedByServiceError', httpStatus: 422 };
    expect(await create(paymentInput())).toMatchObject(rejected);

    const input = paymentInput();
    await create(input);
    expect(await create({ ...input, description: 'another' })).toMatchObject({
      __typename: 'IdempotencyConflictError',
      code: 'IDEMPOTENCY_CONFLICT',
    });

    const slow = paymentInput();
    sandbox.controlPlane.inject({ operation: 'create', fault: 'delay', ms: 3_600_000, times: 1 });
    const arrived = sandbox.controlPlane.counts().payment.creates;
    const first = create(slow);
    await until(() => sandbox.controlPlane.counts().payment.creates > arrived);
    expect(await create(slow)).toMatchObject({
      __typename: 'RequestInProgressError',
      retryAfterMs: expect.any(Number),
    });
    sandbox.controlPlane.advance(3_600_000);
    expect(await first).toMatchObject({ __typename: 'PaymentSuccess', replayed: false });

    const lost = paymentInput({ externalId: 'order 9' });
    sandbox.controlPlane.inject({ operation: 'create', fault: 'cut_before', times: 1 });
    expect(await create(lost)).toMatchObject({
      __typename: 'OutcomeUnknownError',
      idempotencyKey: lost.idempotencyKey,
      externalId: 'order 9',
    });
  });
});

test('The subscriptions of the client kit deliver the final status of a payment and of a payout', async () => {
  const { iterate } = createClient({ url: `${url}/stream`, headers: AUTHORIZED });
  /** Subscribes, settles the transaction after the first state, and looks it up. Resolves with the last state. */
  const watched = async (
    document: DocumentNode,
    lookup: typeof PaymentDocument | typeof PayoutDocument,
    transactionId: string,
  ) => {
    const variables = { channel: CHANNEL, transactionId };
    const seen: unknown[] = [];
    for await (const { data, errors } of iterate({ query: print(document), variables })) {
      if (seen.push(data ?? errors) > 1) continue;
      sandbox.controlPlane.settle(transactionId);
      await overApollo()<unknown, typeof variables>(lookup, variables);
    }
    return seen.at(-1);
  };
  const { transactionId } = await pay(paymentInput());
  expect(await watched(WatchPaymentDocument, PaymentDocument, transactionId)).toMatchObject({
    paymentUpdated: { __typename: 'CardPayment', status: 'COMPLETED', nextAction: null },
  });
  const { createPayout } = dataOf(await overApollo()(CreatePayoutDocument, { input: payoutInput() }));
  if (createPayout.__typename !== 'PayoutSuccess') throw new Error(createPayout.message);
  expect(await watched(WatchPayoutDocument, PayoutDocument, createPayout.payout.transactionId)).toMatchObject(
    { payoutUpdated: { __typename: 'BankTransferPayout', status: 'COMPLETED' } },
  );
});

test('The operation Changes returns the changes that changes() yields, and WatchChanges continues after their cursor', async () => {
  const { transactionId } = await pay(upiInput());
  const own: kit.Change[] = [];
  for await (const change of kit.changes({ url, channel: CHANNEL, headers: AUTHORIZED }))
    if (change.transactionId === transactionId && own.push(change) === 1) break;
  expect(own).toMatchObject([
    { __typename: 'PaymentChange', previousStatus: null, status: 'PROCESSING', method: 'UPI' },
  ]);
  const { changes: all } = dataOf(await overApollo()(ChangesDocument, { channel: CHANNEL, first: 500 }));
  expect(all.changes.map(({ cursor }) => cursor)).toContain(own[0]?.cursor);

  const { iterate } = createClient({ url: `${url}/stream`, headers: AUTHORIZED });
  const variables = { channel: CHANNEL, after: own[0]?.cursor };
  const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
  await overApollo()(ConfirmPaymentDocument, { input });
  const next: unknown[] = [];
  for await (const { data } of iterate({ query: print(WatchChangesDocument), variables })) {
    const change = (data as kit.WatchChangesSubscription).changes;
    if (change.transactionId === transactionId && next.push(change) === 1) break;
  }
  expect(next).toMatchObject([{ previousStatus: 'PROCESSING', status: 'COMPLETED' }]);
});

test('changes() sends only operations that are in the persisted-operations manifest for plain clients', async () => {
  const files = findDocumentFiles([path.join(TOP, 'client/operations')]);
  const operations = readClientOperations(files, buildGatewaySchema(), TRANSFORM_BY_CLIENT.plain);
  const PERSISTED_OPERATIONS = fileOf(apolloManifest(...operations));
  const env = { PERSISTED_OPERATIONS, PERSISTED_OPERATIONS_SERVICES: 'require' };
  const gateway = await testGateway(sandbox.url, { env });
  const reading = new AbortController();
  const changing = kit.changes({
    url: gateway.url,
    channel: CHANNEL,
    headers: AUTHORIZED,
    signal: reading.signal,
    fetch: async (target, init) => {
      const response = await fetch(target, init);
      // The query and the subscription were accepted.
      if (response.headers.get('content-type')?.includes('event-stream')) reading.abort(new Error('open'));
      return response;
    },
  });
  await expect(changing.next()).rejects.toThrow('open');
});

test('Apollo Client caches a payment once, and notifies its observers when the payment is confirmed', async () => {
  // Other tests' watched payments may still cause requests to the shared sandbox.
  const unshared = await testSandbox();
  const client = apollo((await testGateway(unshared.url)).url);
  const send = overApollo(client);
  const { id, __typename, transactionId } = await pay(upiInput(), send);
  // The document also contains the fragments that PaymentFields uses.
  const cached = client.cache.readFragment({
    id: `${__typename}:${id}`,
    fragment: PaymentFieldsDocument,
    fragmentName: 'PaymentFields',
  });
  expect(cached).toMatchObject({ id, method: 'UPI', nextAction: { __typename: 'ProvideUtrAction' } });

  const variables = { channel: CHANNEL, transactionId };
  await send(PaymentDocument, variables);
  const { lookups } = unshared.controlPlane.counts().payment;
  const seen: unknown[] = [];
  const watching = client
    .watchQuery({ query: PaymentDocument, variables, fetchPolicy: 'cache-only' })
    .subscribe(({ data }) => void seen.push(data?.payment?.status));
  await send(ConfirmPaymentDocument, {
    input: { ...variables, confirmation: { upi: { utr: '412345678901' } } },
  });
  watching.unsubscribe();
  expect(seen).toEqual(['PROCESSING', 'COMPLETED']);
  expect(unshared.controlPlane.counts().payment.lookups).toBe(lookups);
});

test('The cache of Apollo Client keeps a known externalId if a later response has none', async () => {
  const externalId = `order-${randomUUID()}`;
  const send = overApollo();
  const { channel, transactionId } = await pay({ ...upiInput(), externalId }, send);
  const bare = dataOf(await overApollo()(PaymentDocument, { channel, transactionId }));
  expect(bare.payment?.externalId).toBeNull();
  const known = dataOf(await send(PaymentDocument, { channel, transactionId }));
  expect(known.payment).toMatchObject({ externalId, transactionId });
});

test.each(SENDERS)('gatewayError returns code and retry advice of errors from %s', async (_name, to) => {
  const errorOf = async (at: string, where = somewhere(), headers: Record<string, string> = AUTHORIZED) =>
    (await to(at, headers)(PaymentDocument, where)).error;

  sandbox.controlPlane.inject({ operation: 'lookup', fault: 'status', status: 503, times: 9 });
  const unavailable = await errorOf(url);
  sandbox.controlPlane.reset();
  expect(isRetryable(unavailable)).toBe(true);
  expect(gatewayError(unavailable)).toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
    retryable: true,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    path: ['payment'],
    fields: [],
  });

  const wrong = await errorOf(url, { ...somewhere(), channel: 'mine' });
  expect(isRetryable(wrong)).toBe(false);
  expect(gatewayError(wrong)).toMatchObject({ code: 'BAD_USER_INPUT', retryable: false, retryAfterMs: null });

  const refused = gatewayError(await errorOf(url, somewhere(), { authorization: 'Bearer pgk_nobody' }));
  expect(refused).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false, path: null });

  const limited = await testGateway(sandbox.url, { env: { RATE_LIMIT_PER_MINUTE: '1' } });
  await errorOf(limited.url);
  const later = gatewayError(await errorOf(limited.url));
  expect(later).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
  expect(later?.retryAfterMs).toBeGreaterThan(0);
});

/** Subscribe to an unknown payment. Resolve with the error that ends the subscription. */
const WATCHERS: [name: string, watch: (headers: Record<string, string>) => Promise<unknown>][] = [
  [
    'graphql-ws',
    (connectionParams) =>
      new Promise((error) => {
        const payload = { query: print(WatchPaymentDocument), variables: somewhere() };
        const sink = { next: () => undefined, complete: () => undefined, error };
        graphqlWsClient(url, { connectionParams }).subscribe(payload, sink);
      }),
  ],
  [
    'urql over server-sent events',
    (headers) =>
      new Promise((resolve) =>
        urql(`${url}/stream`, headers)
          .subscription(WatchPaymentDocument, somewhere())
          .subscribe(({ error }) => error && resolve(error)),
      ),
  ],
];

test.each(WATCHERS)(
  'A subscription with %s ends with NOT_FOUND for an unknown payment, and with UNAUTHENTICATED for an unknown key',
  async (_name, watch) => {
    expect(gatewayError(await watch(AUTHORIZED))).toMatchObject({ code: 'NOT_FOUND', retryable: false });
    const refused = await watch({ authorization: 'Bearer pgk_nobody' });
    // The code is the reason of the close event of a WebSocket.
    const { reason } = Object(refused) as { reason?: string };
    expect(gatewayError(refused)?.code ?? reason).toContain('UNAUTHENTICATED');
  },
);

describe('gatewayError', () => {
  test('returns the first gateway error in a value, with its fields, or null if there is none', () => {
    const fields = [{ path: ['input', 'amount', 'value'], rule: 'decimal' }];
    const extensions = { code: 'BAD_USER_INPUT', retryable: false, requestId: 'r', fields };
    const foreign = { message: 'm', extensions: { code: 'DOWNSTREAM_SERVICE_ERROR' } };
    expect(gatewayError([foreign, { message: 'm', extensions }])).toMatchObject({ requestId: 'r', fields });
    expect(gatewayError({ message: 'm', extensions })).toMatchObject({ code: 'BAD_USER_INPUT' });
    for (const value of [undefined, new Error('SERVICE_UNAVAILABLE'), { errors: [foreign] }])
      expect(gatewayError(value)).toBeNull();
  });

  test.each(SENDERS.slice(0, 2))(
    'returns null with %s if there is no response, or only the response of a proxy',
    async (_name, to) => {
      const proxy = await serverOf((_request, response) => {
        response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
      });
      for (const address of [proxy, `http://127.0.0.1:${await freePort()}`]) {
        const { error } = await to(address)(PaymentDocument, somewhere());
        expect(error).toBeDefined();
        expect(gatewayError(error)).toBeNull();
        expect(isRetryable(error)).toBe(false);
      }
    },
  );
});

describe('confirmationFor', () => {
  test('returns a valid ConfirmationInput for each ConfirmationField', () => {
    const [fields, input] = ['ConfirmationField', 'ConfirmationInput'].map((name) =>
      buildGatewaySchema().getType(name),
    );
    if (!isEnumType(fields) || !isInputType(input)) throw new Error('The schema has other types.');
    for (const { name } of fields.getValues()) {
      const made = confirmationFor({ confirmWith: name as ConfirmationField }, '123456');
      expect(Object.keys(made)).toEqual([name]);
      coerceInputValue(made, input);
    }
  });

  test('throws if a value is missing or the field is unknown', () => {
    expect(() => confirmationFor({ confirmWith: 'upi' })).toThrow(TypeError);
    for (const unknown of ['pigeon', 'constructor', '__proto__'])
      expect(() => confirmationFor({ confirmWith: unknown as ConfirmationField }, '1')).toThrow(TypeError);
  });
});

describe('formatMoney', () => {
  const CURRENCIES = ['EUR', 'INR', 'IDR', 'JPY', 'KWD', 'KZT', 'BDT', 'PKR', 'USDT', 'Bitcoin', ''];
  const digitsOf = (text: string): string => text.replace(/[^0-9]/g, '');

  test('shows every digit of the value, however many, and at least two decimals', () => {
    const whole = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String);
    const decimals = fc.array(fc.constantFrom(...'0123456789'), { maxLength: 18 }).map((all) => all.join(''));
    fc.assert(
      fc.property(whole, decimals, fc.constantFrom(...CURRENCIES), (before, after, currency) => {
        const value = after === '' ? before : `${before}.${after}`;
        const shown = formatMoney({ value, currency }, 'en-US');
        expect(digitsOf(shown)).toBe(before + after.padEnd(2, '0'));
      }),
    );
  });

  test.each([
    [{ value: '1234.5', currency: 'EUR' }, 'en-US', '€1,234.50'],
    [{ value: '1234.50', currency: 'INR' }, 'en-IN', '₹1,234.50'],
    [{ value: '1000.00', currency: 'USDT' }, 'de-DE', '1.000,00 USDT'],
    [{ value: '1e3', currency: 'EUR' }, 'en-US', '1e3 EUR'],
  ])('formats %p for %s as %s', (amount, locale, shown) => {
    expect(formatMoney(amount, locale)).toBe(shown);
  });
});
