import { gatewayError, type ConfirmPaymentMutation, type CreatePaymentMutation } from '@paygraph/client';

type FailureIn<Result> = Exclude<Result, { __typename: 'PaymentSuccess' }>;
/** Failures in results of mutations. */
export type CreateFailure = FailureIn<CreatePaymentMutation['createPayment']>;
export type ConfirmFailure = FailureIn<ConfirmPaymentMutation['confirmPayment']>;

/** A failure of the result, or an exception. */
export type Trouble =
  | { operation: 'create'; failure: CreateFailure }
  | { operation: 'confirm'; failure: ConfirmFailure }
  | { operation: 'create' | 'confirm' | 'watch'; thrown: unknown };

/** Whether certainly nothing was created: the order may be changed and sent again with the same key. */
export function nothingCreated(trouble: Trouble): boolean {
  if ('thrown' in trouble) return gatewayError(trouble.thrown)?.code === 'BAD_USER_INPUT';
  return ['InvalidInputError', 'RejectedByServiceError'].includes(trouble.failure.__typename);
}

/** After how many milliseconds the page repeats a create; null: only when the payer says so. */
export function askAgainAfter(trouble: Trouble | null): number | null {
  if (!trouble || 'thrown' in trouble) return null;
  const { failure } = trouble;
  if (failure.__typename === 'RequestInProgressError') return failure.retryAfterMs;
  return failure.__typename === 'OutcomeUnknownError' ? 3000 : null;
}

/** The mistakes in an input, by their path in it: { "method.upi.phone": "…" }. */
export function mistakesIn(trouble: Trouble | null): Record<string, string> {
  if (!trouble || 'thrown' in trouble || trouble.failure.__typename !== 'InvalidInputError') return {};
  return Object.fromEntries(trouble.failure.fields.map(({ path, message }) => [path.join('.'), message]));
}
