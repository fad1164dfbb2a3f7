import { CombinedGraphQLErrors } from '@apollo/client/errors';
import type { ConfirmPaymentMutation, CreatePaymentMutation } from '@paygraph/client';

type Result = CreatePaymentMutation['createPayment'] | ConfirmPaymentMutation['confirmPayment'];
/** A failure that the gateway answered: something the page can act on. */
export type Failure = Exclude<Result, { __typename: 'PaymentSuccess' }>;

/** Why a create or a confirm has not succeeded: what was answered, or what was thrown. */
export type Trouble = { failure: Failure } | { thrown: unknown };

/** What a GraphQL error of the gateway says beside its message (docs/results.md). */
interface Extensions {
  code: string;
  retryable: boolean;
  requestId: string;
  retryAfterMs?: number;
}

/** The first GraphQL error; null where there was no answer of the gateway at all. */
export function extensionsOf(thrown: unknown): Extensions | null {
  if (!CombinedGraphQLErrors.is(thrown)) return null;
  return (thrown.errors[0]?.extensions ?? null) as unknown as Extensions | null;
}

/** Whether it is certain that a create made nothing: the order may be changed, and sent again with the same key. */
export function nothingCreated(trouble: Trouble): boolean {
  if ('thrown' in trouble) return extensionsOf(trouble.thrown)?.code === 'BAD_USER_INPUT';
  return ['InvalidInputError', 'RejectedByServiceError'].includes(trouble.failure.__typename);
}

/** After how many milliseconds the page asks by itself what became of a create; null where a person has to say so. */
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
