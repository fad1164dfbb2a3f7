import { randomUUID } from 'node:crypto';
import { CHANNEL, resultOf, type Json, type Kind } from './caller';
import type { GraphqlResult, TestClient } from './gateway';
import type { Reply, ReceivedRequest } from './payment-service/fake-payment-service';

const document = (mutation: string, input: string, kind: Kind): string =>
  `mutation Call($input: ${input}!) { ${mutation}(input: $input) { ${resultOf(kind, 'rawStatus')} } }`;

export const DOCUMENTS = {
  createPayment: document('createPayment', 'CreatePaymentInput', 'payment'),
  createPayout: document('createPayout', 'CreatePayoutInput', 'payout'),
  confirmPayment: document('confirmPayment', 'ConfirmPaymentInput', 'payment'),
} as const;

export type Mutation = keyof typeof DOCUMENTS;

export type { Json };

export interface MutationCall {
  mutation: Mutation;
  input: Json;
}

export interface MutationResult {
  __typename: string;
  replayed?: boolean;
  code?: string;
  message?: string;
  httpStatus?: number;
  fields?: { path: string[]; rule: string; message: string }[];
  idempotencyKey?: string | null;
  externalId?: string | null;
  transactionId?: string | null;
  payment?: { transactionId: string; status: string };
  payout?: { transactionId: string; status: string };
}

export interface MutationResponse extends Omit<GraphqlResult<unknown>, 'data'> {
  /** Undefined if the call ended with a GraphQL error. */
  result: MutationResult | undefined;
}

export async function sendCall(
  client: TestClient,
  { mutation, input }: MutationCall,
): Promise<MutationResponse> {
  type Data = Partial<Record<Mutation, MutationResult>> | null;
  const response = await client.request<Data>(DOCUMENTS[mutation], { input });
  return { ...response, result: response.data?.[mutation] ?? undefined };
}

/** Returns a copy with another value at a path; undefined leaves the field out. */
export function withValue(input: Json, path: readonly string[], value: unknown): Json {
  const [head = '', ...rest] = path;
  const inner = input[head];
  const nested = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  return { ...input, [head]: rest.length === 0 ? value : withValue(nested, rest, value) };
}

export const TRANSACTION_ID = '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11';

/** Returns the shortest response of the service to a create or a confirm (spec 2.3). */
export const accepted = ({ json }: Pick<ReceivedRequest, 'json'>): Reply => ({
  status: 201,
  json: { status: 'processing', transaction_id: json['id'] ?? randomUUID() },
});

let calls = 0;

export function newIds(): { idempotencyKey: string; externalId: string } {
  calls += 1;
  return { idempotencyKey: `key-${calls}`, externalId: `order-${calls}` };
}

const base = (currency: string, method: Json): Json => ({
  ...newIds(),
  channel: CHANNEL,
  amount: { currency, value: '10.00' },
  method,
});

const EXPIRY = { expiryMonth: '12', expiryYear: '2099' };
const CARD = { pan: '4111111111111111', ...EXPIRY, cvc: '737', cardholder: 'Ann Payer' };
const BANGLADESH = { firstName: 'Ann', surname: 'Payer', phone: '+8801711111111', email: 'ann@example.com' };
const NAMES = { firstName: 'Ann', lastName: 'Payer' };
const BANK = { bankCode: 'BANK01', accountNumber: '00012345', ...NAMES };

const PAYMENT_VARIANTS: Record<string, [currency: string, fields: Json]> = {
  card: ['EUR', CARD],
  upi: ['INR', { email: 'ann@example.com' }],
  dcb: ['KZT', { userId: 'user-1' }],
  jazzCash: ['PKR', { account: '03001234567' }],
  easyPaisa: ['PKR', { account: '03001234567' }],
  virtualAccount: ['IDR', { bankCode: 'bca', accountNumber: '00012345' }],
  ewallet: ['IDR', { ewallet: 'ovo' }],
  c2c: ['KZT', { firstName: 'Ann' }],
  bkash: ['BDT', BANGLADESH],
  nagad: ['BDT', BANGLADESH],
  rocket: ['BDT', BANGLADESH],
  havale: ['TRY', { fields: { user_id: 'user-1' } }],
  other: ['USD', { fields: { anything: 'goes' } }],
};

const PAYOUT_VARIANTS: Record<string, [currency: string, fields: Json]> = {
  bankTransfer: ['EUR', { ...BANK, bankName: 'First Bank' }],
  imps: ['INR', { ...BANK, phone: '+919876543210', email: 'ann@example.com' }],
  easyPaisa: ['PKR', { accountNumber: '03001234567' }],
  jazzCash: ['PKR', { accountNumber: '03001234567' }],
  dcb: ['KZT', { phone: '+77011234567', ...NAMES }],
  bkash: ['BDT', { accountNumber: '01711111111' }],
  nagad: ['BDT', { accountNumber: '01711111111' }],
  rocket: ['BDT', { accountNumber: '01711111111' }],
  card: ['KZT', { pan: '4111111111111111' }],
  other: ['USD', { type: 'new_method', fields: { anything: 'goes' } }],
};

const CONFIRMATIONS: Record<string, Json | string> = {
  upi: { utr: '123456789012' },
  dcb: { code: '1234' },
  bkash: { code: '1234' },
  nagad: { code: '1234' },
  rocket: { code: '1234' },
  c2c: 'TRANSFER_MADE',
};

const confirmationOf = (variant: string): Json => ({
  channel: CHANNEL,
  transactionId: TRANSACTION_ID,
  confirmation: { [variant]: CONFIRMATIONS[variant] },
});

export function validCall(mutation: Mutation, variant: string): MutationCall {
  if (mutation === 'confirmPayment') return { mutation, input: confirmationOf(variant) };
  const [currency, fields] = (mutation === 'createPayment' ? PAYMENT_VARIANTS : PAYOUT_VARIANTS)[variant] ?? [
    'EUR',
    {},
  ];
  return { mutation, input: base(currency, { [variant]: fields }) };
}

export const VARIANTS: Record<Mutation, string[]> = {
  createPayment: Object.keys(PAYMENT_VARIANTS),
  createPayout: Object.keys(PAYOUT_VARIANTS),
  confirmPayment: Object.keys(CONFIRMATIONS).filter((variant) => typeof CONFIRMATIONS[variant] === 'object'),
};

export const variantPath = (mutation: Mutation, variant: string): string[] => [
  mutation === 'confirmPayment' ? 'confirmation' : 'method',
  variant,
];

export const redirectCall = (method: string, currency = 'EUR'): MutationCall => ({
  mutation: 'createPayment',
  input: base(currency, { redirect: method }),
});

export const typeOnlyCall = (method: string, currency = 'EUR'): MutationCall => ({
  mutation: 'createPayout',
  input: base(currency, { typeOnly: method }),
});
