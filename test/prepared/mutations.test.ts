import { randomUUID } from 'node:crypto';
import { createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { DOCUMENTS, accepted, validCall, type Mutation } from '../gateway/fixtures/calls';
import { clientKeysFile } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import type { Reply, SeenRequest } from '../support/scripted-service';
import { BothWays, type Told } from './support/both-ways';

/** Calls that move money, by both ways: what the caller gets, what the service gets, and what stands on record. */

const READER = { authorization: 'Bearer pgk_reader-0123456789abcdef0123' };
const NO_CARDS = { authorization: 'Bearer pgk_nocards-0123456789abcdef012' };
const ELSEWHERE = { authorization: 'Bearer pgk_elsewhere-0123456789abcdef0' };
const keyOf = ({ authorization }: { authorization: string }): string => authorization.slice('Bearer '.length);

const MUTATIONS = ['createPayment', 'createPayout', 'confirmPayment'] as const;

let ways: BothWays;

/** A lookup by id finds a payment that waits for its UTR; nothing is found by external id, as nothing is kept. */
function tell({ query }: SeenRequest): Reply {
  const [, id] = /transaction_id=([^&]*)/.exec(query) ?? [];
  const payment_method = { type: 'upi', state: 'waiting_for_utr' };
  if (!id) return { status: 404, json: {} };
  return { status: 200, json: { status: 'processing', transaction_id: id, payment_method } };
}

const byLedger = (request: SeenRequest): Reply =>
  request.method === 'POST' ? accepted(request) : tell(request);

beforeAll(async () => {
  ways = await BothWays.start({
    CLIENT_KEYS_FILE: clientKeysFile(
      { id: 'reader', key: keyOf(READER), scopes: ['payments:read', 'payouts:read'] },
      {
        id: 'no-cards',
        key: keyOf(NO_CARDS),
        scopes: ['payments:create', 'payouts:create', 'payments:confirm'],
      },
      { id: 'elsewhere', key: keyOf(ELSEWHERE), channels: ['11111111-2222-4333-8444-555555555555'] },
    ),
  });
  ways.service.answer(byLedger);
  for (const mutation of MUTATIONS) {
    for (let count = 0; count < 2; count += 1)
      await ways.ask({ body: { query: DOCUMENTS[mutation], variables: inputOf(mutation) } });
  }
});

beforeEach(() => ways.service.answer(byLedger));

/** An input that is valid, and of a transaction that no other has. */
const inputOf = (mutation: Mutation): { input: Record<string, unknown> } =>
  mutation === 'confirmPayment'
    ? { input: { ...validCall(mutation, 'upi').input, transactionId: randomUUID() } }
    : { input: validCall(mutation, 'other').input };

/**
 * What the two ways tell, but for what each call makes up of its own: keys, ids, and the length of those. Calls that follow
 * up what became of others are theirs; how often a lookup is tried is left to chance.
 */
function alike(told: Told, input: Record<string, unknown>): unknown {
  const headers = told.headers.filter(([name]) => !/content-length/i.test(name));
  const own = [input['idempotencyKey'], input['externalId']].map(String).filter((text) => text !== '');
  const calls = told.calls.filter((call) => !/external_id=/.test(call) || call.includes(`=${own[1]} `));
  const hidden = own.reduce(
    (text, value) => text.replaceAll(value, '(own)'),
    JSON.stringify({ ...told, headers, calls: [...new Set(calls)] }),
  );
  return JSON.parse(hidden.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '(id)'));
}

interface Case {
  mutation: Mutation;
  input?: (input: Record<string, unknown>) => Record<string, unknown>;
  reply?: (request: SeenRequest) => Reply;
  headers?: Record<string, string>;
}

async function expectSame({ mutation, input = (given) => given, reply, headers = {} }: Case): Promise<Told> {
  if (reply) ways.service.answer((request) => (request.method === 'POST' ? reply(request) : tell(request)));
  const first = { input: input(inputOf(mutation).input) };
  const second = { input: input(inputOf(mutation).input) };
  const body = { query: DOCUMENTS[mutation] };
  const byApollo = await ways.askApollo({ headers, body: { ...body, variables: first } });
  const byPrepared = await ways.byPrepared({ ...body, variables: second }, headers);
  expect(alike(byPrepared, second.input)).toEqual(alike(byApollo, first.input));
  return byPrepared;
}

const declined = ({ json }: SeenRequest): Reply => ({
  status: 201,
  json: {
    status: 'failed',
    transaction_id: json['id'] ?? randomUUID(),
    error: { code: 'DECLINED_GENERIC', message: 'No.' },
  },
});

describe.each(MUTATIONS)('%s', (mutation) => {
  test('succeeds by both ways the same, and is on record the same', async () => {
    const told = await expectSame({ mutation });
    expect(told.body).toMatch(/Pay(ment|out)Success/);
    expect(told.audit).toHaveLength(1);
    expect(told.calls.filter((call) => call.startsWith('POST'))).toHaveLength(1);
  });

  test.each<[string, (request: SeenRequest) => Reply, RegExp]>([
    ['declines', declined, /Success/],
    ['refuses', () => ({ status: 400, json: { amount: ['Too much.'] } }), /RejectedByServiceError/],
    ['answers with a fault', () => ({ status: 500, json: {} }), /OutcomeUnknownError/],
    ['answers with what is no answer', () => ({ status: 201, body: '<html>' }), /OutcomeUnknownError/],
    ['does not know the gateway', () => ({ status: 401, json: {} }), /SERVICE_AUTH_FAILED|Error/],
  ])('ends the same where the service %s', async (_what, reply, expected) => {
    expect((await expectSame({ mutation, reply })).body).toMatch(expected);
  });

  test('is refused the same to a caller without the scope', async () => {
    const told = await expectSame({ mutation, headers: READER });
    expect(told.body).toContain('FORBIDDEN');
    expect(told.audit).toHaveLength(1);
    expect(told.calls).toEqual([]);
  });

  test('is refused the same to a caller of another channel', async () => {
    const told = await expectSame({ mutation, headers: ELSEWHERE });
    expect(told.body).toContain('FORBIDDEN');
    expect(told.calls).toEqual([]);
  });

  test('is refused the same for its input, and nothing of that is repeated', async () => {
    const secret = '4111 1111 1111 1111';
    for (const wrong of [
      { channel: secret },
      { amount: secret },
      { transactionId: secret },
      { nosuch: secret },
    ]) {
      const input = { ...inputOf(mutation).input, ...wrong };
      const body = { query: DOCUMENTS[mutation], variables: { input } };
      const byApollo = await ways.askApollo({ body });
      const { told } = await ways.ask({ body });
      expect(told).toEqual(byApollo);
      expect(JSON.stringify(told)).not.toContain(secret);
      expect(told.calls).toEqual([]);
    }
  });
});

test.each(['createPayment', 'createPayout'] as const)(
  'the rules of %s refuse the same, as members of the result',
  async (mutation) => {
    const told = await expectSame({ mutation, input: (input) => ({ ...input, externalId: '' }) });
    expect(told.body).toContain('InvalidInputError');
    expect(told.audit).toHaveLength(1);
  },
);

test('a full card number needs its scope by the prepared way too, and stands nowhere', async () => {
  const input = (given: Record<string, unknown>): Record<string, unknown> => ({
    ...given,
    amount: { currency: 'EUR', value: '10.00' },
    method: validCall('createPayment', 'card').input['method'],
  });
  const refused = await expectSame({ mutation: 'createPayment', input, headers: NO_CARDS });
  expect(refused.body).toContain('FORBIDDEN');
  const done = await expectSame({ mutation: 'createPayment', input });
  expect(done.body).toContain('PaymentSuccess');
  for (const { body, log, audit } of [refused, done])
    expect(JSON.stringify({ body, log, audit })).not.toMatch(/4111111111111111|"737"/);
});

test.each(['createPayment', 'createPayout'] as const)(
  'the same key again is answered the same, and with another input is a conflict: %s',
  async (mutation) => {
    const { input } = inputOf(mutation);
    const ask = (variables: object) => ways.byPrepared({ query: DOCUMENTS[mutation], variables });
    expect((await ask({ input })).body).toContain('"replayed":false');
    const again = await ask({ input });
    expect(again.body).toContain('"replayed":true');
    expect(again.calls.filter((call) => call.startsWith('POST'))).toEqual([]);
    const other = { ...input, amount: { currency: 'USD', value: '11.00' } };
    expect((await ask({ input: other })).body).toContain('IdempotencyConflictError');
  },
);

test.each(['createPayment', 'createPayout'] as const)(
  'the same key twenty times at once makes one transaction at the service: %s',
  async (mutation) => {
    const { input } = inputOf(mutation);
    const before = ways.service.seen.length;
    const asked = Array.from({ length: 20 }, () =>
      ways.client.ask(DOCUMENTS[mutation], { input }).then(({ text }) => text),
    );
    const answers = await Promise.all(asked);
    const posts = ways.service.seen.slice(before).filter(({ method }) => method === 'POST');
    expect(posts).toHaveLength(1);
    expect(answers.filter((text) => text.includes('"replayed":false'))).toHaveLength(1);
    for (const text of answers) expect(text).toMatch(/Success|RequestInProgressError/);
  },
);

test('two mutations in one operation are refused, also where each alone is prepared', async () => {
  const query = `mutation Two($input: CreatePaymentInput!) {
    a: createPayment(input: $input) { __typename } b: createPayment(input: $input) { __typename } }`;
  const variables = { input: createInput('payment', newKey()) };
  for (let count = 0; count < 4; count += 1) {
    const { told, isPrepared } = await ways.ask({ body: { query, variables } });
    expect([isPrepared, told.status, told.calls, told.audit]).toEqual([false, 400, [], []]);
  }
});

test('of two mutations in one document the one that is named is carried out, and no other', async () => {
  const query = `mutation Pay($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }
    mutation Confirm($confirm: ConfirmPaymentInput!) { confirmPayment(input: $confirm) { __typename } }`;
  const ask = (operationName: string, variables: object) =>
    ways.ask({ body: { query, variables, operationName } });
  for (let count = 0; count < 3; count += 1) {
    const pay = await ask('Pay', { input: createInput('payment', newKey()) });
    const confirm = await ask('Confirm', { confirm: inputOf('confirmPayment').input });
    expect([pay.isPrepared, confirm.isPrepared]).toEqual([count === 2, count === 2]);
    const paths = [pay, confirm].map(({ told }) =>
      told.calls.filter((call) => call.startsWith('POST')).map((call) => call.split(' ')[1]),
    );
    expect(paths).toEqual([['/api/v1/payment/'], ['/api/v1/payment/confirm/']]);
  }
});

test('a mutation that is prepared is not carried out by GET', async () => {
  const search = `?${new URLSearchParams({
    query: DOCUMENTS.createPayment,
    variables: JSON.stringify(inputOf('createPayment')),
  })}`;
  const headers = { 'apollo-require-preflight': '1', 'content-type': undefined };
  const { told } = await ways.ask({ method: 'GET', search, headers });
  expect([told.status, told.calls, told.audit]).toEqual([405, [], []]);
});

test.each(['createDate redirectUrl', 'createDate nextAction { __typename }'])(
  'what a mutation created is looked up once for all that is selected of it, and is on record once: %s',
  async (selected) => {
    const query = `mutation Create($input: CreatePaymentInput!) { createPayment(input: $input) {
      ... on PaymentSuccess { payment { ... on PaymentResource { amount { value } ${selected} } } } } }`;
    // Short answers: what is selected of them arrives late.
    const created: string[] = [];
    ways.service.answer((request) => {
      if (request.method !== 'POST') return tell(request);
      created.push(randomUUID());
      return { status: 201, json: { status: 'processing', transaction_id: created.at(-1) } };
    });
    const ask = async (): Promise<{ costs: [calls: number, lines: number]; isPrepared: boolean }> => {
      const before = ways.service.seen.length;
      const input = createInput('payment', newKey(), { channel: CHANNEL });
      const { told, isPrepared } = await ways.ask({ body: { query, variables: { input } } });
      // What earlier tests left unknown is looked up meanwhile.
      const calls = ways.service.seen
        .slice(before)
        .filter(({ method, query: asked }) => method === 'POST' || created.some((id) => asked.includes(id)));
      return { costs: [calls.length, told.audit.length], isPrepared };
    };
    const asked = [await ask(), await ask(), await ask(), await ask()];
    expect(asked.map(({ costs }) => costs)).toEqual(Array(4).fill([2, 1]));
    expect(asked.map(({ isPrepared }) => isPrepared)).toEqual([false, false, true, true]);
  },
);
