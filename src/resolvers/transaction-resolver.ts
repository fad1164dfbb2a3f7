import { Arg, Ctx, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { Payment, Payout } from '../schema/methods/method-types';
import { UUID } from '../schema/scalars';
import type { TransactionResource } from '../schema/transaction';
import { checkItemCount, checkedLookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope, type SubscribeParams } from './root-fields';

interface ResolverOptions {
  kind: 'payment' | 'payout';
  getType: () => typeof Payment | typeof Payout;
  /** Section of the payment service's specification that defines the lookup, such as 4.3. */
  specSection: string;
}

type LookupPromise = Promise<TransactionResource | null>;

/** Returns the resolver of `payment`, `payments` and `paymentUpdated`, or of the same fields for payouts. */
export function createTransactionResolver({ kind, getType, specSection }: ResolverOptions): new () => object {
  const RequiresReadScope = () => RequiresScope(`${kind}s:read`, `${kind}s:read:own`);
  const ChannelArg = () => Arg('channel', () => UUID, { description: `The ${kind}'s merchant channel.` });
  const idDescription = `The id of the ${kind} at the service.`;

  @Resolver()
  class TransactionResolver {
    @RequiresReadScope()
    @Query(getType, {
      name: kind,
      nullable: true,
      description: `The ${kind} with this transactionId, this externalId or both. Null if the service finds none (spec ${specSection}), which can happen shortly after the create.`,
    })
    lookUp(
      @Ctx() context: OperationContext,
      @ChannelArg() channel: string,
      @Arg('transactionId', () => UUID, { nullable: true, description: idDescription })
      transactionId?: string,
      @Arg('externalId', () => String, {
        nullable: true,
        description: "The identifier in the client's system.",
      })
      externalId?: string,
    ): LookupPromise {
      return context.visibleTransactions(kind).load(checkedLookupKey(channel, transactionId, externalId));
    }

    @RequiresReadScope()
    @Query(() => [getType()], {
      name: `${kind}s`,
      nullable: 'items',
      description: `Up to 100 ${kind}s in the order of transactionIds. An item is null if its ${kind} is not found. If its lookup fails, the item is null, with one error at its path.`,
    })
    lookUpAll(
      @Ctx() context: OperationContext,
      @ChannelArg() channel: string,
      @Arg('transactionIds', () => [UUID], {
        description: `The ids of the ${kind}s at the service, at most 100.`,
      })
      transactionIds: string[],
    ): LookupPromise[] {
      checkItemCount(transactionIds);
      const visibleTransactions = context.visibleTransactions(kind);
      return transactionIds.map((transactionId) => visibleTransactions.load({ channel, transactionId }));
    }

    @RequiresReadScope()
    @Subscription(getType, {
      name: `${kind}Updated`,
      subscribe: ({ args, context }: SubscribeParams<{ channel: string; transactionId: string }>) =>
        context.visibleTransactions(kind).watch(args.channel, args.transactionId),
      description: `The current state of a ${kind}, then each new state. Completes after COMPLETED or FAILED. A slow client may miss intermediate states, but never the last (docs/live-updates.md). NOT_FOUND if the service finds none.`,
    })
    transactionUpdated(
      @ChannelArg() _channel: string,
      @Arg('transactionId', () => UUID, { description: idDescription }) _transactionId: string,
      @Root() transaction: TransactionResource,
    ): TransactionResource {
      return transaction;
    }
  }
  return TransactionResolver;
}
