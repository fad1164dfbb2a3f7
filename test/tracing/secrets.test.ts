import { randomUUID } from 'node:crypto';
import { altered, reset, status } from '../exactly-once/service/faults';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { EventStream } from '../live/support/event-stream';
import { watching } from '../live/support/live-gateway';
import { CLIENT_KEY, CLIENT_ID } from '../support/credentials';
import { API_KEY, CHANNEL, SECRET_KEY, closeAfterTests } from '../support/gateway';
import { traced } from './support/traced';

/** What callers and the service say, in every place where they can say it; the bytes that a collector got of it. */

const PAN = '5555555555554444';
const CVC = '8351';
const ACCOUNT = '000123456789';
const CARD = {
  card: { pan: PAN, cvc: CVC, expiryMonth: '12', expiryYear: '2099', cardholder: 'CANARY HOLDERSON' },
};
const CREATE = `mutation Pay($input: CreatePaymentInput!) { createPayment(input: $input) {
  __typename ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } } ... on UserError { message } } }`;
const PAY_OUT = `mutation PayOut($input: CreatePayoutInput!) { createPayout(input: $input) { __typename } }`;
const CONFIRM = `mutation Confirm($input: ConfirmPaymentInput!) { confirmPayment(input: $input) { __typename } }`;
const LOOKUP = `query Look($c: UUID!, $t: UUID, $e: String) { payment(channel: $c, transactionId: $t, externalId: $e) { __typename } }`;
const ATTEMPT = `query Attempt($key: ID!) { attempt(idempotencyKey: $key) { outcome } }`;

let bytes: string;
const hidden = new Map<string, string>();

beforeAll(async () => {
  const service = closeAfterTests(await FaultyService.start());
  const headersOfCollector = 'x-collector-key=collector-key-4711';
  const gateway = await traced(service.url, {
    env: { OTEL_EXPORTER_OTLP_HEADERS: headersOfCollector, SERVICE_TIMEOUT_MS: '20000' },
  });
  const { client, collector } = gateway;
  const hide = (name: string, value: string): string => {
    hidden.set(name, value);
    return value;
  };
  const key = hide('a key', newKey());
  const input = createInput('payment', key, {
    method: CARD,
    amount: { currency: 'EUR', value: hide('an amount', '4711.47') },
    returnUrl: hide('an address', 'https://shop.example/back/canary'),
  });
  const made = await client.ask<{ createPayment: { payment?: { transactionId: string } } }>(CREATE, {
    input,
  });
  expect(made.data.createPayment).toMatchObject({ __typename: 'PaymentSuccess' });
  const id = hide('an id', String(made.data.createPayment.payment?.transactionId));
  const externalId = hide('an external id', `order ${key}`);
  await client.ask(LOOKUP, { c: CHANNEL, t: id });
  await client.ask(LOOKUP, { c: CHANNEL, e: externalId });
  await client.ask(ATTEMPT, { key });
  await client.ask(CONFIRM, {
    input: { channel: CHANNEL, transactionId: id, confirmation: { upi: { utr: '123456789012' } } },
  });
  await client.ask(PAY_OUT, { input: createInput('payout', newKey()) });
  const said = altered({ message: hide('a text of the service', 'canary message'), status: 'canary_word' });
  service.next('create-payment', { acts: false, reply: status(400) }, { acts: false, reply: reset });
  await client.ask(CREATE, { input: createInput('payment', newKey(), { method: CARD }) });
  service.next('look-up-payment', { acts: true, reply: said }, { acts: true, reply: status(500) });
  await client.ask(LOOKUP, { c: CHANNEL, t: id });
  await client.ask(`query { payment(channel: "${CHANNEL}", externalId: "${externalId}") { __typename } }`);
  await client.ask(`query N${PAN} { a: __typename }`);
  await client.ask(`query { ${hide('a wrong name', 'canaryField')} }`);
  await client.ask(CREATE, { input: { ...input, method: { card: { pan: [PAN], cvc: { cvc: CVC } } } } });
  const url = `${client.url}/stream?secret=${hide('a parameter', 'canary-parameter')}`;
  const stream = await EventStream.open(url, watching(id), { method: 'POST' });
  await stream.next();
  await fetch(`${client.url}?query=%7B__typename%7D&canary-query=1`, {
    headers: {
      authorization: `Bearer ${CLIENT_KEY}`,
      'apollo-require-preflight': '1',
      'user-agent': hide('a header', 'canary-agent'),
      baggage: `user=${hide('baggage', randomUUID())}`,
    },
  });
  const spans = await gateway.spans();
  expect(spans.length).toBeGreaterThan(20);
  bytes = Buffer.concat(collector.exports.map(({ body }) => body)).toString('latin1');
});

test('What was asked can be seen in the traces', () => {
  for (const name of ['mutation Pay', 'query Look', 'query Attempt', 'mutation Confirm', 'journal begin'])
    expect(bytes).toContain(name);
});

test.each([
  ['a card number', PAN],
  ['a security code', CVC],
  ['an account number', ACCOUNT],
  ['the name on a card', 'HOLDERSON'],
  ['an API key', API_KEY],
  ['a secret key', SECRET_KEY],
  ['the key of a client', CLIENT_KEY],
  ['who called', CLIENT_ID],
  ['a channel', CHANNEL],
  ['a mail address', 'ann@example.com'],
  ['what confirms', '123456789012'],
  ['the key of the collector', 'collector-key'],
  ['a document', '__typename'],
  ['a query string', 'transaction_id='],
  ['a query of the gateway', 'canary-query'],
])('In them is nowhere %s', (_what, secret) => {
  expect(bytes.toLowerCase()).not.toContain(secret.toLowerCase());
});

test('In them is nothing that calls are told apart by', () => {
  expect(hidden.size).toBeGreaterThan(8);
  for (const secret of hidden.values()) expect(bytes.toLowerCase()).not.toContain(secret.toLowerCase());
});
