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
    INVALID_INPUT: { description: 'InvalidInputError: nothing was sent to the service.' },
    REJECTED_BY_SERVICE: { description: 'RejectedByServiceError: nothing was created or confirmed.' },
    IDEMPOTENCY_CONFLICT: { description: 'IdempotencyConflictError: the key belongs to another input.' },
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
  description: 'The input breaks a rule. Nothing was sent to the service.',
})
export class InvalidInputError extends UserError {
  @Field(() => [FieldError], { description: 'Every mistake that was found; at least one.' })
  fields!: FieldError[];
}

@ObjectType({
  implements: UserError,
  description:
    'The service refused (4xx, but for 401, 408, 409, 425, 429): nothing was created, and the key may be used again; a confirm was not carried out.',
})
export class RejectedByServiceError extends UserError {
  @Field(() => Int, { description: 'The HTTP status that the service answered.' })
  httpStatus!: number;
}

@ObjectType({ implements: UserError, description: 'The key was used before with a different input.' })
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
    'The request may or may not have reached the service. It is not retried blindly. A create is followed up by lookup: ask again with the same key, or attempt(idempotencyKey). A confirm: look the payment up, or repeat it unchanged.',
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

/** The key belongs to another input, or to another operation. */
export const idempotencyConflict = (): IdempotencyConflictError =>
  failure(new IdempotencyConflictError(), {
    code: UserErrorCode.IDEMPOTENCY_CONFLICT,
    message:
      'The idempotency key was used before with a different input. Use a new key for a new payment or payout.',
  });

/** The same call is under way right now. */
export const requestInProgress = (): RequestInProgressError =>
  failure(new RequestInProgressError(), {
    code: UserErrorCode.REQUEST_IN_PROGRESS,
    message:
      'The same call, or a confirm of the same payment, is under way right now. Repeat the call unchanged in a moment.',
    retryAfterMs: RETRY_AFTER_MS,
  });

/** It may or may not have happened. */
export const outcomeUnknown = (
  facts: Pick<OutcomeUnknownError, 'idempotencyKey' | 'externalId' | 'transactionId'>,
): OutcomeUnknownError =>
  failure(new OutcomeUnknownError(), {
    code: UserErrorCode.OUTCOME_UNKNOWN,
    message: `The request may or may not have reached the service. ${
      facts.transactionId
        ? 'Look the payment up, or repeat the confirm unchanged.'
        : 'It is being followed up: ask again with the same key.'
    }`,
    ...facts,
  });
