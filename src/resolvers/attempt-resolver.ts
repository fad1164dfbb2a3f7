import { mayUseChannel, type Caller } from '../access/caller';
import { Arg, Args, ArgsType, Ctx, Field, ID, Int, Query, Resolver } from 'type-graphql';
import type {
  Attempt as RecordedAttempt,
  AttemptKind,
  AttemptPosition,
  AttemptOutcome as RecordedOutcome,
} from '../datasources/journal/journal';
import {
  Attempt,
  ATTEMPTS_PAGE,
  AttemptConnection,
  AttemptOperation,
  AttemptOutcome,
} from '../schema/attempt';
import { UUID } from '../schema/scalars';
import { badArgument } from './bad-request';
import type { OperationContext } from './context';
import { READ_SCOPES } from './node-resolver';
import { Needs } from './root-fields';

const { default: DEFAULT_PAGE, max: MAX_PAGE } = ATTEMPTS_PAGE;

const OUTCOMES: Record<RecordedOutcome, AttemptOutcome> = {
  in_progress: AttemptOutcome.IN_PROGRESS,
  succeeded: AttemptOutcome.SUCCEEDED,
  rejected: AttemptOutcome.REJECTED,
  not_sent: AttemptOutcome.NOT_SENT,
  unknown: AttemptOutcome.UNKNOWN,
};

const RECORDED = new Map(
  Object.entries(OUTCOMES).map(([recorded, outcome]) => [outcome, recorded as RecordedOutcome]),
);

const timestamp = (ms: number): string => new Date(ms).toISOString();
const cursorOf = ({ startedAt, seq }: AttemptPosition): string =>
  Buffer.from(`attempt:${startedAt}:${seq}`).toString('base64url');

function positionOf(cursor: string): AttemptPosition {
  const [, startedAt, seq] =
    /^attempt:(\d{1,15}):(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (!seq) throw badArgument('after', 'cursor', 'after is not a cursor that this gateway made.');
  return { startedAt: Number(startedAt), seq: Number(seq) };
}

/** What a caller may create it may also see of its own creates. */
const visibleKinds = ({ scopes }: Caller): AttemptKind[] =>
  (['payment', 'payout'] as const).filter((kind) =>
    (['read', 'read:own', 'create'] as const).some((right) => scopes.has(`${kind}s:${right}`)),
  );

/** An attempt of the journal, ready to be answered. */
function shown(recorded: RecordedAttempt, { visiblePayments, visiblePayouts }: OperationContext): Attempt {
  const { kind, channel, transactionId, settledAt } = recorded;
  const key = transactionId === null ? null : { channel, transactionId };
  const attempt = new Attempt({
    payment: () => (key && kind === 'payment' ? visiblePayments.load(key) : null),
    payout: () => (key && kind === 'payout' ? visiblePayouts.load(key) : null),
  });
  return Object.assign(attempt, {
    idempotencyKey: recorded.key,
    operation: kind === 'payment' ? AttemptOperation.CREATE_PAYMENT : AttemptOperation.CREATE_PAYOUT,
    channel,
    externalId: recorded.externalId,
    outcome: OUTCOMES[recorded.outcome],
    startedAt: timestamp(recorded.startedAt),
    settledAt: settledAt === null ? null : timestamp(settledAt),
  });
}

@ArgsType()
class AttemptsArgs {
  @Field(() => UUID, { description: 'The merchant channel.' })
  channel!: string;

  @Field(() => AttemptOutcome, { nullable: true, description: 'Only those with this outcome.' })
  outcome?: AttemptOutcome | null;

  @Field(() => Int, { nullable: true, defaultValue: DEFAULT_PAGE, description: 'How many, 1 to 100.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Only those older than this cursor.' })
  after?: string | null;
}

@Resolver()
export class AttemptResolver {
  @Needs(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => Attempt, {
    nullable: true,
    description:
      'What became of a create call, by the key it was made with. Null for a key that this caller never used.',
  })
  async attempt(
    @Ctx() context: OperationContext,
    @Arg('idempotencyKey', () => ID, { description: 'The key of the create call.' }) idempotencyKey: string,
  ): Promise<Attempt | null> {
    // Half of a surrogate pair becomes U+FFFD in UTF-8: two keys would be one.
    if (!idempotencyKey.isWellFormed())
      throw badArgument('idempotencyKey', 'printable', 'idempotencyKey must be well-formed Unicode.');
    const { caller, attempts } = context;
    const found = await attempts.find(caller.id, idempotencyKey);
    const isVisible =
      found && mayUseChannel(caller, found.channel) && visibleKinds(caller).includes(found.kind);
    return isVisible ? shown(found, context) : null;
  }

  @Needs(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => AttemptConnection, {
    description:
      'Newest first. The service has no list operation: these are the creates that this caller made through this gateway.',
  })
  async attempts(
    @Ctx() context: OperationContext,
    @Args(() => AttemptsArgs) { channel, outcome, first, after }: AttemptsArgs,
  ): Promise<AttemptConnection> {
    const size = first ?? DEFAULT_PAGE;
    if (size < 1 || size > MAX_PAGE)
      throw badArgument('first', 'range', `first must be from 1 to ${MAX_PAGE}.`);
    const page = {
      client: context.caller.id,
      channel,
      kinds: visibleKinds(context.caller),
      outcome: outcome && RECORDED.get(outcome),
      before: typeof after === 'string' ? positionOf(after) : null,
    };
    const found = await context.attempts.list({ ...page, limit: size + 1 });
    const edges = found
      .slice(0, size)
      .map((attempt) => ({ cursor: cursorOf(attempt), node: shown(attempt, context) }));
    const pageInfo = { hasNextPage: found.length > size, endCursor: edges.at(-1)?.cursor ?? null };
    return Object.assign(new AttemptConnection(), { edges, pageInfo });
  }
}
