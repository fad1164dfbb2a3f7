import { Arg, Ctx, Query, Resolver, Root, Subscription } from 'type-graphql';
import type { Payment, Payout } from '../schema/methods/method-types';
import type { PaymentResource } from '../schema/payment';
import type { PayoutResource } from '../schema/payout';
import { UUID } from '../schema/scalars';
import { checkBatchSize, checkedLookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope, type SubscribeData } from './root-fields';

interface ResolverOptions {
  kind: 'payment' | 'payout';
  getType: () => typeof Payment | typeof Payout;
  /** Section of the payment service's specification that defines the lookup, such as 4.3. */
  specSection: string;
}

type LookupPromise = Promise<PaymentResource | PayoutResource | null>;

/** Returns the resolver of `payment`, `payments` and `paymentUpdated`, or of the same fields for payouts. */
export function createTransactionResolver({ kind, getType, specSection }: ResolverOptions): new () => object {
  const CanRead = () => RequiresScope(`${kind}s:read`, `${kind}s:read:own`);
  const Channel = () => Arg('channel', () => UUID, { description: `The merchant channel of the ${kind}.` });
  const idDescription = `The id of the ${kind} at the service.`;

  @Resolver()
  class TransactionResolver {
    @CanRead()
    @Query(getType, {
      name: kind,
      nullable: true,
      description: `A ${kind} by transactionId, externalId or both, which must then belong together. Null if the service finds none (spec ${specSection}); it may find a new ${kind} only after a delay.`,
    })
    lookUp(
      @Ctx() context: OperationContext,
      @Channel() channel: string,
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

    @CanRead()
    @Query(() => [getType()], {
      name: `${kind}s`,
      nullable: 'items',
      description: `Up to 100 ${kind}s in the order of transactionIds. An item is null if its ${kind} is not found. If its lookup fails, the item is null, with one error at its path.`,
    })
    lookUpAll(
      @Ctx() context: OperationContext,
      @Channel() channel: string,
      @Arg('transactionIds', () => [UUID], {
        description: `The ids of the ${kind}s at the service, at most 100.`,
      })
      transactionIds: string[],
    ): LookupPromise[] {
      checkBatchSize(transactionIds);
      const visibleTransactions = context.visibleTransactions(kind);
      return transactionIds.map((transactionId) => visibleTransactions.load({ channel, transactionId }));
    }

    @CanRead()
    @Subscription(getType, {
      name: `${kind}Updated`,
      subscribe: ({ args, context }: SubscribeData<{ channel: string; transactionId: string }>) =>
        context.visibleTransactions(kind).watch(args.channel, args.transactionId),
      description: `The current state of a ${kind}, then every change; completes after COMPLETED or FAILED. Slow clients may miss states but never the last (docs/live-updates.md). NOT_FOUND if the service finds none.`,
    })
    updated(
      @Channel() _channel: string,
      @Arg('transactionId', () => UUID, { description: idDescription }) _transactionId: string,
      @Root() transaction: PaymentResource | PayoutResource,
    ): PaymentResource | PayoutResource {
      return transaction;
    }
  }
  return TransactionResolver;
}
