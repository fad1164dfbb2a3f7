import type { DeclineFieldsFragment, DeclineReason } from '@paygraph/client';
import { extensionsOf, type Failure, type Trouble } from './troubles.ts';

/** What the payer is told of a decline. A new reason in the schema fails to compile here. */
const DECLINES: Record<DeclineReason, string> = {
  DO_NOT_HONOR: 'Your bank declined it without a reason. It can tell you more.',
  AUTHENTICATION_FAILED: 'Your bank could not make sure that it was you.',
  INSUFFICIENT_FUNDS: 'There is not enough money on the account.',
  CARD_EXPIRED: 'The card has expired.',
  SUSPECTED_FRAUD: 'Your bank stopped it. Please call your bank.',
  NOT_PERMITTED: 'Your bank does not permit this payment.',
};

export const declineText = ({ reason }: DeclineFieldsFragment): string =>
  reason ? DECLINES[reason] : 'The payment was declined.';

/** What the payer is told of a failure of a create or a confirm. */
function failureText(failure: Failure): string {
  switch (failure.__typename) {
    case 'InvalidInputError':
      return 'Nothing was sent yet: please look at what is marked.';
    case 'RejectedByServiceError':
      return 'Our payment partner did not accept this. If you have paid already, please do not pay again: look at your order first.';
    case 'IdempotencyConflictError':
      return 'This order was already sent with other details, and may be paid. Please look at your orders before you start a new one.';
    case 'RequestInProgressError':
      return 'Your order is being worked on. This page goes on by itself.';
    case 'OutcomeUnknownError':
      return 'We do not know yet whether this has arrived at our payment partner. Please do not order again: we keep asking, and you are never charged twice for this order.';
    default:
      return failure satisfies never;
  }
}

/** What the payer is told of something that was thrown. */
function thrownText(thrown: unknown): string {
  const error = extensionsOf(thrown);
  if (!error)
    return 'There was no answer. Your order may have arrived; trying again sends the same order, and you are never charged twice for it.';
  if (error.retryable)
    return 'Our payment partner cannot be reached right now. Trying again sends the same order: you are never charged twice for it.';
  if (error.code === 'BAD_USER_INPUT') return 'Nothing was sent: something here is not as it has to be.';
  return `Something is wrong on our side. Please tell us this number: ${error.requestId}`;
}

export const troubleText = (trouble: Trouble): string =>
  'failure' in trouble ? failureText(trouble.failure) : thrownText(trouble.thrown);
