import { AUTHORIZED } from './credentials';

/** The merchant channel of every call here. */
export const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

export type Json = Record<string, unknown>;
export type Kind = 'payment' | 'payout';

/** How a call ended, flattened: a member of the result union, or the first GraphQL error. */
export interface End {
  /** The type's name in the result union. */
  result?: string;
  replayed?: boolean;
  transactionId?: string | null;
  status?: string;
  externalId?: string | null;
  idempotencyKey?: string | null;
  httpStatus?: number;
  fields?: { path: string[]; rule: string }[];
  message?: string;
  /** The code of a GraphQL error. */
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

/** The selection of what tests look at in a result, with these fields of the resource. */
export const resultOf = (kind: Kind, fields: string): string =>
  `__typename ... on ${TYPES[kind]}Success { replayed ${kind} { ... on ${TYPES[kind]}Resource { transactionId status ${fields} } } }
  ${FAILURES}`;

const createOf = (kind: Kind): string => `mutation ($input: Create${TYPES[kind]}Input!) {
  done: create${TYPES[kind]}(input: $input) { ${resultOf(kind, 'externalId')} } }`;

const CREATES: Record<Kind, string> = { payment: createOf('payment'), payout: createOf('payout') };

const CONFIRM = `mutation ($input: ConfirmPaymentInput!) { done: confirmPayment(input: $input) { ${resultOf('payment', 'externalId')} } }`;

/** What the journal knows of an attempt. */
export const RECORDED = `idempotencyKey operation channel externalId outcome startedAt settledAt
  transactionId amount { currency value received } paymentMethod payoutMethod`;

export const ATTEMPT = `${RECORDED}
  payment { ... on PaymentResource { transactionId status } } payout { ... on PayoutResource { transactionId status } }`;

interface Answer {
  data?: { done?: (Json & { __typename: string; payment?: Json; payout?: Json }) | null } | null;
  errors?: {
    extensions: { code: string; retryable: boolean; requestId: string; retryAfterMs?: number };
    message: string;
  }[];
}

const METHODS: Record<Kind, Json> = {
  payment: { upi: { email: 'ann@example.com' } },
  payout: {
    imps: {
      bankCode: 'BANK01',
      accountNumber: '000123456789',
      firstName: 'Ann',
      lastName: 'Payee',
      phone: '+919876543210',
      email: 'ann@example.com',
    },
  },
};

/** A valid create whose external id and description tell its key. */
export const createInput = (kind: Kind, key: string, over: Json = {}): Json => ({
  idempotencyKey: key,
  channel: CHANNEL,
  amount: { currency: 'INR', value: '10.00' },
  externalId: `order ${key}`,
  description: key,
  method: METHODS[kind],
  ...over,
});

/** A caller of a gateway, over HTTP. */
export class Caller {
  readonly url: string;

  /** @param base without a slash at its end */
  constructor(base: string) {
    this.url = `${base}/graphql`;
  }

  create(kind: Kind, key: string, over: Json = {}, signal?: AbortSignal): Promise<End> {
    return this.call(CREATES[kind], createInput(kind, key, over), signal);
  }

  confirm(transactionId: string, confirmation: Json = { upi: { utr: '123456789012' } }): Promise<End> {
    return this.call(CONFIRM, { channel: CHANNEL, transactionId, confirmation });
  }

  async attempt(idempotencyKey: string): Promise<SeenAttempt | null> {
    const { data } = await this.ask<{ attempt: SeenAttempt | null }>(
      `query ($key: ID!) { attempt(idempotencyKey: $key) { ${ATTEMPT} } }`,
      { key: idempotencyKey },
    );
    return data.attempt;
  }

  async call(query: string, input: Json, signal?: AbortSignal): Promise<End> {
    const { data, errors = [] } = await this.ask<Answer['data']>(query, { input }, signal);
    const [error] = errors;
    if (error || !data?.done) {
      const { code = 'NO_ANSWER', ...rest } = error?.extensions ?? { retryable: false };
      return { error: code, ...rest, message: error?.message };
    }
    const { __typename: result, payment, payout, ...facts } = data.done;
    return { result, ...facts, ...payment, ...payout };
  }

  async ask<D>(
    query: string,
    variables: object = {},
    signal?: AbortSignal,
  ): Promise<{ data: D; errors?: Answer['errors'] }> {
    const response = await fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...AUTHORIZED },
      body: JSON.stringify({ query, variables }),
      signal,
    });
    return (await response.json()) as { data: D; errors?: Answer['errors'] };
  }
}
