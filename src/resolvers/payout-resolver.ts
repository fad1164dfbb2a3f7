import { requireScope } from '../auth/caller';
import { Arg, Ctx, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { Payout } from '../schema/methods/method-types';
import { takesCardNumber } from '../schema/methods/selected-method';
import type { PayoutResource } from '../schema/payout';
import { CreatePayoutInput, CreatePayoutResult } from '../schema/payout-mutations';
import { UUID } from '../schema/scalars';
import { checkBatch, lookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';
import { asked, type Watching } from './watching';

const CHANNEL = 'The merchant channel on which the payout was made.';

@Resolver()
export class PayoutResolver {
  @RequiresScope('payouts:read', 'payouts:read:own')
  @Query(() => Payout, {
    nullable: true,
    description:
      'A payout, by at least one of transactionId and externalId; both must fit where both are given. Null when the service shows no such payout (spec 4.1): it may show one that was just created only later.',
  })
  payout(
    @Ctx() { visiblePayouts }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, {
      nullable: true,
      description: 'The id that the service gave the payout.',
    })
    transactionId?: string,
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
      'Up to 100 payouts, in the order asked, null where not found; one failing lookup makes one null and one error with its path.',
  })
  payouts(
    @Ctx() { visiblePayouts }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionIds', () => [UUID], {
      description: 'The ids that the service gave the payouts, at most 100.',
    })
    transactionIds: string[],
  ): Promise<PayoutResource | null>[] {
    checkBatch(transactionIds);
    return transactionIds.map((transactionId) => visiblePayouts.load({ channel, transactionId }));
  }

  @RequiresScope('payouts:create')
  @Mutation(() => CreatePayoutResult, {
    description:
      'Creates a payout (spec 4.2). Expected failures are members of the result. A method that takes a full card number also needs the scope cards:direct.',
  })
  async createPayout(
    @Ctx() context: OperationContext,
    @Arg('input', () => CreatePayoutInput, { description: 'What to send, to whom and how.' })
    input: CreatePayoutInput,
  ): Promise<CreatePayoutResult> {
    const { payouts, caller } = context;
    if (takesCardNumber(input.method)) requireScope(caller, 'cards:direct');
    return payouts.create(input).finally(() => context.invalidateLoaders());
  }

  @RequiresScope('payouts:read', 'payouts:read:own')
  @Subscription(() => Payout, {
    subscribe: ({ args, context }: Watching) => context.visiblePayouts.watch(...asked(args)),
    description:
      'The current state of a payout at once, then every change; completes after COMPLETED or FAILED. The same value is not sent twice; who is slow misses states but never the last (docs/live-updates.md). NOT_FOUND when the service has no such payout.',
  })
  payoutUpdated(
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, { description: 'The id that the service gave the payout.' })
    transactionId: string,
    @Root() payout: PayoutResource,
  ): PayoutResource {
    return payout;
  }
}
