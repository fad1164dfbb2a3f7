import { Field, ID, Int, InterfaceType, ObjectType } from 'type-graphql';
import { NullableField } from './nullable-field';
import { registerEnum, type ValueOf } from './register-enum';
import { UUID } from './scalars';

export const UserErrorCode = registerEnum(
  'UserErrorCode',
  'The expected failures of a mutation, one for each type that implements UserError.',
  {
    INVALID_INPUT:
      'InvalidInputError: the input violates a rule (see fields); this call created or confirmed nothing.',
    REJECTED_BY_SERVICE: 'RejectedByServiceError: this call created or confirmed nothing.',
    IDEMPOTENCY_CONFLICT: 'IdempotencyConflictError: the key belongs to a call with another input.',
    REQUEST_IN_PROGRESS:
      'RequestInProgressError: a call with the same key, or a confirm of the same payment, is in progress.',
    OUTCOME_UNKNOWN: 'OutcomeUnknownError: the call may or may not have been carried out.',
  },
);
export type UserErrorCode = ValueOf<typeof UserErrorCode>;

@InterfaceType({
  description:
    'An expected failure that the caller can act on: data in a result union, never a GraphQL error.',
})
export abstract class UserError {
  @Field(() => UserErrorCode, { description: 'The kind of failure.' }) code!: UserErrorCode;
  @Field(() => String, { description: 'For developers; never contains an input value.' }) message!: string;
}

@ObjectType({ description: 'One mistake in an input.' })
export class FieldError {
  @Field(() => [String], {
    description: 'Path from the input object to the field, for example ["method", "card", "pan"].',
  })
  path!: string[];

  @Field(() => String, { description: 'Stable name of the violated rule, for example "luhn".' })
  rule!: string;

  @Field(() => String, { description: 'The rule in words. Never contains the value.' }) message!: string;
}

@ObjectType({
  implements: UserError,
  description:
    'The input violates a rule; this call created or confirmed nothing. For a create: nothing was created with this key, and the key may be used again. But if the rule is "unused", a payout with this external id exists or may exist, created with another key. For a confirm: an earlier confirm may have been carried out.',
})
export class InvalidInputError extends UserError {
  override code = UserErrorCode.INVALID_INPUT;
  @Field(() => [FieldError], { description: 'All mistakes found, at least one.' }) fields!: FieldError[];
}

@ObjectType({
  implements: UserError,
  description:
    'The service rejected the request (4xx except 401, 408, 409, 425, 429). For a create: nothing was created, and the key may be used again. For a confirm: this confirm was not carried out, but an earlier one may have been. Look the payment up before you confirm again.',
})
export class RejectedByServiceError extends UserError {
  override code = UserErrorCode.REJECTED_BY_SERVICE;
  @Field(() => Int, { description: "HTTP status of the service's response." }) httpStatus!: number;
}

@ObjectType({
  implements: UserError,
  description:
    'The key belongs to an earlier call with another input. That call may have moved money: query attempt(idempotencyKey). Use a new key only for a different payment or payout.',
})
export class IdempotencyConflictError extends UserError {
  override code = UserErrorCode.IDEMPOTENCY_CONFLICT;
}

@ObjectType({
  implements: UserError,
  description: 'A call with the same key, or a confirm of the same payment, is in progress.',
})
export class RequestInProgressError extends UserError {
  override code = UserErrorCode.REQUEST_IN_PROGRESS;
  @Field(() => Int, { description: 'Minimum time before the call is repeated, in milliseconds.' })
  retryAfterMs = 1000;
}

@ObjectType({
  implements: UserError,
  description:
    'The request may or may not have reached the service; the gateway does not retry it blindly. For a create: the gateway looks the payment or payout up repeatedly. Repeat the call with the same key, never with a new one, or query attempt(idempotencyKey). If the outcome stays unknown, the operator records it. For a confirm: look the payment up. If its state is still WAITING_FOR_CODE, WAITING_FOR_UTR or WAITING_FOR_CONFIRM, repeat the confirm unchanged.',
})
export class OutcomeUnknownError extends UserError {
  override code = UserErrorCode.OUTCOME_UNKNOWN;
  @NullableField('The key of the create call; null for a confirm.', () => ID) idempotencyKey?: string;

  @NullableField('The external id that was sent, also if the gateway generated it; null for a confirm.')
  externalId?: string;

  @NullableField('The payment that was to be confirmed; null for a create.', () => UUID)
  transactionId?: string;
}

export const invalidInputError = (fieldErrors: FieldError[]): InvalidInputError =>
  Object.assign(new InvalidInputError(), {
    message: `The input violates ${fieldErrors.length === 1 ? 'a rule' : `${fieldErrors.length} rules`}: ${fieldErrors
      .map(({ path, message }) => `${path.join('.')} ${message}`)
      .join(' ')}`,
    fields: fieldErrors,
  });

/** Returns the error for a create that the service rejected with this HTTP status and message. */
export const rejectedCreateError = (httpStatus: number, message: string): RejectedByServiceError =>
  Object.assign(new RejectedByServiceError(), { message, httpStatus });

/**
 * Returns the error for a rejected confirm. Adds to the service's message that an earlier confirm may have succeeded,
 * or that the payer may have paid.
 */
export const rejectedConfirmError = (httpStatus: number, message: string): RejectedByServiceError =>
  rejectedCreateError(
    httpStatus,
    `${message}${/[.!?]$/.test(message) ? '' : '.'} This confirm was not carried out, but the payer may have paid or an earlier confirm may have succeeded: look the payment up first, and confirm again only while nextAction has confirmWith.`,
  );

/**
 * Returns the error for a create whose idempotency key belongs to an earlier call with another input or mutation.
 * @param differingParts parts of the input that differ, in words for the caller; empty if all parts that the journal
 * stores are equal, so that only a description, a URL or a detail of the method can differ
 */
export const idempotencyConflictError = (differingParts: readonly string[]): IdempotencyConflictError =>
  Object.assign(new IdempotencyConflictError(), {
    message: `An earlier call with this idempotency key, which may have moved money, had another ${
      differingParts.join(' and ') || 'description, URL or detail of the method'
    }. Query attempt(idempotencyKey) first; use a new key only for a different payment or payout.`,
  });

export const inProgressCreateError = (): RequestInProgressError =>
  Object.assign(new RequestInProgressError(), {
    message:
      'A create with the same key is in progress. Repeat this call unchanged, with the same key, after retryAfterMs.',
  });

export const inProgressConfirmError = (): RequestInProgressError =>
  Object.assign(new RequestInProgressError(), {
    message:
      'Another confirm of this payment is in progress. After retryAfterMs look the payment up; if its state is still WAITING_FOR_CODE, WAITING_FOR_UTR or WAITING_FOR_CONFIRM, repeat this confirm unchanged.',
  });

/** Returns the error for a create whose outcome is unknown. `key`: the idempotency key. */
export const unknownCreateOutcomeError = ({
  kind,
  key,
  externalId,
}: {
  kind: 'payment' | 'payout';
  key: string;
  externalId: string;
}): OutcomeUnknownError =>
  Object.assign(new OutcomeUnknownError(), {
    message: `The ${kind} may or may not have been created; the gateway is looking it up. Repeat the call later with the same key, never with a new one. If the outcome stays unknown, ask the operator to record it.`,
    idempotencyKey: key,
    externalId,
  });

export const unknownConfirmOutcomeError = (transactionId: string): OutcomeUnknownError =>
  Object.assign(new OutcomeUnknownError(), {
    message:
      'The confirm may or may not have been carried out. Look the payment up; if its state is still WAITING_FOR_CODE, WAITING_FOR_UTR or WAITING_FOR_CONFIRM, repeat this confirm unchanged. The payer must not pay again before this lookup.',
    transactionId,
  });
