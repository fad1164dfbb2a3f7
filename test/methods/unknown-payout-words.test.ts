import { openBench, type Bench } from './bench';
import type { Json } from './golden-bodies';
import { createPayout, lookUpPayout } from './selection';

const channel = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const transactionId = 'b1a9e0c4-52d7-4c36-8a1f-0c9d2e7b6f02';

const PAYOUT = {
  status: 'failed',
  transaction_id: transactionId,
  method: 'imps',
  external_id: 'p-1',
  error: { code: 'DECLINED_GENERIC', message: 'No' },
};

const payouts: [string, Json, Json][] = [
  [
    'a status',
    { status: 'returned' },
    { status: 'UNKNOWN', rawStatus: 'returned', __typename: 'ImpsPayout' },
  ],
  ['the status of payments alone', { status: 'mispaid' }, { status: 'UNKNOWN', rawStatus: 'mispaid' }],
  ['a method', { method: 'crypto' }, { __typename: 'OtherPayout', method: 'OTHER', type: 'crypto' }],
  ['no method', { method: null }, { __typename: 'OtherPayout', method: 'OTHER', type: null }],
  ['a method of payments only', { method: 'upi' }, { __typename: 'OtherPayout', type: 'upi' }],
  [
    'an error code',
    { error: { code: 'X', message: 'Y' } },
    { error: { code: 'UNKNOWN', rawCode: 'X', message: 'Y', reason: null } },
  ],
  ['no external id', { external_id: null }, { externalId: null, error: { code: 'DECLINED_GENERIC' } }],
];

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

test.each(payouts)('a payout is read although its answer has %s', async (_what, said, expected) => {
  bench.answers({ get: { status: 200, json: { ...PAYOUT, ...said } } });
  const { data, errors } = await bench.gateway.ask(lookUpPayout(), { channel, transactionId });
  expect(errors).toBeUndefined();
  expect(data).toMatchObject({ payout: { transactionId, ...expected } });
});

test('a payout just created is not lost although its answer has an unknown status', async () => {
  bench.answers({
    post: { status: 201, json: { status: 'queued', transaction_id: transactionId, external_id: null } },
  });
  const method = {
    imps: {
      bankCode: 'HDFC0000001',
      firstName: 'A',
      lastName: 'R',
      phone: '919876543210',
      email: 'a@example.in',
      accountNumber: '50100012345678',
    },
  };
  const input = {
    idempotencyKey: 'k',
    channel,
    amount: { currency: 'INR', value: '1' },
    externalId: 'p-1',
    method,
  };
  const { data, errors } = await bench.gateway.ask(createPayout(), { input });
  expect(errors).toBeUndefined();
  expect(data).toMatchObject({
    createPayout: {
      payout: { __typename: 'ImpsPayout', status: 'UNKNOWN', rawStatus: 'queued', externalId: 'p-1' },
    },
  });
});
