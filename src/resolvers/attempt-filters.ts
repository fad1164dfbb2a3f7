import { ArgsType, Field, Int } from 'type-graphql';
import type {
  AttemptKind,
  AttemptOutcome as RecordedOutcome,
  AttemptPage,
  AttemptPosition,
} from '../datasources/journal/journal';
import { ATTEMPTS_PAGE, AttemptOperation, AttemptOutcome } from '../schema/attempt';
import { Timestamp, UUID } from '../schema/scalars';
import { badArgument, checkedExternalId } from './bad-request';

const { default: DEFAULT_PAGE_SIZE, max: MAX_PAGE_SIZE } = ATTEMPTS_PAGE;

/** The GraphQL value of each outcome in the journal. */
export const GRAPHQL_OUTCOMES: Record<RecordedOutcome, AttemptOutcome> = {
  in_progress: AttemptOutcome.IN_PROGRESS,
  succeeded: AttemptOutcome.SUCCEEDED,
  rejected: AttemptOutcome.REJECTED,
  not_sent: AttemptOutcome.NOT_SENT,
  unknown: AttemptOutcome.UNKNOWN,
};

/** The value of the GraphQL enum AttemptOperation for each kind of attempt. */
export const GRAPHQL_OPERATIONS: Record<AttemptKind, AttemptOperation> = {
  payment: AttemptOperation.CREATE_PAYMENT,
  payout: AttemptOperation.CREATE_PAYOUT,
};

const RECORDED_OUTCOMES = new Map(
  Object.entries(GRAPHQL_OUTCOMES).map(([recorded, outcome]) => [outcome, recorded as RecordedOutcome]),
);

@ArgsType()
export class AttemptsArgs {
  @Field(() => UUID, { description: 'The merchant channel.' }) channel!: string;

  @Field(() => AttemptOutcome, { nullable: true, description: 'Only attempts with this outcome.' })
  outcome?: AttemptOutcome | null;

  @Field(() => AttemptOperation, { nullable: true, description: 'Only attempts of this operation.' })
  operation?: AttemptOperation | null;

  @Field(() => String, {
    nullable: true,
    description: 'Only attempts with exactly this external id, 1 to 255 characters.',
  })
  externalId?: string | null;

  @Field(() => Timestamp, {
    nullable: true,
    description:
      'Only attempts with startedAt at or after this time, which must be before startedBefore. Consecutive ranges contain every attempt once, except those whose key is reused meanwhile (see startedAt).',
  })
  startedAfter?: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'Only attempts with startedAt before this time.' })
  startedBefore?: string | null;

  @Field(() => Int, {
    nullable: true,
    defaultValue: DEFAULT_PAGE_SIZE,
    description: 'Size of the page, 1 to 100.',
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only attempts older than this cursor.' })
  after?: string | null;
}

/** Returns the requested number of attempts per page. Throws BAD_USER_INPUT if it is out of range. */
export function pageSize({ first }: AttemptsArgs): number {
  const size = first ?? DEFAULT_PAGE_SIZE;
  if (size < 1 || size > MAX_PAGE_SIZE)
    throw badArgument('first', 'range', `first must be from 1 to ${MAX_PAGE_SIZE}.`);
  return size;
}

export const encodeCursor = ({ startedAt, seq }: AttemptPosition): string =>
  Buffer.from(`attempt:${startedAt}:${seq}`).toString('base64url');

function decodeCursor(cursor: string): AttemptPosition {
  const [, startedAt, seq] =
    /^attempt:(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (!seq) throw badArgument('after', 'cursor', 'after is not a cursor of this gateway.');
  return { startedAt: Number(startedAt), seq: Number(seq) };
}

const HAS_FRACTION_OF_MS = /\.\d{3}\d*[1-9]/;

/** Converts a time to milliseconds since 1970, rounded up because `startedAt` is an integer. Null if it is absent. */
function parseTimestamp(name: string, time: string | null | undefined): number | null {
  if (typeof time !== 'string') return null;
  const ms = Date.parse(time.toUpperCase());
  const day = time.slice(0, 10);
  // Date.parse reads February 30 as March 2.
  if (Number.isNaN(ms) || !new Date(day).toISOString().startsWith(day))
    throw badArgument(name, 'timestamp', `${name} must be a time that exists in the calendar.`);
  return HAS_FRACTION_OF_MS.test(time) ? ms + 1 : ms;
}

const isEarlier = (one: AttemptPosition, other: AttemptPosition): boolean =>
  one.startedAt < other.startedAt || (one.startedAt === other.startedAt && one.seq < other.seq);

type AttemptFilters = Required<
  Pick<AttemptPage, 'kinds' | 'outcome' | 'externalId' | 'startedFrom' | 'beforePosition'>
>;

/** Converts the arguments to filters of the journal, within `visibleKinds`. Throws BAD_USER_INPUT if one is invalid. */
export function attemptFilters(args: AttemptsArgs, visibleKinds: readonly AttemptKind[]): AttemptFilters {
  const { operation, outcome, externalId, after } = args;
  const startedFrom = parseTimestamp('startedAfter', args.startedAfter);
  const startedBefore = parseTimestamp('startedBefore', args.startedBefore);
  if (startedFrom !== null && startedBefore !== null && startedFrom >= startedBefore)
    throw badArgument('startedAfter', 'range', 'startedAfter must be before startedBefore.');
  const cursor = typeof after === 'string' ? decodeCursor(after) : null;
  const end = startedBefore === null ? null : { startedAt: startedBefore, seq: 0 };
  return {
    kinds: visibleKinds.filter((kind) => !operation || GRAPHQL_OPERATIONS[kind] === operation),
    outcome: (outcome && RECORDED_OUTCOMES.get(outcome)) ?? null,
    externalId: typeof externalId === 'string' ? checkedExternalId(externalId) : null,
    startedFrom,
    beforePosition: cursor && end && isEarlier(end, cursor) ? end : (cursor ?? end),
  };
}
