import { randomUUID } from 'node:crypto';

import path from 'node:path';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
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
  type CreatePayoutInput,
  type PaymentFieldsFragment,
  type PayoutFieldsFragment,
} from '@paygraph/client';
import { Client, fetchExchange } from '@urql/core';
import fc from 'fast-check';
import { coerceInputValue, isEnumType, isInputType, Kind, print, validate, type DocumentNode } from 'graphql';
import { createClient } from 'graphql-sse';
import committed from '../../possible-types.json';
import {
  CLIENTS as CLIENT_KINDS,
  findDocumentFiles,
  readClientOperations,
} from '../../src/cli/client-documents';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { CLIENTS, type AnyClient } from '../clients/clients';
import { cardInput, paymentInput, payoutInput, upiInput } from '../clients/samples';
import { graphqlWsClient } from '../subscriptions/support/graphql-ws-client';

import { AUTHORIZED } from '../support/credentials';
import { freePort } from '../support/free-port';
import { serverOf } from '../support/http-server';
import { until } from '../support/latch';
import { apolloManifest, fileOf } from '../support/manifests';

import { TOP } from '../docs/support/markdown';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';

let sandbox: Sandbox;
let url: string;
beforeAll(async () => {
  sandbox = await testSandbox();
  ({ url } = await testGateway(sandbox.url, { env: { SERVICE_TIMEOUT_MS: '120000' } }));
});

const somewhere = () => ({ channel: CHANNEL, transactionId: randomUUID() });

const apollo = (uri: string, headers: Record<string, string> = AUTHORIZED) =>
  new ApolloClient({
    link: new HttpLink({ uri, headers }),
    cache: new InMemoryCache({ possibleTypes, typePolicies }),
  });

const DOCUMENTS = Object.values(kit).filter((value): value is DocumentNode & typeof value => 'kind' in value);
const operationsIn = (document: DocumentNode) =>
  document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION);
const OPERATIONS = DOCUMENTS.filter((document) => operationsIn(document).length > 0);

const sent = new Set<DocumentNode>();

test('The kit has fifteen operations, which are valid in the schema, and the possible types', () => {
  const schema = gatewaySchema();
  expect(OPERATIONS).toHaveLength(15);
  expect(OPERATIONS.flatMap((document) => validate(schema, document))).toEqual([]);
  const names = DOCUMENTS.map(({ definitions }) =>
    definitions.map((node) => ('name' in node ? node.name?.value : '')),
  );
  expect(names.map((all) => new Set(all).size)).toEqual(names.map(({ length }) => length));
  expect(possibleTypes).toEqual(committed.possibleTypes);
});

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

describe.each(CLIENTS)('The operations with %s', (_name, clientAt) => {
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

  test('create a payment, find it by both ids, confirm it, and show its attempt', async () => {
    const input = { ...upiInput(), externalId: `order ${randomUUID()}` };
    const { transactionId, nextAction } = await pay(input);
    expect(nextAction).toMatchObject({ __typename: 'ProvideUtrAction', confirmWith: 'upi' });
    const where = { channel: CHANNEL, transactionId };
    const found = await at().query(PaymentDocument, where);
    const { externalId } = input;
    const byOrder = await at().query(PaymentByExternalIdDocument, { channel: CHANNEL, externalId });
    expect(byOrder.payment).toEqual({ ...found.payment, externalId });
    const confirmed = { ...where, confirmation: { upi: { utr: '412345678901' } } };
    const { confirmPayment } = await at().mutate(ConfirmPaymentDocument, { input: confirmed });
    expect(confirmPayment).toMatchObject({ __typename: 'PaymentSuccess', payment: { status: 'COMPLETED' } });
    const transactionIds = [transactionId, randomUUID()];
    const { payments } = await at().query(PaymentsDocument, { channel: CHANNEL, transactionIds });
    expect(payments).toMatchObject([{ __typename: 'UpiPayment', status: 'COMPLETED' }, null]);
    const { idempotencyKey } = input;
    const { attempt } = await at().query(AttemptDocument, { idempotencyKey });
    expect(attempt).toMatchObject({ outcome: 'SUCCEEDED', payment: { transactionId }, payout: null });
    const { attempts } = await at().query(AttemptsDocument, { channel: CHANNEL, first: 1 });
    expect(attempts.edges).toMatchObject([{ node: { idempotencyKey } }]);
  });

  test('show a decline as data of the payment, and find a payment after a lost response', async () => {
    const declined = await pay(cardInput('4111 1111 1111 1111', '10.51'));
    sandbox.control.advance(5000);
    const { transactionId } = declined;
    expect((await at().query(PaymentDocument, { channel: CHANNEL, transactionId })).payment).toMatchObject({
      status: 'FAILED',
      error: { code: 'PROVIDER_PROCESSING_FAILED', reason: 'INSUFFICIENT_FUNDS' },
      nextAction: null,
    });
    const input = paymentInput({ amount: { currency: 'EUR', value: '10.80' } });
    expect((await at().mutate(CreatePaymentDocument, { input })).createPayment).toMatchObject({
      __typename: 'PaymentSuccess',
      replayed: true,
    });
  });

  test('create a payout, and find it by both ids', async () => {
    const input = payoutInput();
    const { externalId } = input;
    const { transactionId, ...created } = await payOut(input);
    expect(created.externalId).toBe(externalId);
    const { payout } = await at().query(PayoutDocument, { channel: CHANNEL, transactionId });
    const byOrder = await at().query(PayoutByExternalIdDocument, { channel: CHANNEL, externalId });
    expect(payout).toMatchObject({ __typename: 'BankTransferPayout', amount: { value: '25.00' } });
    expect(byOrder.payout).toMatchObject({ transactionId });
    const transactionIds = [transactionId];
    const { payouts } = await at().query(PayoutsDocument, { channel: CHANNEL, transactionIds });
    expect(payouts).toMatchObject([{ transactionId }]);
  });
});

describe('The fragments', () => {
  const overApollo = () => sender(CLIENTS[0]![1](url));
  const create = async (input: CreatePaymentInput) =>
    (await overApollo().mutate(CreatePaymentDocument, { input })).createPayment;

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

  test('cover every next action', async () => {
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

  test('cover every failure', async () => {
    const dollars = { currency: 'USD', value: '1.00' };
    const wrong = await create(paymentInput({ amount: dollars, method: { redirect: 'QRIS' } }));
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
});

test('The subscriptions deliver changes of a payment and a payout', async () => {
  const apollo = sender(CLIENTS[0]![1](url));
  const stream = createClient({ url: `${url}/stream`, headers: AUTHORIZED });
  /** Subscribes, settles the transaction after the first state, and looks it up. Resolves with the last state. */
  const watched = async (
    document: DocumentNode,
    lookup: typeof PaymentDocument | typeof PayoutDocument,
    transactionId: string,
  ) => {
    sent.add(document);
    const variables = { channel: CHANNEL, transactionId };
    const seen: unknown[] = [];
    for await (const { data, errors } of stream.iterate({ query: print(document), variables })) {
      if (seen.push(data ?? errors) > 1) continue;
      sandbox.control.settle(transactionId);
      await apollo.query<unknown, typeof variables>(lookup, variables);
    }
    return seen.at(-1);
  };
  const { createPayment } = await apollo.mutate(CreatePaymentDocument, { input: paymentInput() });
  const { createPayout } = await apollo.mutate(CreatePayoutDocument, { input: payoutInput() });
  if (createPayment.__typename !== 'PaymentSuccess' || createPayout.__typename !== 'PayoutSuccess')
    throw new Error('The payment or the payout was not created.');
  const [{ transactionId: paid }, { transactionId: paidOut }] = [createPayment.payment, createPayout.payout];
  expect(await watched(WatchPaymentDocument, PaymentDocument, paid)).toMatchObject({
    paymentUpdated: { __typename: 'CardPayment', status: 'COMPLETED', nextAction: null },
  });
  expect(await watched(WatchPayoutDocument, PayoutDocument, paidOut)).toMatchObject({
    payoutUpdated: { __typename: 'BankTransferPayout', status: 'COMPLETED' },
  });
});

const createUpi = async (client: ApolloClient, input = upiInput()) => {
  const { data } = await client.mutate({ mutation: CreatePaymentDocument, variables: { input } });
  if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('The payment was not created.');
  return data.createPayment.payment;
};

test('Changes and WatchChanges return the changes of a payment, and accept a cursor of changes()', async () => {
  const { query } = sender(CLIENTS[0]![1](url));
  const { nextAction, transactionId } = await createUpi(apollo(url));
  expect(nextAction).toBeDefined();
  const own: kit.Change[] = [];
  for await (const change of kit.changes({ url, channel: CHANNEL, headers: AUTHORIZED }))
    if (change.transactionId === transactionId && own.push(change) === 1) break;
  expect(own).toMatchObject([
    { __typename: 'PaymentChange', previousStatus: null, status: 'PROCESSING', method: 'UPI' },
  ]);
  const { changes: all } = await query(ChangesDocument, { channel: CHANNEL, first: 500 });
  expect(all.changes.map(({ cursor }) => cursor)).toContain(own[0]?.cursor);

  sent.add(WatchChangesDocument);
  const stream = createClient({ url: `${url}/stream`, headers: AUTHORIZED });
  const variables = { channel: CHANNEL, after: own[0]?.cursor };
  const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
  await apollo(url).mutate({ mutation: ConfirmPaymentDocument, variables: { input } });
  for await (const { data } of stream.iterate({ query: print(WatchChangesDocument), variables })) {
    const change = (data as kit.WatchChangesSubscription).changes;
    if (change.transactionId !== transactionId) continue;
    expect(change).toMatchObject({ previousStatus: 'PROCESSING', status: 'COMPLETED' });
    break;
  }
});

test('changes sends only operations that a manifest for plain clients contains', async () => {
  const files = findDocumentFiles([path.join(TOP, 'client/operations')]);
  const operations = readClientOperations(files, gatewaySchema(), CLIENT_KINDS.plain);
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

test('Every operation of the kit was sent by the tests of this file', () => {
  const texts = (documents: Iterable<DocumentNode>) => [...documents].map((document) => print(document));
  expect(texts(sent).sort()).toEqual(texts(OPERATIONS).sort());
});

describe('Apollo Client', () => {
  test('caches a payment once, under its interface, and notifies observers when it is confirmed', async () => {
    // Other tests' watched payments may still cause requests to the shared sandbox.
    const unshared = await testSandbox();
    const client = apollo((await testGateway(unshared.url)).url);
    const { id, __typename, transactionId } = await createUpi(client);
    // The document also contains the fragments that PaymentFields uses.
    const cached = client.cache.readFragment({
      id: `${__typename}:${id}`,
      fragment: PaymentFieldsDocument,
      fragmentName: 'PaymentFields',
    });
    expect(cached).toMatchObject({ id, method: 'UPI', nextAction: { __typename: 'ProvideUtrAction' } });

    const query = { query: PaymentDocument, variables: { channel: CHANNEL, transactionId } };
    await client.query(query);
    const lookups = unshared.control.counts().payment.lookups;
    const seen: unknown[] = [];
    const watching = client
      .watchQuery({ ...query, fetchPolicy: 'cache-only' })
      .subscribe(({ data }) => void seen.push(data?.payment?.status));
    const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
    await client.mutate({ mutation: ConfirmPaymentDocument, variables: { input } });
    watching.unsubscribe();
    expect(seen).toEqual(['PROCESSING', 'COMPLETED']);
    expect(unshared.control.counts().payment.lookups).toBe(lookups);
  });
});

test('urql is refused without preferGetMethod: false, and the error names the method to use', async () => {
  const client = new Client({ url, exchanges: [fetchExchange], fetchOptions: { headers: AUTHORIZED } });
  const { error } = await client.query(PaymentDocument, somewhere());
  expect(error?.graphQLErrors).toMatchObject([{ extensions: { code: 'BAD_REQUEST', retryable: false } }]);
  expect(error?.message).toContain('POST');
});

type Somewhere = ReturnType<typeof somewhere>;
type Ask = (at: string, variables: Somewhere, headers?: Record<string, string>) => Promise<unknown>;

const READERS: [name: string, ask: Ask][] = [
  [
    'Apollo Client',
    (at, variables, headers) =>
      apollo(at, headers)
        .query({ query: PaymentDocument, variables })
        .then(
          ({ error }) => error,
          (thrown: unknown) => thrown,
        ),
  ],
  [
    'urql',
    async (at, variables, headers = AUTHORIZED) => {
      const options = { exchanges: [fetchExchange], preferGetMethod: false, fetchOptions: { headers } };
      return (await new Client({ url: at, ...options }).query(PaymentDocument, variables)).error;
    },
  ],
  [
    'the body of a response',
    async (at, variables, headers = AUTHORIZED) => {
      const body = JSON.stringify({ query: print(PaymentDocument), variables });
      const json = { 'content-type': 'application/json' };
      return (await fetch(at, { method: 'POST', headers: { ...json, ...headers }, body })).json();
    },
  ],
];

describe.each(READERS)('gatewayError reads from %s', (_name, ask) => {
  test('SERVICE_UNAVAILABLE of a failed lookup, which is retryable', async () => {
    sandbox.control.inject({ operation: 'lookup', fault: 'status', status: 503, times: 9 });
    const error = await ask(url, somewhere());
    sandbox.control.reset();
    expect(gatewayError(error)).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      path: ['payment'],
      fields: [],
    });
    expect(isRetryable(error)).toBe(true);
  });

  test('BAD_USER_INPUT of an invalid variable', async () => {
    const error = await ask(url, { channel: 'mine', transactionId: randomUUID() });
    expect(gatewayError(error)).toMatchObject({
      code: 'BAD_USER_INPUT',
      retryable: false,
      retryAfterMs: null,
    });
    expect(isRetryable(error)).toBe(false);
  });

  test('UNAUTHENTICATED, with HTTP 401', async () => {
    const error = await ask(url, somewhere(), { authorization: 'Bearer pgk_nobody' });
    expect(gatewayError(error)).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false, path: null });
  });

  test('RATE_LIMITED with retryAfterMs, with HTTP 429', async () => {
    const limited = await testGateway(sandbox.url, { env: { RATE_LIMIT_PER_MINUTE: '1' } });
    await ask(limited.url, somewhere());
    const error = await ask(limited.url, somewhere());
    const read = gatewayError(error);
    expect(read).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    expect(read?.retryAfterMs).toBeGreaterThan(0);
  });
});

/** Subscribes to an unknown payment. Resolves with the error that ends the subscription. */
type Watch = (headers: Record<string, string>) => Promise<unknown>;

const WATCHERS: [name: string, watch: Watch][] = [
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
    'Apollo Client over a WebSocket',
    (connectionParams) =>
      new Promise((resolve) => {
        const link = new GraphQLWsLink(graphqlWsClient(url, { connectionParams }));
        new ApolloClient({ link, cache: new InMemoryCache({ possibleTypes }) })
          .subscribe({ query: WatchPaymentDocument, variables: somewhere() })
          .subscribe({ next: ({ error }) => error && resolve(error), error: resolve });
      }),
  ],
  [
    'urql over server-sent events',
    (headers) =>
      new Promise((resolve) => {
        const options = { fetchSubscriptions: true, preferGetMethod: false, exchanges: [fetchExchange] };
        new Client({ url: `${url}/stream`, fetchOptions: { headers }, ...options })
          .subscription(WatchPaymentDocument, somewhere())
          .subscribe(({ error }) => error && resolve(error));
      }),
  ],
];

test.each(WATCHERS)('A subscription with %s ends with NOT_FOUND or UNAUTHENTICATED', async (_name, watch) => {
  expect(gatewayError(await watch(AUTHORIZED))).toMatchObject({ code: 'NOT_FOUND', retryable: false });
  const refused = await watch({ authorization: 'Bearer pgk_nobody' });
  // The code is the reason of the close event of a WebSocket; Apollo Client repeats it in its message.
  const { message, reason } = Object(refused) as { message?: string; reason?: string };
  expect(gatewayError(refused)?.code ?? [message, reason].join()).toContain('UNAUTHENTICATED');
});

describe('gatewayError', () => {
  test('reads the fields of an error, and the first error of the gateway among several', () => {
    const fields = [{ path: ['input', 'amount', 'value'], rule: 'decimal' }];
    const extensions = { code: 'BAD_USER_INPUT', retryable: false, requestId: 'r', fields };
    const foreign = { message: 'm', extensions: { code: 'DOWNSTREAM_SERVICE_ERROR' } };
    expect(gatewayError([foreign, { message: 'm', extensions }])).toMatchObject({ requestId: 'r', fields });
    expect(gatewayError({ message: 'm', extensions })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each(READERS.slice(0, 2))(
    'is null with %s if there is no response, or only the response of a proxy',
    async (_name, ask) => {
      const proxy = await serverOf((_request, response) => {
        response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>502 Bad Gateway</h1>');
      });
      for (const address of [proxy, `http://127.0.0.1:${await freePort()}`]) {
        const error = await ask(address, somewhere());
        expect(error).toBeDefined();
        expect(gatewayError(error)).toBeNull();
        expect(isRetryable(error)).toBe(false);
      }
    },
  );

  test.each([
    [undefined],
    [new Error('SERVICE_UNAVAILABLE')],
    [{ errors: [{ message: 'Unknown field.' }] }],
    [{ bodyText: '{' }],
  ])('is null for %p', (value) => {
    expect(gatewayError(value)).toBeNull();
  });
});

describe('confirmationFor', () => {
  const schema = gatewaySchema();
  const fields = schema.getType('ConfirmationField');
  const FIELDS = isEnumType(fields) ? fields.getValues().map(({ name }) => name as ConfirmationField) : [];

  test.each(FIELDS)('makes a ConfirmationInput with the field %s', (confirmWith) => {
    const input = schema.getType('ConfirmationInput');
    const made = confirmationFor({ confirmWith }, '123456');
    expect(Object.keys(made)).toEqual([confirmWith]);
    if (!isInputType(input)) throw new Error('ConfirmationInput is not an input type.');
    coerceInputValue(made, input);
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

describe('typePolicies', () => {
  test('keep a known externalId if a later response has none', async () => {
    const client = apollo(url);
    const externalId = `order-${randomUUID()}`;
    const { channel, transactionId } = await createUpi(client, { ...upiInput(), externalId });
    const query = { query: PaymentDocument, variables: { channel, transactionId } };
    const bare = await apollo(url).query(query);
    expect(bare.data?.payment?.externalId).toBeNull();
    const known = await client.query({ ...query, fetchPolicy: 'network-only' });
    expect(known.data?.payment).toMatchObject({ externalId, transactionId });
  });
});
