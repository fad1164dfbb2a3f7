import { Arg, Ctx, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { requireScope } from '../auth/caller';
import { Payout } from '../schema/methods/method-types';
import { takesCardNumber } from '../schema/methods/selected-method';
import type { PayoutResource } from '../schema/payout';
import { CreatePayoutInput, CreatePayoutResult } from '../schema/payout-mutations';
import { UUID } from '../schema/scalars';
import { checkBatchSize, lookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope, type SubscriptionArgs } from './root-fields';

const CHANNEL = 'The merchant channel of the payout.';
const TRANSACTION_ID = 'The id of the payout at the service.';

@Resolver()
export class PayoutResolver {
  @RequiresScope('payouts:read', 'payouts:read:own')
  @Query(() => Payout, {
    nullable: true,
    description:
      'A payout by transactionId, externalId or both, which must then belong together. Null if the service finds none (spec 4.1); it may find a new payout only after a delay.',
  })
  payout(
    @Ctx() { visiblePayouts }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, { nullable: true, description: TRANSACTION_ID }) transactionId?: string,
    @Arg('externalId', () => String, {
      nullable: true,
      description: "The identifier in the client's system.",
    })
    externalId?: string,
  ): Promise<PayoutResource | null> {
    return visiblePayouts.load(lookupKey(channel, transactionId, externalId));
  }

  @RequiresScope('payouts:read', 'payouts:read:own')
  @Query(() => [Payout], {
    nullable: 'items',
    description:
      'Up to 100 payouts in the order of transactionIds. Null if not found; a failed lookup is null with one error at its path.',
  })
  payouts(
    @Ctx() { visiblePayouts }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionIds', () => [UUID], {
      description: 'The ids of the payouts at the service, at most 100.',
    })
    transactionIds: string[],
  ): Promise<PayoutResource | null>[] {
    checkBatchSize(transactionIds);
    return transactionIds.map((transactionId) => visiblePayouts.load({ channel, transactionId }));
  }

  @RequiresScope('payouts:create')
  @Mutation(() => CreatePayoutResult, {
    description:
      'Creates a payout (spec 4.2). Expected failures are members of the result. A full card number also needs the scope cards:direct.',
  })
  async createPayout(
    @Ctx() context: OperationContext,
    @Arg('input', () => CreatePayoutInput, { description: 'The payout to create.' })
    input: CreatePayoutInput,
  ): Promise<CreatePayoutResult> {
    const { payouts, caller } = context;
    if (takesCardNumber(input.method)) requireScope(caller, 'cards:direct');
    return payouts.create(input).finally(() => context.invalidateLoaders());
  }

  @RequiresScope('payouts:read', 'payouts:read:own')
  @Subscription(() => Payout, {
    subscribe: ({ args, context }: SubscriptionArgs) =>
      context.visiblePayouts.watch(args.channel, args.transactionId),
    description:
      'The current state of a payout, then every change; completes after COMPLETED or FAILED. Slow clients may miss states but never the last (docs/live-updates.md). NOT_FOUND if the service finds none.',
  })
  payoutUpdated(
    @Arg('channel', () => UUID, { description: CHANNEL }) _channel: string,
    @Arg('transactionId', () => UUID, { description: TRANSACTION_ID }) _transactionId: string,
    @Root() payout: PayoutResource,
  ): PayoutResource {
    return payout;
  }
}
