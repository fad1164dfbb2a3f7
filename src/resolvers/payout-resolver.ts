import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { Payout } from '../schema/methods/assemble';
import type { PayoutResource } from '../schema/payout';
import { CreatePayoutInput, CreatePayoutResult } from '../schema/payout-mutations';
import { UUID } from '../schema/scalars';
import { checkBatch, lookupKey } from './bad-request';
import type { OperationContext } from './context';

const CHANNEL = 'The merchant channel on which the payout was made.';

@Resolver()
export class PayoutResolver {
  @Query(() => Payout, {
    nullable: true,
    description:
      'A payout, by at least one of transactionId and externalId; both must fit where both are given. Null when the service has no such payout (spec 4.1).',
  })
  payout(
    @Ctx() { payoutLookups }: OperationContext,
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
    return payoutLookups.load(lookupKey(channel, transactionId, externalId));
  }

  @Query(() => [Payout], {
    nullable: 'items',
    description:
      'Up to 100 payouts, in the order asked, null where not found; one failing lookup makes one null and one error with its path.',
  })
  payouts(
    @Ctx() { payoutLookups }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionIds', () => [UUID], {
      description: 'The ids that the service gave the payouts, at most 100.',
    })
    transactionIds: string[],
  ): Promise<PayoutResource | null>[] {
    checkBatch(transactionIds);
    return transactionIds.map((transactionId) => payoutLookups.load({ channel, transactionId }));
  }

  @Mutation(() => CreatePayoutResult, {
    description: 'Creates a payout (spec 4.2). Expected failures are members of the result.',
  })
  createPayout(
    @Ctx() { payouts, changed, client }: OperationContext,
    @Arg('input', () => CreatePayoutInput, { description: 'What to send, to whom and how.' })
    input: CreatePayoutInput,
  ): Promise<CreatePayoutResult> {
    return payouts.create(input, client).finally(() => changed(input.channel));
  }
}
