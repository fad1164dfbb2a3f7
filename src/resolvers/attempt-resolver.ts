import { ArgsType, Arg, Args, Ctx, Field, ID, Int, Query, Resolver } from 'type-graphql';
import { mayUseChannel, type Caller } from '../auth/caller';
import {
  ATTEMPT_OUTCOMES,
  type Attempt as RecordedAttempt,
  type TransactionKind,
  type AttemptOutcome as RecordedOutcome,
  type AttemptPosition,
} from '../datasources/journal/journal';
import { Amount } from '../schema/amount';
import {
  ATTEMPTS_PAGE_SIZES,
  Attempt,
  AttemptConnection,
  AttemptOperation,
  AttemptOutcome,
} from '../schema/attempt';
import { parseCalendarTime } from '../shared/calendar-time';
import { findPaymentMethod, findPayoutMethod } from '../schema/methods';
import { NullableField } from '../schema/nullable-field';
import { Timestamp, UUID } from '../schema/scalars';
import { badArgumentError, checkedExternalId, checkedPageSize } from './bad-request';
import type { OperationContext } from './context';
import { ALL_READ_SCOPES } from './node-resolver';
import { RequiresScope } from './root-fields';
import { kindsWithRight } from './visible-transactions';

const GRAPHQL_OUTCOMES: Record<RecordedOutcome, AttemptOutcome> = {
  in_progress: AttemptOutcome.IN_PROGRESS,
  succeeded: AttemptOutcome.SUCCEEDED,
  rejected: AttemptOutcome.REJECTED,
  not_sent: AttemptOutcome.NOT_SENT,
  unknown: AttemptOutcome.UNKNOWN,
};

const GRAPHQL_OPERATION_BY_KIND: Record<TransactionKind, AttemptOperation> = {
  payment: AttemptOperation.CREATE_PAYMENT,
  payout: AttemptOperation.CREATE_PAYOUT,
};

@ArgsType()
class AttemptsArgs {
  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;
  @NullableField('Only attempts with this outcome.', () => AttemptOutcome) outcome?: AttemptOutcome | null;

  @NullableField('Only attempts of this operation.', () => AttemptOperation)
  operation?: AttemptOperation | null;

  @NullableField('Only attempts with exactly this external id, 1 to 255 characters.')
  externalId?: string | null;

  @NullableField(
    'Only attempts with startedAt at or after this time, which must be before startedBefore. Consecutive ranges contain every attempt exactly once. Exception: an attempt whose key is reused gets a new startedAt, which moves it to a later range.',
    () => Timestamp,
  )
  startedAfter?: string | null;

  @NullableField('Only attempts with startedAt before this time.', () => Timestamp)
  startedBefore?: string | null;

  @Field(() => Int, {
    nullable: true,
    defaultValue: ATTEMPTS_PAGE_SIZES.default,
    description: 'Size of the page, 1 to 100.',
  })
  first?: number | null;

  @NullableField('Only attempts older than this cursor.') after?: string | null;
}

const encodeAttemptCursor = ({ startedAt, seq }: AttemptPosition): string =>
  Buffer.from(`attempt:${startedAt}:${seq}`).toString('base64url');

function decodeAttemptCursor(cursor: string): AttemptPosition {
  const [, startedAt, seq] =
    /^attempt:(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (!seq) throw badArgumentError('after', 'cursor', 'after is not a cursor of this gateway.');
  return { startedAt: Number(startedAt), seq: Number(seq) };
}

const SUB_MILLISECOND_PATTERN = /\.\d{3}\d*[1-9]/;

/**
 * Parses a time argument. Returns ms since 1970; null if the argument is absent. Rounds a fraction of a millisecond up.
 * That changes no comparison with `startedAt`, which has whole milliseconds. Throws BAD_USER_INPUT if the date or time
 * does not exist, such as 30 February or 24:00.
 */
function parseTimestamp(argumentName: string, timeText: string | null | undefined): number | null {
  if (typeof timeText !== 'string') return null;
  const ms = parseCalendarTime(timeText);
  if (Number.isNaN(ms))
    throw badArgumentError(
      argumentName,
      'timestamp',
      `${argumentName} must be a time that exists in the calendar.`,
    );
  return SUB_MILLISECOND_PATTERN.test(timeText) ? ms + 1 : ms;
}

const isEarlierPosition = (first: AttemptPosition, second: AttemptPosition): boolean =>
  first.startedAt < second.startedAt || (first.startedAt === second.startedAt && first.seq < second.seq);

/** Converts the arguments of `attempts` to filters of the journal. Throws BAD_USER_INPUT if an argument is invalid. */
function attemptFilters(args: AttemptsArgs, visibleKinds: readonly TransactionKind[]) {
  const { operation, outcome, externalId, after } = args;
  const startedFrom = parseTimestamp('startedAfter', args.startedAfter);
  const startedBefore = parseTimestamp('startedBefore', args.startedBefore);
  if (startedFrom !== null && startedBefore !== null && startedFrom >= startedBefore)
    throw badArgumentError('startedAfter', 'range', 'startedAfter must be before startedBefore.');
  const cursor = typeof after === 'string' ? decodeAttemptCursor(after) : null;
  const rangeEnd = startedBefore === null ? null : { startedAt: startedBefore, seq: 0 };
  return {
    kinds: visibleKinds.filter((kind) => !operation || GRAPHQL_OPERATION_BY_KIND[kind] === operation),
    outcome: ATTEMPT_OUTCOMES.find((journalOutcome) => GRAPHQL_OUTCOMES[journalOutcome] === outcome) ?? null,
    externalId: typeof externalId === 'string' ? checkedExternalId(externalId) : null,
    startedFrom,
    beforePosition:
      cursor && rangeEnd && isEarlierPosition(rangeEnd, cursor) ? rangeEnd : (cursor ?? rangeEnd),
  };
}

const toIsoTime = (timeMs: number): string => new Date(timeMs).toISOString();

const visibleKinds = (caller: Caller): TransactionKind[] =>
  kindsWithRight(caller, 'read', 'read:own', 'create');

function toAttempt(recordedAttempt: RecordedAttempt, context: OperationContext): Attempt {
  const { kind, channel, transactionId, settledAt, method, currency, value } = recordedAttempt;
  const lookUp =
    transactionId === null ? null : () => context.visibleTransactions(kind).load({ channel, transactionId });
  return Object.assign(new Attempt(), {
    idempotencyKey: recordedAttempt.key,
    operation: GRAPHQL_OPERATION_BY_KIND[kind],
    channel,
    externalId: recordedAttempt.externalId,
    outcome: GRAPHQL_OUTCOMES[recordedAttempt.outcome],
    startedAt: toIsoTime(recordedAttempt.startedAt),
    settledAt: settledAt === null ? null : toIsoTime(settledAt),
    transactionId,
    amount: Object.assign(new Amount(), { currency, value }),
    paymentMethod: kind === 'payment' ? findPaymentMethod(method).name : null,
    payoutMethod: kind === 'payout' ? findPayoutMethod(method).name : null,
    payment: kind === 'payment' ? lookUp : null,
    payout: kind === 'payout' ? lookUp : null,
  });
}

@Resolver()
export class AttemptResolver {
  @RequiresScope(...ALL_READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => Attempt, {
    nullable: true,
    description:
      'The outcome of a create call, by its key. Null if this caller never used the key, may not read the attempt now, or the record was deleted (JOURNAL_RETENTION_DAYS after settledAt).',
  })
  async attempt(
    @Ctx() context: OperationContext,
    @Arg('idempotencyKey', () => ID, { description: 'The key of the create call.' }) idempotencyKey: string,
  ): Promise<Attempt | null> {
    // Reject lone surrogates. Each would become U+FFFD in UTF-8, so different keys would collide.
    if (!idempotencyKey.isWellFormed())
      throw badArgumentError('idempotencyKey', 'printable', 'idempotencyKey must be well-formed Unicode.');
    const { caller, attempts } = context;
    const attempt = await attempts.findByKey(caller.id, idempotencyKey);
    const isVisible =
      attempt && mayUseChannel(caller, attempt.channel) && visibleKinds(caller).includes(attempt.kind);
    return isVisible ? toAttempt(attempt, context) : null;
  }

  @RequiresScope(...ALL_READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => AttemptConnection, {
    description: 'The create calls of this caller through this gateway, newest first.',
  })
  async attempts(
    @Ctx() context: OperationContext,
    @Args(() => AttemptsArgs) args: AttemptsArgs,
  ): Promise<AttemptConnection> {
    const { caller, attempts } = context;
    const pageSize = checkedPageSize(args.first, ATTEMPTS_PAGE_SIZES);
    const filters = attemptFilters(args, visibleKinds(caller));
    const recordedAttempts =
      filters.kinds.length === 0
        ? []
        : await attempts.list({ ...filters, client: caller.id, channel: args.channel, limit: pageSize + 1 });
    const edges = recordedAttempts
      .slice(0, pageSize)
      .map((attempt) => ({ cursor: encodeAttemptCursor(attempt), node: toAttempt(attempt, context) }));
    const hasNextPage = recordedAttempts.length > pageSize;
    const pageInfo = { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null };
    return Object.assign(new AttemptConnection(), { edges, pageInfo });
  }
}
