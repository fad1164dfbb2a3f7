import { Field, Int, ID, InterfaceType, ObjectType, registerEnumType } from 'type-graphql';
import { UUID } from './scalars';

export enum UserErrorCode {
  INVALID_INPUT = 'INVALID_INPUT',
  REJECTED_BY_SERVICE = 'REJECTED_BY_SERVICE',
  IDEMPOTENCY_CONFLICT = 'IDEMPOTENCY_CONFLICT',
  REQUEST_IN_PROGRESS = 'REQUEST_IN_PROGRESS',
  OUTCOME_UNKNOWN = 'OUTCOME_UNKNOWN',
}

registerEnumType(UserErrorCode, {
  name: 'UserErrorCode',
  description: 'The expected failures of a mutation, one for each type that implements UserError.',
  valuesConfig: {
    INVALID_INPUT: { description: 'InvalidInputError: this call sent nothing to the service.' },
    REJECTED_BY_SERVICE: { description: 'RejectedByServiceError: this call created or confirmed nothing.' },
    IDEMPOTENCY_CONFLICT: { description: 'IdempotencyConflictError: the key belongs to another call.' },
    REQUEST_IN_PROGRESS: { description: 'RequestInProgressError: the same call is under way right now.' },
    OUTCOME_UNKNOWN: { description: 'OutcomeUnknownError: it may or may not have happened.' },
  },
});

@InterfaceType({
  description:
    'An expected failure that the caller can act on: data in a result union, never a GraphQL error.',
})
export abstract class UserError {
  @Field(() => UserErrorCode, { description: 'Which failure it is.' })
  code!: UserErrorCode;

  @Field(() => String, { description: 'For developers; never holds an input value.' })
  message!: string;
}

@ObjectType({ description: 'One mistake in an input.' })
export class FieldError {
  @Field(() => [String], {
    description: 'From the input object down, for example ["method", "card", "pan"].',
  })
  path!: string[];

  @Field(() => String, { description: 'The name of the rule that is broken, for example "luhn"; stable.' })
  rule!: string;

  @Field(() => String, { description: 'The rule in words. Never holds the value.' })
  message!: string;
}

@ObjectType({
  implements: UserError,
  description:
    'The input breaks a rule, and nothing was sent to the service. A create: its key has created nothing and is free; with the rule unused there is, or may be, a payout of another key under the external id. A confirm: an earlier one may have been carried out.',
})
export class InvalidInputError extends UserError {
  @Field(() => [FieldError], { description: 'Every mistake that was found; at least one.' })
  fields!: FieldError[];
}

@ObjectType({
  implements: UserError,
  description:
    'The service refused (4xx, but for 401, 408, 409, 425, 429). A create: nothing was created, and the key may be used again. A confirm: this one was not carried out, but an earlier one may have been, so look the payment up first.',
})
export class RejectedByServiceError extends UserError {
  @Field(() => Int, { description: 'The HTTP status that the service answered.' })
  httpStatus!: number;
}

@ObjectType({
  implements: UserError,
  description:
    'The key belongs to an earlier call with another input, which may have moved money: look at attempt(idempotencyKey). A new key is for a different payment or payout only.',
})
export class IdempotencyConflictError extends UserError {}

@ObjectType({
  implements: UserError,
  description: 'The same key (or a confirm of the same payment) is under way right now.',
})
export class RequestInProgressError extends UserError {
  @Field(() => Int, { description: 'When to ask again, in milliseconds.' })
  retryAfterMs!: number;
}

@ObjectType({
  implements: UserError,
  description:
    'The request may or may not have reached the service. It is not retried blindly. A create is followed up by lookup: ask again with the same key, never with a new one, or attempt(idempotencyKey); what stays unknown is settled by the operator. A confirm: look the payment up; if it still waits, repeat the confirm unchanged.',
})
export class OutcomeUnknownError extends UserError {
  @Field(() => ID, { nullable: true, description: 'The key of the create call; null for a confirm.' })
  idempotencyKey?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'The external id that was sent, also when the gateway made it; null for a confirm.',
  })
  externalId?: string | null;

  @Field(() => UUID, { nullable: true, description: 'The payment, for a confirm; null for a create.' })
  transactionId?: string | null;
}

/** When a call that is under way is worth asking about again. */
const RETRY_AFTER_MS = 1000;

const failure = <E extends UserError>(error: E, facts: E): E => Object.assign(error, facts);

/** The input breaks these rules. */
export const invalidInput = (fields: FieldError[]): InvalidInputError =>
  failure(new InvalidInputError(), {
    code: UserErrorCode.INVALID_INPUT,
    message: `The input breaks ${fields.length === 1 ? 'a rule' : `${fields.length} rules`}: ${fields
      .map(({ path, message }) => `${path.join('.')} ${message}`)
      .join(' ')}`,
    fields,
  });

/** The service refused, with this status and text. */
export const rejectedByService = (httpStatus: number, message: string): RejectedByServiceError =>
  failure(new RejectedByServiceError(), { code: UserErrorCode.REJECTED_BY_SERVICE, message, httpStatus });

/** The service refused a confirm, with this status and text. */
export const confirmRejected = (httpStatus: number, message: string): RejectedByServiceError =>
  rejectedByService(
    httpStatus,
    `${message}${/[.!?]$/.test(message) ? '' : '.'} This confirm was not carried out, but the payer may have paid or an earlier confirm succeeded: look the payment up first, and confirm again only while nextAction has confirmWith.`,
  );

/**
 * The key belongs to another input, or to another operation.
 * @param differing the parts that are known to differ; none where only a hash is known
 */
export const idempotencyConflict = (differing: readonly string[]): IdempotencyConflictError =>
  failure(new IdempotencyConflictError(), {
    code: UserErrorCode.IDEMPOTENCY_CONFLICT,
    message: `The idempotency key belongs to an earlier call with another ${
      differing.length > 0 ? differing.join(', ') : 'description, URL or detail of the method'
    }, which may have moved money. Look at attempt(idempotencyKey) first; use a new key only for a different payment or payout.`,
  });

/** A create with the same key is under way right now. */
export const createInProgress = (): RequestInProgressError =>
  failure(new RequestInProgressError(), {
    code: UserErrorCode.REQUEST_IN_PROGRESS,
    message:
      'A create with the same key is under way. Repeat this call unchanged, with the same key, after retryAfterMs.',
    retryAfterMs: RETRY_AFTER_MS,
  });

/** A confirm of the same payment is under way right now. */
export const confirmInProgress = (): RequestInProgressError =>
  failure(new RequestInProgressError(), {
    code: UserErrorCode.REQUEST_IN_PROGRESS,
    message:
      'Another confirm of this payment is under way. After retryAfterMs look the payment up; if it still waits, repeat this confirm unchanged.',
    retryAfterMs: RETRY_AFTER_MS,
  });

/** A create may or may not have happened. */
export const createUnknown = (
  facts: { idempotencyKey: string; externalId: string },
  kind: 'payment' | 'payout',
): OutcomeUnknownError =>
  failure(new OutcomeUnknownError(), {
    code: UserErrorCode.OUTCOME_UNKNOWN,
    message: `The ${kind} may or may not have been created, and is being looked for. Ask again later with the same key, never with a new one. If it stays unknown, ask the operator to settle it.`,
    ...facts,
  });

/** A confirm may or may not have been carried out. */
export const confirmUnknown = (transactionId: string): OutcomeUnknownError =>
  failure(new OutcomeUnknownError(), {
    code: UserErrorCode.OUTCOME_UNKNOWN,
    message:
      'The confirm may or may not have been carried out. Look the payment up; if it still waits, repeat this confirm unchanged. The payer must not pay again before.',
    transactionId,
  });
