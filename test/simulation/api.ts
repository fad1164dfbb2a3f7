import { execute, parse, type DocumentNode, type ExecutionResult } from 'graphql';
import { UNAUTHENTICATED_CALLER } from '../../src/auth/caller';
import type { Operations } from '../../src/core';
import { ServiceError } from '../../src/datasources/payment-service/service-error';
import type { AuditEntry } from '../../src/observability/audit/audit-log';
import { buildGatewaySchema } from '../../src/resolvers';
import { CallerBulkheads } from '../../src/datasources/payment-service/http/resilience';
import { OperationContext } from '../../src/resolvers/context';
import type { Kind } from '../support/payment-service/ledger';

const schema = buildGatewaySchema();

const createDocument = (type: 'Payment' | 'Payout', field: string): DocumentNode =>
  parse(`mutation ($input: Create${type}Input!) { done: create${type}(input: $input) {
    __typename ... on ${type}Success { replayed ${field} { ... on ${type}Resource { transactionId channel } } }
    ... on InvalidInputError { fields { rule } } } }`);

const DOCUMENTS = {
  payment: createDocument('Payment', 'payment'),
  payout: createDocument('Payout', 'payout'),
  confirm: parse(`mutation ($input: ConfirmPaymentInput!) { done: confirmPayment(input: $input) {
    __typename ... on PaymentSuccess { replayed payment { ... on PaymentResource { transactionId } } } } }`),
};

/** The result that a caller of the API receives: a member of the result union, or an error. */
export interface Answer {
  /** Type of the result; the kind of the error. */
  result: string;
  isError: boolean;
  replayed?: boolean | undefined;
  transactionId?: string | undefined;
  rules: string[];
  audit: AuditEntry[];
}

interface Done {
  __typename: string;
  replayed?: boolean;
  payment?: { transactionId: string };
  payout?: { transactionId: string };
  fields?: { rule: string }[];
}

/** Executes a mutation through the public schema, its access checks and its audit log. */
export async function call(
  operations: Operations,
  client: string,
  { document, input }: { document: Kind | 'confirm'; input: object },
): Promise<Answer> {
  const audit: AuditEntry[] = [];
  const caller = { ...UNAUTHENTICATED_CALLER, id: client };
  const identity = { requestId: 'request', ip: '192.0.2.1', caller };
  const contextValue = new OperationContext(
    operations,
    (entry) => void audit.push(entry),
    identity,
    new CallerBulkheads(),
  );
  const { data, errors } = (await execute({
    schema,
    document: DOCUMENTS[document],
    contextValue,
    variableValues: { input },
  })) as ExecutionResult<{ done: Done }>;
  if (!data?.done) {
    const error = errors?.[0]?.originalError ?? errors?.[0];
    const result = error instanceof ServiceError ? error.kind : `bug: ${String(error?.stack)}`;
    return { result, isError: true, rules: [], audit };
  }
  const { __typename: result, replayed, payment, payout, fields = [] } = data.done;
  const transactionId = (payment ?? payout)?.transactionId;
  const rules = fields.map(({ rule }) => rule);
  return { result, isError: false, replayed, transactionId, rules, audit };
}
