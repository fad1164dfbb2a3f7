// Uses of the kit that compile or must not compile. package.system.test.ts compiles this file against the packed
// package.
import {
  CreatePaymentDocument,
  type PaymentsDocument,
  CursorExpired,
  changes,
  confirmationFor,
  formatMoney,
  gatewayError,
  type ConfirmationInput,
  type CreatePaymentMutation,
  type PaymentFieldsFragment,
} from '@paygraph/client';
import type { ResultOf, TypedDocumentNode } from '@graphql-typed-document-node/core';

declare function ask<D, V>(document: TypedDocumentNode<D, V>, variables: V): D;

const channel = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const amount = { currency: 'INR', value: '499.00' };
const order = { idempotencyKey: 'cart-1', channel, amount };

export const created = ask(CreatePaymentDocument, {
  input: { ...order, method: { upi: { phone: '+919876543210' } } },
});
const wrong = { currency: 'INR', value: 499 };
// @ts-expect-error An amount is text, never a number.
ask(CreatePaymentDocument, { input: { ...order, amount: wrong, method: { redirect: 'UPI' } } });
// @ts-expect-error A payment has exactly one method.
ask(CreatePaymentDocument, { input: { ...order, method: { redirect: 'CARD', upi: { phone: '1' } } } });
// @ts-expect-error The idempotency key is missing.
ask(CreatePaymentDocument, { input: { channel, amount, method: { redirect: 'CARD' } } });

/** An exhaustive switch: fails to compile when the schema has a new member. */
export function textOf(result: CreatePaymentMutation['createPayment']): string {
  switch (result.__typename) {
    case 'PaymentSuccess':
      return result.payment.status;
    case 'InvalidInputError':
      return result.fields.map(({ path, rule }) => `${path.join('.')}: ${rule}`).join();
    case 'RejectedByServiceError':
      return String(result.httpStatus);
    case 'RequestInProgressError':
      return `${result.retryAfterMs + 1}`;
    case 'OutcomeUnknownError':
      return result.idempotencyKey ?? '';
    case 'IdempotencyConflictError':
      return result.code;
    default:
      return result satisfies never;
  }
}

export function fieldsOf(payment: PaymentFieldsFragment): unknown[] {
  // @ts-expect-error The error is null unless the payment failed.
  const code = payment.error.code;
  // @ts-expect-error PAID is not a status of the schema.
  return [code, payment.status === 'PAID', payment.amount && formatMoney(payment.amount, 'en')];
}

// @ts-expect-error A payment that was not found is null.
export const first = (result: ResultOf<typeof PaymentsDocument>): string => result.payments[0].status;

export function isWorthRetrying(error: unknown): boolean {
  const ours = gatewayError(error);
  // @ts-expect-error No error code has this name.
  if (ours?.code === 'NOT_PAID') return true;
  return ours?.code !== 'UNAUTHENTICATED' && ours?.retryable === true;
}

export function confirmed(payment: PaymentFieldsFragment, typed: string): ConfirmationInput | null {
  const action = payment.nextAction;
  if (!action || !('confirmWith' in action)) return null;
  // @ts-expect-error No confirmation field has this name.
  if (action.confirmWith === 'pigeon') return null;
  return confirmationFor(action, typed);
}
// @ts-expect-error A RedirectAction cannot be confirmed.
confirmationFor({ __typename: 'RedirectAction', url: '' });

// @ts-expect-error An amount is text, never a number.
formatMoney({ currency: 'EUR', value: 9.9 });

export async function consume(signal: AbortSignal): Promise<string | null> {
  // @ts-expect-error The channel is missing.
  changes({ url: 'https://gateway.example/graphql' });
  try {
    for await (const change of changes({ url: 'https://gateway.example/graphql', channel, signal })) {
      if (change.__typename === 'PaymentChange' && change.status === 'MISPAID')
        return change.amount?.received ?? change.state;
      // @ts-expect-error A payout has no state.
      if (change.__typename === 'PayoutChange') return String(change.state);
      if (change.previousStatus === null) return change.cursor;
    }
  } catch (error) {
    if (error instanceof CursorExpired) return error.oldestCursor;
  }
  return null;
}
