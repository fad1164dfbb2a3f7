import { mayUseChannel, type Caller } from '../auth/caller';
import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import type { Attempt as RecordedAttempt, AttemptKind } from '../datasources/journal/journal';
import { Attempt, AttemptConnection } from '../schema/attempt';
import { Amount } from '../schema/amount';
import { paymentRoomOf, payoutRoomOf } from '../schema/methods';
import { AttemptsArgs, OPERATIONS, OUTCOMES, attemptFilters, cursorOf, pageSize } from './attempt-filters';
import { badArgument } from './bad-request';
import type { OperationContext } from './context';
import { READ_SCOPES } from './node-resolver';
import { RequiresScope } from './root-fields';

const timestamp = (ms: number): string => new Date(ms).toISOString();

/** What a caller may create it may also see of its own creates. */
const visibleKinds = ({ scopes }: Caller): AttemptKind[] =>
  (['payment', 'payout'] as const).filter((kind) =>
    (['read', 'read:own', 'create'] as const).some((right) => scopes.has(`${kind}s:${right}`)),
  );

/** An attempt of the journal, ready to be answered. */
function shown(recorded: RecordedAttempt, { visiblePayments, visiblePayouts }: OperationContext): Attempt {
  const { kind, channel, transactionId, settledAt, method, currency, value } = recorded;
  const key = transactionId === null ? null : { channel, transactionId };
  const attempt = new Attempt({
    payment: () => (key && kind === 'payment' ? visiblePayments.load(key) : null),
    payout: () => (key && kind === 'payout' ? visiblePayouts.load(key) : null),
  });
  return Object.assign(attempt, {
    idempotencyKey: recorded.key,
    operation: OPERATIONS[kind],
    channel,
    externalId: recorded.externalId,
    outcome: OUTCOMES[recorded.outcome],
    startedAt: timestamp(recorded.startedAt),
    settledAt: settledAt === null ? null : timestamp(settledAt),
    transactionId,
    amount: Object.assign(new Amount(), { currency, value }),
    paymentMethod: kind === 'payment' ? paymentRoomOf(method).name : null,
    payoutMethod: kind === 'payout' ? payoutRoomOf(method).name : null,
  });
}

@Resolver()
export class AttemptResolver {
  @RequiresScope(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => Attempt, {
    nullable: true,
    description:
      'What became of a create call, by the key it was made with. Null for a key that this caller never used, may not see now, or used so long ago that the record is deleted (JOURNAL_RETENTION_DAYS after it was settled).',
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

  @RequiresScope(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => AttemptConnection, {
    description:
      'Newest first. The service has no list operation: these are the creates that this caller made through this gateway.',
  })
  async attempts(
    @Ctx() context: OperationContext,
    @Args(() => AttemptsArgs) args: AttemptsArgs,
  ): Promise<AttemptConnection> {
    const { caller, attempts } = context;
    const size = pageSize(args);
    const filters = attemptFilters(args, visibleKinds(caller));
    const found =
      filters.kinds.length === 0
        ? []
        : await attempts.list({ ...filters, client: caller.id, channel: args.channel, limit: size + 1 });
    const edges = found
      .slice(0, size)
      .map((attempt) => ({ cursor: cursorOf(attempt), node: shown(attempt, context) }));
    const pageInfo = { hasNextPage: found.length > size, endCursor: edges.at(-1)?.cursor ?? null };
    return Object.assign(new AttemptConnection(), { edges, pageInfo });
  }
}
