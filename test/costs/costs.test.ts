import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { listening, startProgram, CHECKOUT, type Program } from '../gateway/fixtures/program';
import { post } from '../gateway/fixtures/raw';
import { CHANNEL, testSettings } from '../support/gateway';
import { scriptedService, type ScriptedService, type SeenRequest } from '../support/scripted-service';

/**
 * What an operation costs, in counts that are the same on every machine. The bars are what was measured when they were
 * written: who makes it cheaper lowers them, and who makes it dearer has to say why (docs/benchmarks.md). Of a create, six
 * promises are for its slot towards the service, which it takes before it is recorded.
 */
const PROMISES = { lookup: 54, page: 578, tiny: 17, create: 116 };

jest.setTimeout(180_000);

const SELECTION = `{
  __typename
  ... on PaymentResource { transactionId channel status amount { currency value received } redirectUrl createDate }
  ... on UpiPayment { upiId upiLink state email firstName lastName phone }
}`;
const LOOKUP = `query Lookup($channel: UUID!, $id: UUID!) { payment(channel: $channel, transactionId: $id) ${SELECTION} }`;
const PAGE = `query Page($channel: UUID!, $ids: [UUID!]!) { payments(channel: $channel, transactionIds: $ids) ${SELECTION} }`;
const CREATE = `mutation Create($input: CreatePaymentInput!) {
  createPayment(input: $input) { __typename ... on PaymentSuccess { payment ${SELECTION} } ... on UserError { code } }
}`;

const paymentOf = ({ query, json, method }: SeenRequest): object => ({
  status: 'processing',
  transaction_id: /transaction_id=([^&]*)/.exec(query)?.[1] ?? randomUUID(),
  channel: CHANNEL,
  amount: json['amount'] ?? { currency: 'INR', value: '10.00' },
  redirect_url: 'https://pay.example/page',
  payment_method: { type: 'upi', ...(method === 'GET' && { upi_id: 'payee@upi', state: 'waiting_for_utr' }) },
  create_date: '2030-01-01T00:00:00.000000+00:00',
});

let service: ScriptedService;
let program: Program;
let url: string;
let counts = 0;

beforeAll(async () => {
  service = await scriptedService((request) => ({
    status: request.method === 'POST' ? 201 : 200,
    json: paymentOf(request),
  }));
  const settings = {
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: 'costs-api-key-4711',
    SERVICE_SECRET_KEY: 'costs-secret-key-4712',
    RATE_LIMIT_PER_MINUTE: '1000000',
  };
  const counter = path.join(__dirname, 'support/count-promises.cjs');
  program = startProgram(settings, CHECKOUT, ['--require', counter]);
  url = `${await listening(program)}/graphql`;
});

/** How many promises the program has made. */
async function promisesSoFar(): Promise<number> {
  counts += 1;
  program.signal('SIGUSR2');
  const [, promises] = await program.printed(new RegExp(`count ${counts}: (\\d+) promises`));
  return Number(promises);
}

async function ask(query: string, variables?: object): Promise<unknown> {
  const { data, errors } = await post(url, JSON.stringify({ query, variables }));
  expect(errors).toBeUndefined();
  return data;
}

const TIMES = 100;

/** The promises and the calls to the service that one of many operations makes, once it is known. */
async function costsOf(operation: () => Promise<unknown>): Promise<{ promises: number; calls: number }> {
  for (let warmUp = 0; warmUp < 5; warmUp += 1) await operation();
  const before = { promises: await promisesSoFar(), calls: service.seen.length };
  for (let time = 0; time < TIMES; time += 1) await operation();
  const promises = (await promisesSoFar()) - before.promises;
  // What the program does beside is less than one promise for each.
  return { promises: Math.round(promises / TIMES), calls: (service.seen.length - before.calls) / TIMES };
}

const createInput = (): object => ({
  idempotencyKey: randomUUID(),
  channel: CHANNEL,
  amount: { currency: 'INR', value: '10.00' },
  method: { redirect: 'UPI' },
  returnUrl: 'https://shop.example/back',
});

describe('Once it is known', () => {
  test('a lookup makes one call, and few promises', async () => {
    const costs = await costsOf(() => ask(LOOKUP, { channel: CHANNEL, id: randomUUID() }));
    expect(costs.calls).toBe(1);
    expect(costs.promises).toBeLessThanOrEqual(PROMISES.lookup);
  });

  test('a page of 100 places makes a call for each of its 10 payments, and few promises for each', async () => {
    const costs = await costsOf(() => {
      const distinct = Array.from({ length: 10 }, () => randomUUID());
      return ask(PAGE, {
        channel: CHANNEL,
        ids: Array.from({ length: 100 }, (_, place) => distinct[place % 10]),
      });
    });
    expect(costs.calls).toBe(10);
    expect(costs.promises).toBeLessThanOrEqual(PROMISES.page);
  });

  test('what needs no payment makes no call, and few promises', async () => {
    const costs = await costsOf(() => ask('{ __typename }'));
    expect(costs.calls).toBe(0);
    expect(costs.promises).toBeLessThanOrEqual(PROMISES.tiny);
  });

  test('a create makes one call', async () => {
    const costs = await costsOf(() => ask(CREATE, { input: createInput() }));
    expect(costs.calls).toBe(1);
    expect(costs.promises).toBeLessThanOrEqual(PROMISES.create);
  });
});
