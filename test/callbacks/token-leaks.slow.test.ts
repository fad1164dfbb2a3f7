import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import {
  ECHOED_TYPES,
  brokenWith,
  declineOf,
  echoEverywhere,
  refusalsWith,
} from '../gateway/fixtures/echoing-service';
import { spellingsOf } from '../gateway/fixtures/spellings';
import { createPayment, createPayout, lookUpPayment, lookUpPayout } from '../methods/selection';
import { newIds, validCall, type Json } from '../support/calls';
import { until } from '../support/latch';
import { CHANNEL, temporaryDatabase, testGateway, testService, type TestClient } from '../support/gateway';
import type {
  FakePaymentService,
  ReceivedRequest,
  Reply,
} from '../support/payment-service/fake-payment-service';
import { CALLBACKS_ONLY, callBack, tokenIn } from './support/harness';

/** Methods whose responses have free texts, fields that tell the payer where to pay, or unknown fields. */
const TYPES = ['card', 'upi', 'c2c', 'qris', 'other'];

type Respond = (request: ReceivedRequest) => Reply;

const notFound: Respond = () => ({ status: 404, json: {} });

/** Responds with `json` about the transaction of the request; about `transactionId` if the request has none. */
const about =
  (json: Json, transactionId: string = randomUUID()): Respond =>
  (request) => {
    const sent = request.json['id'] ?? request.parameters.get('transaction_id');
    return { status: 200, json: { ...json, transaction_id: sent ?? transactionId } };
  };

const AMOUNT = { currency: 'INR', value: '10.00' };

/** Returns a response with the text in every field in which the gateway accepts it. */
const echoOf = (type: string, text: string): Json => ({
  ...echoEverywhere({ type, text, paidTo: true }),
  amount: AMOUNT,
});
const declineWith = (text: string): Json => ({ ...declineOf('upi', text), amount: AMOUNT });

const newPayment = (): Json => ({ ...validCall('createPayment', 'upi').input, ...newIds() });
const newPayout = (): Json => ({ ...validCall('createPayout', 'imps').input, ...newIds() });

const DATABASE_URL = temporaryDatabase();
const folder = path.dirname(DATABASE_URL.slice('file:'.length));
const logLines: string[] = [];
let service: FakePaymentService;
let client: TestClient;
let onPost: Respond;
let onGet: Respond;
let addresses: string[];
/** The spellings of this test's tokens. Digests are ignored, as they do not reveal a token. */
let spellings: ReturnType<typeof spellingsOf>;
const allTokens: string[] = [];

beforeAll(async () => {
  service = await testService();
  service.respond((request) => {
    const address = request.json['callback_url'];
    if (typeof address === 'string') {
      addresses.push(address);
      allTokens.push(tokenIn(address));
      spellings.push(...spellingsOf(tokenIn(address)).filter(({ name }) => !/^(md5|sha)/.test(name)));
    }
    return request.method === 'POST' ? onPost(request) : onGet(request);
  });
  client = await testGateway(service.url, {
    logLines,
    env: {
      ...CALLBACKS_ONLY,
      DATABASE_URL,
      AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
      PAYOUT_PREFLIGHT: 'off',
      SERVICE_TIMEOUT_MS: '2000',
      RATE_LIMIT_PER_MINUTE: '0',
    },
  });
});

beforeEach(() => {
  [addresses, spellings] = [[], []];
  onPost = about({ status: 'processing' });
  onGet = notFound;
});

const lastAddress = (): string => addresses.at(-1) ?? '';

/** Returns the names of the spellings in a text. */
function spellingsIn(bytes: Buffer | string): string[] {
  const text = Buffer.from(bytes).toString('latin1');
  return spellings.filter(({ standsIn }) => standsIn(text)).map(({ name }) => name);
}

/** Sends an operation, expects no token in response and log, and returns the response. */
async function ask(query: string, variables: object): Promise<string> {
  const { text, headers } = await client.request(query, variables);
  expect(spellingsIn(JSON.stringify([...headers]) + text + logLines.splice(0).join(''))).toEqual([]);
  return text;
}

describe.each<[string, (address: string) => string]>([
  ['the callback URL within a sentence', (address) => `Calling ${address}, please wait.`],
  ['the callback URL percent-encoded', encodeURIComponent],
  ['only the token of the callback URL', tokenIn],
])('If the service repeats %s, the callback token', (_what, write) => {
  const written = (): string => write(lastAddress());

  test('is detected by the check that the other tests use', async () => {
    await ask(createPayment('{ __typename }'), { input: newPayment() });
    expect(spellingsIn(written())).not.toEqual([]);
  });

  test('is not in the response to a create', async () => {
    for (const type of ECHOED_TYPES) {
      onPost = (request) => about({ ...echoOf(type, written()), amount: undefined })(request);
      expect(await ask(createPayment(), { input: newPayment() })).toContain('"PaymentSuccess"');
      if (!TYPES.includes(type)) continue;
      expect(await ask(createPayout(), { input: newPayout() })).toContain('"PayoutSuccess"');
    }
  });

  test('is not in the response to a declined create', async () => {
    onPost = (request) => about({ ...declineWith(written()), amount: undefined })(request);
    expect(await ask(createPayment(), { input: newPayment() })).toContain('insufficient funds');
    expect(await ask(createPayout(), { input: newPayout() })).toContain('insufficient funds');
  });

  test('is not in the response after the service sent a rejection, an error or a broken response', async () => {
    const rows = (text: string) => [...refusalsWith(text), ...brokenWith(text)];
    onPost = ({ json }) => {
      const [, reply] = rows(write(String(json['callback_url'])))[Number(json['description'])] ?? [];
      return reply ?? { status: 500 };
    };
    const responses = await Promise.all(
      rows('').map((_row, place) =>
        ask(createPayment(), { input: { ...newPayment(), description: String(place) } }),
      ),
    );
    expect(responses.join()).toContain('"RejectedByServiceError"');
    expect(responses.join()).toContain('"OutcomeUnknownError"');
    // So many broken responses may have opened the circuit breaker.
    onPost = about({ status: 'processing' });
    const create = (): Promise<string> => ask(createPayment('{ __typename }'), { input: newPayment() });
    await until(create, (text) => text.includes('"PaymentSuccess"'));
  });

  test('is not in the response to a create that needs a lookup', async () => {
    for (const type of TYPES) {
      onPost = about({ status: 'failed' });
      onGet = (request) => about(echoOf(type, written()))(request);
      expect(await ask(createPayment(), { input: newPayment() })).toContain('"PaymentSuccess"');
    }
    const now = new Date(Date.now() + 1000).toISOString().replace('Z', '+00:00');
    onGet = (request) => about({ ...echoOf('upi', written()), create_date: now })(request);
    onPost = () => (connection) => connection.reset();
    expect(await ask(createPayment(), { input: newPayment() })).toContain('"replayed":true');
  });

  test('is not in a replay, nor in the lookup of a payment or payout', async () => {
    const [input, transactionId] = [newPayment(), randomUUID()];
    const ids = { channel: CHANNEL, transactionId };
    onPost = about({ status: 'processing' }, transactionId);
    await ask(createPayment('{ __typename }'), { input });
    onGet = (request) => about(echoOf('upi', written()))(request);
    expect(await ask(createPayment(), { input })).toContain('"replayed":true');
    expect(await ask(lookUpPayment(), ids)).toContain(transactionId);
    onGet = (request) => about(declineWith(written()))(request);
    expect(await ask(lookUpPayout(), ids)).toContain(transactionId);
  });
});

test('The journal, the audit log and the log contain no callback token, even after callbacks', async () => {
  onGet = about({ status: 'completed', amount: AMOUNT });
  const keys: string[] = [];
  const before = service.requests.length;
  for (const respond of [about({ status: 'processing' }), (): Reply => ({ status: 400, json: {} })]) {
    onPost = respond;
    const input = newPayment();
    await ask(createPayment('{ __typename }'), { input });
    keys.push(String(input['idempotencyKey']));
    await callBack(client, lastAddress(), JSON.stringify({ callback: lastAddress() }));
    const token = tokenIn(lastAddress());
    for (const target of [`/elsewhere/${token}`, `/callbacks/${token}/more`, `/graphql?token=${token}`])
      await fetch(client.gateway.url + target, { method: 'POST', headers: { 'x-token': token } });
  }
  await until(() => service.requests.slice(before).some(({ method }) => method === 'GET'));
  const files = readdirSync(folder);
  expect(files).toEqual(expect.arrayContaining(['audit.log', 'journal.db', 'journal.db-wal']));
  const contents = Buffer.concat(files.map((name) => readFileSync(path.join(folder, name))));
  const everything = contents.toString('latin1') + logLines.join('');
  for (const key of keys) expect(everything).toContain(key);
  expect(spellingsIn(everything)).toEqual([]);
  expect(allTokens.length).toBeGreaterThan(100);
  expect(allTokens.filter((token) => everything.includes(token))).toEqual([]);
});
