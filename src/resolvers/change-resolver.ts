import { Arg, Ctx, Int, Query, Resolver, Root, Subscription } from 'type-graphql';
import { encodeCursor } from '../core/changes/cursor';
import type { RecordedChange } from '../datasources/journal/changes';
import { Amount } from '../schema/amount';
import { CHANGES_PAGE_SIZES, Change, ChangePage, PaymentChange, PayoutChange } from '../schema/change';
import { findPaymentMethod, findPayoutMethod } from '../schema/methods';
import { UUID } from '../schema/scalars';
import { checkedPageSize } from './bad-request';
import type { OperationContext } from './context';
import { ALL_READ_SCOPES } from './node-resolver';
import { RequiresScope, type SubscribeParams } from './root-fields';

function toChange(recordedChange: RecordedChange, context: OperationContext): Change {
  const { kind, channel, transactionId, currency, value, received } = recordedChange;
  const lookUp = async () => {
    // In a subscription, each lookup first consumes a rate limit point of the caller.
    await context.consumeLookupPoint?.();
    return context.visibleTransactions(kind).load({ channel, transactionId });
  };
  const commonFields = {
    cursor: encodeCursor(recordedChange.position),
    recordedAt: new Date(recordedChange.recordedAt).toISOString(),
    channel,
    transactionId,
    externalId: recordedChange.externalId,
    previousStatus: recordedChange.previousStatus,
    status: recordedChange.status,
    amount: Object.assign(new Amount(), { currency, value, received }),
  };
  if (kind === 'payout')
    return Object.assign(new PayoutChange(), commonFields as Partial<PayoutChange>, {
      method: findPayoutMethod(recordedChange.method).name,
      payout: lookUp,
    });
  return Object.assign(new PaymentChange(), commonFields as Partial<PaymentChange>, {
    method: findPaymentMethod(recordedChange.method).name,
    state: recordedChange.state as PaymentChange['state'],
    payment: lookUp,
  });
}

const ChannelArg = () => Arg('channel', () => UUID, { description: 'The merchant channel.' });

@Resolver()
export class ChangeResolver {
  @RequiresScope(...ALL_READ_SCOPES)
  @Query(() => ChangePage, {
    description:
      'The changes after a cursor, oldest first. They show the payments and payouts that were created through this gateway, until each is COMPLETED or FAILED. Continuing from endCursor skips and repeats nothing. CURSOR_EXPIRED if changes after the cursor were deleted.',
  })
  async changes(
    @Ctx() context: OperationContext,
    @ChannelArg() channel: string,
    @Arg('after', () => String, {
      nullable: true,
      description: 'The cursor of a change or page; without it the page begins at the oldest stored change.',
    })
    after?: string | null,
    @Arg('first', () => Int, {
      nullable: true,
      defaultValue: CHANGES_PAGE_SIZES.default,
      description: `Size of the page, 1 to ${CHANGES_PAGE_SIZES.max}.`,
    })
    first?: number | null,
  ): Promise<ChangePage> {
    const pageSize = checkedPageSize(first, CHANGES_PAGE_SIZES);
    const { changes, endPosition, hasMore } = await context.changes.read(channel, after ?? null, pageSize);
    return Object.assign(new ChangePage(), {
      changes: changes.map((recordedChange) => toChange(recordedChange, context)),
      endCursor: encodeCursor(endPosition),
      hasMore,
    });
  }

  @RequiresScope(...ALL_READ_SCOPES)
  @Subscription(() => Change, {
    name: 'changes',
    subscribe: ({ args, context }: SubscribeParams<{ channel: string; after?: string | null }>) =>
      context.changes.watch(args.channel, context.lastEventId ?? args.after ?? null),
    description:
      'Every change after a cursor, then new ones as they are recorded, in the order of the query `changes`. Slow clients miss nothing. If the changes are sent as server-sent events, the id of each event is the cursor, and the header Last-Event-ID replaces `after` (docs/live-updates.md).',
  })
  changed(
    @Ctx() context: OperationContext,
    @ChannelArg() _channel: string,
    @Arg('after', () => String, {
      nullable: true,
      description: 'The cursor of a change or page; without it only new changes are sent.',
    })
    _after: string | undefined,
    @Root() recordedChange: RecordedChange,
  ): Change {
    // Discard the cached results of lookups, because they may be older than this change.
    context.discardCachedLookups();
    const change = toChange(recordedChange, context);
    context.latestEventId = change.cursor;
    return change;
  }
}
