import { AUTHORIZED } from './credentials';
import { until } from './latch';

export const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

export type Json = Record<string, unknown>;
export type Kind = 'payment' | 'payout';

/** The result of a call as one object: the member of the result union, or the first GraphQL error. */
export interface CallResult {
  result?: string;
  replayed?: boolean;
  transactionId?: string | null;
  status?: string;
  externalId?: string | null;
  idempotencyKey?: string | null;
  httpStatus?: number;
  fields?: { path: string[]; rule: string }[];
  message?: string;
  error?: string;
  retryable?: boolean;
  retryAfterMs?: number;
}

export interface SeenAttempt extends Json {
  idempotencyKey: string;
  externalId: string;
  outcome: string;
  startedAt: string;
  transactionId: string | null;
  payment: { transactionId: string; status: string } | null;
  payout: { transactionId: string; status: string } | null;
}

const FAILURES = `
  ... on UserError { code message }
  ... on InvalidInputError { fields { path rule message } }
  ... on RejectedByServiceError { httpStatus }
  ... on RequestInProgressError { retryAfterMs }
  ... on OutcomeUnknownError { idempotencyKey externalId transactionId }`;

const TYPES: Record<Kind, string> = { payment: 'Payment', payout: 'Payout' };

/** Returns the selection of a mutation's result, with these fields of the resource. */
export const resultOf = (kind: Kind, fields: string): string =>
  `__typename ... on ${TYPES[kind]}Success { replayed ${kind} { ... on ${TYPES[kind]}Resource { transactionId status ${fields} } } }
  ${FAILURES}`;

const createOf = (kind: Kind): string => `mutation ($input: Create${TYPES[kind]}Input!) {
  done: create${TYPES[kind]}(input: $input) { ${resultOf(kind, 'externalId')} } }`;

const CREATES: Record<Kind, string> = { payment: createOf('payment'), payout: createOf('payout') };

const CONFIRM = `mutation ($input: ConfirmPaymentInput!) { done: confirmPayment(input: $input) { ${resultOf('payment', 'externalId')} } }`;

export const RECORDED = `idempotencyKey operation channel externalId outcome startedAt settledAt
  transactionId amount { currency value received } paymentMethod payoutMethod`;

export const ATTEMPT = `${RECORDED}
  payment { ... on PaymentResource { transactionId status } } payout { ... on PayoutResource { transactionId status } }`;

interface GraphqlBody {
  data?: { done?: (Json & { __typename: string; payment?: Json; payout?: Json }) | null } | null;
  errors?: {
    extensions: { code: string; retryable: boolean; requestId: string; retryAfterMs?: number };
    message: string;
  }[];
}

const PAYEE = { bankCode: 'BANK01', accountNumber: '000123456789', firstName: 'Ann', lastName: 'Payee' };

const METHODS: Record<Kind, Json> = {
  payment: { upi: { email: 'ann@example.com' } },
  payout: { imps: { ...PAYEE, phone: '+919876543210', email: 'ann@example.com' } },
};

/** Returns the input of a valid create whose external id and description contain its key. */
export const createInput = (kind: Kind, key: string, over: Json = {}): Json => ({
  idempotencyKey: key,
  channel: CHANNEL,
  amount: { currency: 'INR', value: '10.00' },
  externalId: `order ${key}`,
  description: key,
  method: METHODS[kind],
  ...over,
});

/** Repeats a call while a busy gateway or journal refuses it, or the first call with its key is in flight. */
export const untilAccepted = (call: () => Promise<CallResult>): Promise<CallResult> =>
  until(call, ({ error, result }) => error !== 'SERVICE_UNAVAILABLE' && result !== 'RequestInProgressError');

export class Caller {
  readonly url: string;

  constructor(base: string) {
    this.url = `${base}/graphql`;
  }

  create(kind: Kind, key: string, over: Json = {}, signal?: AbortSignal): Promise<CallResult> {
    return this.call(CREATES[kind], createInput(kind, key, over), signal);
  }

  confirm(transactionId: string, confirmation: Json = { upi: { utr: '123456789012' } }): Promise<CallResult> {
    return this.call(CONFIRM, { channel: CHANNEL, transactionId, confirmation });
  }

  async attempt(idempotencyKey: string): Promise<SeenAttempt | null> {
    const { data } = await this.request<{ attempt: SeenAttempt | null }>(
      `query ($key: ID!) { attempt(idempotencyKey: $key) { ${ATTEMPT} } }`,
      { key: idempotencyKey },
    );
    return data.attempt;
  }

  async call(query: string, input: Json, signal?: AbortSignal): Promise<CallResult> {
    const { data, errors = [] } = await this.request<GraphqlBody['data']>(query, { input }, signal);
    const [error] = errors;
    if (error || !data?.done) {
      const { code = 'NO_ANSWER', ...rest } = error?.extensions ?? { retryable: false };
      return { error: code, ...rest, message: error?.message };
    }
    const { __typename: result, payment, payout, ...facts } = data.done;
    return { result, ...facts, ...payment, ...payout };
  }

  async request<D>(
    query: string,
    variables: object = {},
    signal?: AbortSignal,
  ): Promise<{ data: D; errors?: GraphqlBody['errors'] }> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...AUTHORIZED },
      body: JSON.stringify({ query, variables }),
      signal,
    });
    return (await response.json()) as { data: D; errors?: GraphqlBody['errors'] };
  }
}
