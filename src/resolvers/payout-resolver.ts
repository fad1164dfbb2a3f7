import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { requireScope } from '../auth/caller';
import { takesCardNumber } from '../schema/methods/selected-method';
import { CreatePayoutInput, CreatePayoutResult } from '../schema/mutations';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';

@Resolver()
export class PayoutResolver {
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
}
