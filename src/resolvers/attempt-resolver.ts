import { mayUseChannel, type Caller } from '../auth/caller';
import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import type { Attempt as RecordedAttempt, AttemptKind } from '../datasources/journal/journal';
import { Attempt, AttemptConnection } from '../schema/attempt';
import { Amount } from '../schema/amount';
import { paymentMethodByType, payoutMethodByType } from '../schema/methods';
import {
  AttemptsArgs,
  GRAPHQL_OPERATIONS,
  GRAPHQL_OUTCOMES,
  attemptFilters,
  encodeCursor,
  pageSize,
} from './attempt-filters';
import { badArgument } from './bad-request';
import type { OperationContext } from './context';
import { READ_SCOPES } from './node-resolver';
import { RequiresScope } from './root-fields';

const timestamp = (ms: number): string => new Date(ms).toISOString();

/** Returns the kinds of attempts that the caller may read: those that it may look up or create. */
const visibleKinds = ({ scopes }: Caller): AttemptKind[] =>
  (['payment', 'payout'] as const).filter((kind) =>
    (['read', 'read:own', 'create'] as const).some((right) => scopes.has(`${kind}s:${right}`)),
  );

function toAttempt(
  recorded: RecordedAttempt,
  { visiblePayments, visiblePayouts }: OperationContext,
): Attempt {
  const { kind, channel, transactionId, settledAt, method, currency, value } = recorded;
  const key = transactionId === null ? null : { channel, transactionId };
  const attempt = new Attempt({
    payment: () => (key && kind === 'payment' ? visiblePayments.load(key) : null),
    payout: () => (key && kind === 'payout' ? visiblePayouts.load(key) : null),
  });
  return Object.assign(attempt, {
    idempotencyKey: recorded.key,
    operation: GRAPHQL_OPERATIONS[kind],
    channel,
    externalId: recorded.externalId,
    outcome: GRAPHQL_OUTCOMES[recorded.outcome],
    startedAt: timestamp(recorded.startedAt),
    settledAt: settledAt === null ? null : timestamp(settledAt),
    transactionId,
    amount: Object.assign(new Amount(), { currency, value }),
    paymentMethod: kind === 'payment' ? paymentMethodByType(method).name : null,
    payoutMethod: kind === 'payout' ? payoutMethodByType(method).name : null,
  });
}

@Resolver()
export class AttemptResolver {
  @RequiresScope(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => Attempt, {
    nullable: true,
    description:
      'The outcome of a create call, by its key. Null for a key that this caller never used or may not read now, and after the record was deleted (JOURNAL_RETENTION_DAYS after settledAt).',
  })
  async attempt(
    @Ctx() context: OperationContext,
    @Arg('idempotencyKey', () => ID, { description: 'The key of the create call.' }) idempotencyKey: string,
  ): Promise<Attempt | null> {
    // Each lone surrogate becomes U+FFFD in UTF-8, so different keys would collide.
    if (!idempotencyKey.isWellFormed())
      throw badArgument('idempotencyKey', 'printable', 'idempotencyKey must be well-formed Unicode.');
    const { caller, attempts } = context;
    const found = await attempts.find(caller.id, idempotencyKey);
    const isVisible =
      found && mayUseChannel(caller, found.channel) && visibleKinds(caller).includes(found.kind);
    return isVisible ? toAttempt(found, context) : null;
  }

  @RequiresScope(...READ_SCOPES, 'payments:create', 'payouts:create')
  @Query(() => AttemptConnection, {
    description: 'The create calls of this caller through this gateway, newest first.',
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
      .map((attempt) => ({ cursor: encodeCursor(attempt), node: toAttempt(attempt, context) }));
    const pageInfo = { hasNextPage: found.length > size, endCursor: edges.at(-1)?.cursor ?? null };
    return Object.assign(new AttemptConnection(), { edges, pageInfo });
  }
}
