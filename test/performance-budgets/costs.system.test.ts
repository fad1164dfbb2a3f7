import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { scrape } from '../metrics/support/scrape';
import { createInput as input } from '../support/caller';
import { CHANNEL, testSettings, testService } from '../support/gateway';
import type { FakePaymentService, ReceivedRequest } from '../support/payment-service/fake-payment-service';
import { listening, startWithSlowJournal, type ChildProgram } from '../support/program';
import { post } from '../support/raw';

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

const paymentOf = ({ query, json, method }: ReceivedRequest): object => ({
  status: 'processing',
  transaction_id: /transaction_id=([^&]*)/.exec(query)?.[1] ?? randomUUID(),
  channel: CHANNEL,
  amount: json['amount'] ?? { currency: 'INR', value: '10.00' },
  redirect_url: 'https://pay.example/page',
  payment_method: { type: 'upi', ...(method === 'GET' && { upi_id: 'payee@upi', state: 'waiting_for_utr' }) },
  create_date: '2030-01-01T00:00:00.000000+00:00',
});

const createInput = (): object => ({ ...input('payment', randomUUID()), method: { redirect: 'UPI' } });

const page = (): string[] =>
  Array<string[]>(10)
    .fill(Array.from({ length: 10 }, () => randomUUID()))
    .flat();

/** The round with the fewest promises counts: background jobs create promises too, more of them on a slow machine. */
const ROUNDS = 3;
const RUNS = 20;

let service: FakePaymentService;
let program: ChildProgram;
let base: string;
let readings = 0;

beforeAll(async () => {
  service = await testService((request) => ({
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
  program = startWithSlowJournal(settings, ['--require', counter]);
  base = await listening(program);
});

/** Returns the number of promises that the gateway has created so far. */
async function promisesMade(): Promise<number> {
  readings += 1;
  program.signal('SIGUSR2');
  const [, promises] = await program.printed(new RegExp(`count ${readings}: (\\d+) promises`));
  return Number(promises);
}

async function journalWrites(): Promise<number> {
  const metrics = await scrape(base);
  const NAME = 'paygraph_journal_call_duration_seconds_count';
  return metrics.sum(NAME, { call: 'insertAttempt' }) + metrics.sum(NAME, { call: 'recordOutcome' });
}

describe('A compiled operation', () => {
  // The numbers of promises were measured; 25 % more are allowed.
  test.each([
    {
      what: 'a lookup',
      cost: { requests: 1, writes: 0, promises: 62 },
      query: LOOKUP,
      variables: () => ({ channel: CHANNEL, id: randomUUID() }),
    },
    {
      what: 'a list lookup of 10 payments',
      cost: { requests: 10, writes: 0, promises: 578 },
      query: PAGE,
      variables: () => ({ channel: CHANNEL, ids: page() }),
    },
    {
      what: 'no lookup or create',
      cost: { requests: 0, writes: 0, promises: 24 },
      query: '{ __typename }',
      variables: () => ({}),
    },
    {
      what: 'a create',
      cost: { requests: 1, writes: 2, promises: 116 },
      query: CREATE,
      variables: () => ({ input: createInput() }),
    },
  ])(
    'with $what sends $cost.requests request(s) to the service, writes $cost.writes time(s) to the journal and creates about $cost.promises promises',
    async ({ cost, query, variables }) => {
      const send = async (): Promise<void> => {
        const { errors } = await post(`${base}/graphql`, JSON.stringify({ query, variables: variables() }));
        expect(errors).toBeUndefined();
      };
      // Repeated, so that the gateway compiles the operation.
      for (let run = 0; run < 5; run += 1) await send();
      const [writes, requests] = [await journalWrites(), service.requests.length];
      const made: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const before = await promisesMade();
        for (let run = 0; run < RUNS; run += 1) await send();
        made.push((await promisesMade()) - before);
      }
      expect(Math.min(...made)).toBeLessThanOrEqual(RUNS * cost.promises * 1.25);
      expect(service.requests.length - requests).toBe(ROUNDS * RUNS * cost.requests);
      expect((await journalWrites()) - writes).toBe(ROUNDS * RUNS * cost.writes);
    },
  );
});
