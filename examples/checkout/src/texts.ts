import {
  gatewayError,
  type DeclineFieldsFragment,
  type DeclineReason,
  type GatewayErrorCode,
} from '@paygraph/client';
import type { ConfirmFailure, CreateFailure, Trouble } from './errors.ts';

const DECLINED_TEXT = 'The payment was declined.';

/** Texts for declines. Does not compile if the schema has a new reason. */
const DECLINE_TEXTS: Record<DeclineReason, string> = {
  DO_NOT_HONOR: 'Your bank declined it without a reason. It can tell you more.',
  AUTHENTICATION_FAILED: 'Your bank could not make sure that it was you.',
  INSUFFICIENT_FUNDS: 'There is not enough money on the account.',
  CARD_EXPIRED: 'The card has expired.',
  // The same text as for other declines, so that users of stolen cards learn nothing.
  SUSPECTED_FRAUD: DECLINED_TEXT,
  NOT_PERMITTED: 'Your bank does not permit this payment.',
};

export const declineText = ({ reason }: Pick<DeclineFieldsFragment, 'reason'>): string =>
  // A newer gateway may have reasons that this page does not know, also failures and codes (below).
  (reason && DECLINE_TEXTS[reason]) || DECLINED_TEXT;

/** Text only for failures after which the gateway guarantees that nothing was created. */
const NOTHING_CHARGED = 'Nothing was charged.';
const NEVER_CHARGED_TWICE = 'Trying again sends the same order, and you are never charged twice for it.';
const SEND_UTR_AGAIN = 'Please send the same number again in a moment. If you have paid, do not pay again.';
const PAYMENT_UNCHANGED = 'This changes nothing about your payment: if you have paid, do not pay again.';

/** Texts for failures of a create. Does not compile if the schema has a new failure. */
const CREATE_FAILURE_TEXTS: Record<CreateFailure['__typename'], string> = {
  InvalidInputError: `Please look at what is marked. ${NOTHING_CHARGED}`,
  RejectedByServiceError: `Our payment partner did not accept this. ${NOTHING_CHARGED}`,
  IdempotencyConflictError:
    'This order was sent before with other details, and may be paid already. Start a new order only if you want to buy once more.',
  RequestInProgressError: 'Your order is being worked on. This page goes on by itself.',
  OutcomeUnknownError:
    'We do not know yet whether this has arrived at our payment partner. Please do not order again: we keep asking, and you are never charged twice for this order.',
};

/** Texts for failures of a confirm, before which the payer may have paid. */
const CONFIRM_FAILURE_TEXTS: Record<ConfirmFailure['__typename'], string> = {
  InvalidInputError: 'Your reference number was not sent. Please check it in your UPI app.',
  RejectedByServiceError:
    'Our payment partner did not accept this number. Please check it in your UPI app. If you have paid, do not pay again: above you see where your payment stands.',
  RequestInProgressError:
    'A reference number for this payment is being checked. This page goes on by itself.',
  OutcomeUnknownError: `We do not know yet whether your reference number has arrived. ${SEND_UTR_AGAIN}`,
};

/** Kinds of errors with a text of their own: by code of the gateway, or without a response from it. */
type ErrorKind = 'input' | 'not found' | 'sign in' | 'forbidden' | 'wait' | 'broken' | 'no answer';

/** Kind of each error code. Does not compile if the gateway has a new code. */
const ERROR_KINDS: Record<GatewayErrorCode, Exclude<ErrorKind, 'no answer'>> = {
  BAD_USER_INPUT: 'input',
  NOT_FOUND: 'not found',
  UNAUTHENTICATED: 'sign in',
  FORBIDDEN: 'forbidden',
  RATE_LIMITED: 'wait',
  SERVICE_UNAVAILABLE: 'wait',
  SERVICE_TIMEOUT: 'wait',
  PERSISTED_QUERY_NOT_FOUND: 'wait',
  CURSOR_EXPIRED: 'broken',
  PERSISTED_OPERATION_REQUIRED: 'broken',
  GRAPHQL_PARSE_FAILED: 'broken',
  GRAPHQL_VALIDATION_FAILED: 'broken',
  OPERATION_RESOLUTION_FAILURE: 'broken',
  BAD_REQUEST: 'broken',
  OPERATION_TOO_LARGE: 'broken',
  SERVICE_AUTH_FAILED: 'broken',
  SERVICE_RESPONSE_INVALID: 'broken',
  INTERNAL_SERVER_ERROR: 'broken',
};

/** The operations of the page. */
export type Operation = Trouble['operation'];

const ERROR_TEXTS: Record<Operation, Record<ErrorKind, string>> = {
  create: {
    input: 'Something here is not as it has to be: please check what you have entered.',
    'not found': `Something is missing on our side. ${NEVER_CHARGED_TWICE}`,
    'sign in': `Please sign in again. ${NEVER_CHARGED_TWICE}`,
    forbidden: 'You cannot pay from this account. Please write to us.',
    wait: `This does not work right now. ${NEVER_CHARGED_TWICE}`,
    broken: `Something is wrong on our side. ${NEVER_CHARGED_TWICE}`,
    'no answer': `There was no answer. Your order may have arrived. ${NEVER_CHARGED_TWICE}`,
  },
  confirm: {
    input: 'Your reference number could not be read. Please check it, and send it again.',
    'not found': 'We cannot find this payment. If you have paid, do not pay again: please write to us.',
    'sign in': `Please sign in again. ${SEND_UTR_AGAIN}`,
    forbidden:
      'You cannot confirm this payment from this account. If you have paid, do not pay again: please write to us.',
    wait: `We cannot say whether your reference number has arrived. ${SEND_UTR_AGAIN}`,
    broken: `Something is wrong on our side. ${SEND_UTR_AGAIN}`,
    'no answer': `There was no answer. Your reference number may have arrived. ${SEND_UTR_AGAIN}`,
  },
  watch: {
    input: `This page cannot ask for your payment. ${PAYMENT_UNCHANGED}`,
    'not found': `We cannot find this payment right now. ${PAYMENT_UNCHANGED}`,
    'sign in': `Please sign in again to see where your payment stands. ${PAYMENT_UNCHANGED}`,
    forbidden: `You cannot see this payment from this account. ${PAYMENT_UNCHANGED}`,
    wait: `We cannot see right now where your payment stands. ${PAYMENT_UNCHANGED}`,
    broken: `Something is wrong on our side: we cannot show where your payment stands. ${PAYMENT_UNCHANGED}`,
    'no answer': `There was no answer: this page does not know where your payment stands. ${PAYMENT_UNCHANGED}`,
  },
};

/** Returns the text for an exception. */
function errorText(operation: Operation, thrown: unknown): string {
  const error = gatewayError(thrown);
  if (!error) return ERROR_TEXTS[operation]['no answer'];
  const kind = ERROR_KINDS[error.code] ?? 'broken';
  const text = ERROR_TEXTS[operation][kind];
  return kind === 'broken' && error.requestId !== null
    ? `${text} Please tell us this number: ${error.requestId}`
    : text;
}

/** Returns the text while the page is not connected. */
export const outageText = (isPaymentKnown: boolean): string =>
  isPaymentKnown
    ? 'There is no connection right now: your payment may have gone on meanwhile. If you have paid, do not pay again.'
    : ERROR_TEXTS.watch['no answer'];

/** The text for a status unknown to this page. */
export const CHECKED_TEXT =
  'We are checking where your payment stands. If you have paid, do not pay again: this page goes on by itself.';

/** Text for a payer who may have paid in another app, whose money the provider may not have received yet. */
export const MONEY_TAKEN_TEXT =
  'If money was taken from your account, write to us before you pay again: do not try another way yet.';

/** Returns the text for an error of a create, a confirm or a subscription. */
export function troubleText(trouble: Trouble): string {
  if ('thrown' in trouble) return errorText(trouble.operation, trouble.thrown);
  const { operation, failure } = trouble;
  const text =
    operation === 'create'
      ? CREATE_FAILURE_TEXTS[failure.__typename]
      : CONFIRM_FAILURE_TEXTS[failure.__typename];
  return text ?? ERROR_TEXTS[operation].broken;
}
