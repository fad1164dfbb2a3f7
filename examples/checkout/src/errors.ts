import { gatewayError, type ConfirmPaymentMutation, type CreatePaymentMutation } from '@paygraph/client';

type FailureIn<Result> = Exclude<Result, { __typename: 'PaymentSuccess' }>;
/** Members of mutation results that are failures. */
export type CreateFailure = FailureIn<CreatePaymentMutation['createPayment']>;
export type ConfirmFailure = FailureIn<ConfirmPaymentMutation['confirmPayment']>;

/** The failure of an operation: a failure in its result, or an exception. */
export type Trouble =
  | { operation: 'create'; failure: CreateFailure }
  | { operation: 'confirm'; failure: ConfirmFailure }
  | { operation: 'create' | 'confirm' | 'watch'; thrown: unknown };

/** Whether certainly nothing was created, so that the order may be changed and sent again with the same key. */
export function hasCreatedNothing(trouble: Trouble): boolean {
  if ('thrown' in trouble) return gatewayError(trouble.thrown)?.code === 'BAD_USER_INPUT';
  return ['InvalidInputError', 'RejectedByServiceError'].includes(trouble.failure.__typename);
}

/** Returns the delay in ms before the page repeats a create; null if only the payer may repeat the create. */
export function retryDelayMs(trouble: Trouble | null): number | null {
  if (!trouble || 'thrown' in trouble) return null;
  const { failure } = trouble;
  if (failure.__typename === 'RequestInProgressError') return failure.retryAfterMs;
  return failure.__typename === 'OutcomeUnknownError' ? 3000 : null;
}

/** Returns the messages about invalid values by their path in the input: { "method.upi.phone": "…" }. */
export function mistakesIn(trouble: Trouble | null): Record<string, string> {
  if (!trouble || 'thrown' in trouble || trouble.failure.__typename !== 'InvalidInputError') return {};
  return Object.fromEntries(trouble.failure.fields.map(({ path, message }) => [path.join('.'), message]));
}
