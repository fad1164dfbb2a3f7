// Made by `npm run codegen` from the tables of the gateway; do not edit.
import type { ConfirmationField, ConfirmationInput } from '../index';

/** All values of `extensions.code` in errors of the gateway (docs/results.md). */
export type GatewayErrorCode =
  | 'BAD_USER_INPUT'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE'
  | 'BAD_REQUEST'
  | 'OPERATION_TOO_LARGE'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PERSISTED_OPERATION_REQUIRED'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'RATE_LIMITED'
  | 'NOT_FOUND'
  | 'CURSOR_EXPIRED'
  | 'SERVICE_UNAVAILABLE'
  | 'SERVICE_TIMEOUT'
  | 'SERVICE_AUTH_FAILED'
  | 'SERVICE_RESPONSE_INVALID'
  | 'INTERNAL_SERVER_ERROR';

/**
 * All values of `rule` in the `fields` of an InvalidInputError, or of a GraphQL error with the code BAD_USER_INPUT or
 * GRAPHQL_VALIDATION_FAILED (docs/results.md).
 */
export type InputRule =
  | 'notBlank'
  | 'printable'
  | 'maxLength'
  | 'email'
  | 'e164'
  | 'iso3166Alpha2'
  | 'date'
  | 'past'
  | 'iban'
  | 'cardNumber'
  | 'luhn'
  | 'cvc'
  | 'expiryMonth'
  | 'expiryYear'
  | 'notExpired'
  | 'maskedPan'
  | 'addressOrStructuredFields'
  | 'notEmpty'
  | 'iso4217'
  | 'currencyOfMethod'
  | 'methodType'
  | 'knownMethod'
  | 'noType'
  | 'size'
  | 'noCardNumber'
  | 'noSecret'
  | 'https'
  | 'noCredentials'
  | 'plainUrl'
  | 'publicAddress'
  | 'allowedHost'
  | 'unused'
  | 'paymentOnChannel'
  | 'methodOfPayment'
  | 'required'
  | 'unknownField'
  | 'oneOf'
  | 'object'
  | 'enum'
  | 'string'
  | 'id'
  | 'int'
  | 'boolean'
  | 'uuid'
  | 'decimal'
  | 'decimalPlaces'
  | 'positive'
  | 'currencyCode'
  | 'timestamp'
  | 'url'
  | 'jsonObject'
  | 'exactNumber'
  | 'variableOnly'
  | 'atLeastOne'
  | 'maxItems'
  | 'range'
  | 'cursor'
  | 'nodeId'
  | 'entityType';

/** The `extensions` of every GraphQL error of the gateway. */
export interface GatewayErrorExtensions {
  /** Reason of the error, for programs (docs/results.md). */
  code: GatewayErrorCode;
  /** Whether the same request may succeed later. Repeat a create with the same idempotency key. */
  retryable: boolean;
  /** Identifies the request in the log of the gateway. */
  requestId: string;
  /** How long to wait before repeating the request, in ms. Absent if `retryable` is false or the time is unknown. */
  retryAfterMs?: number;
  /**
   * Path of each invalid value, and the rule that the value violates. Absent if the error is not about invalid values.
   * A path starts with the name of the argument, but a leading `input` is omitted: the path of `input.amount.value` is
   * ["amount", "value"]. If the whole input is invalid, the path is ["input"].
   */
  fields?: readonly { readonly path: readonly string[]; readonly rule: string }[];
  /** The oldest valid cursor. All changes after this cursor are still stored. Present only with CURSOR_EXPIRED. */
  oldestCursor?: string;
}

/** ConfirmationInput by its field: a function of the payer's code or UTR, or a constant if no data is needed. */
export const CONFIRMATIONS: Record<
  ConfirmationField,
  ((value: string) => ConfirmationInput) | ConfirmationInput
> = {
  bkash: (code) => ({ bkash: { code } }),
  c2c: { c2c: 'TRANSFER_MADE' },
  dcb: (code) => ({ dcb: { code } }),
  nagad: (code) => ({ nagad: { code } }),
  rocket: (code) => ({ rocket: { code } }),
  upi: (utr) => ({ upi: { utr } }),
};

/** GraphQL document that changes() sends. */
export const CHANGES_QUERY = `query Changes($channel: UUID!, $after: String, $first: Int) {
  changes(channel: $channel, after: $after, first: $first) {
    changes {
      __typename
      ...PaymentChangeFields
      ...PayoutChangeFields
    }
    endCursor
    hasMore
  }
}

fragment AmountFields on Amount {
  currency
  value
  received
}

fragment PaymentChangeFields on PaymentChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  method
  previousStatus
  status
  state
  amount {
    ...AmountFields
  }
}

fragment PayoutChangeFields on PayoutChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  payoutMethod: method
  previousPayoutStatus: previousStatus
  payoutStatus: status
  amount {
    ...AmountFields
  }
}`;

/** GraphQL document that changes() sends. */
export const CHANGES_SUBSCRIPTION = `subscription WatchChanges($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after) {
    __typename
    ...PaymentChangeFields
    ...PayoutChangeFields
  }
}

fragment AmountFields on Amount {
  currency
  value
  received
}

fragment PaymentChangeFields on PaymentChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  method
  previousStatus
  status
  state
  amount {
    ...AmountFields
  }
}

fragment PayoutChangeFields on PayoutChange {
  __typename
  cursor
  recordedAt
  channel
  transactionId
  externalId
  payoutMethod: method
  previousPayoutStatus: previousStatus
  payoutStatus: status
  amount {
    ...AmountFields
  }
}`;
