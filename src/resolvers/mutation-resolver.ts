import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { requireAnyScope } from '../auth/caller';
import { takesCardNumber } from '../schema/methods/selected-method';
import {
  ConfirmPaymentInput,
  ConfirmPaymentResult,
  CreatePaymentInput,
  CreatePaymentResult,
  CreatePayoutInput,
  CreatePayoutResult,
} from '../schema/mutations';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';

/** Throws an AccessError if an input has a full card number and the caller lacks the scope for sending one. */
function requireScopeForCardNumber(
  { caller }: OperationContext,
  { method }: CreatePaymentInput | CreatePayoutInput,
): void {
  if (takesCardNumber(method)) requireAnyScope(caller, 'cards:direct');
}

@Resolver()
export class MutationResolver {
  @RequiresScope('payments:create')
  @Mutation(() => CreatePaymentResult, {
    description:
      'Creates a payment (spec 4.4). Expected failures are members of the result. A full card number also needs the scope cards:direct.',
  })
  async createPayment(
    @Ctx() context: OperationContext,
    @Arg('input', () => CreatePaymentInput, { description: 'The payment to create.' })
    input: CreatePaymentInput,
  ): Promise<CreatePaymentResult> {
    requireScopeForCardNumber(context, input);
    return context.paymentMutations.create(input).finally(() => context.discardCachedLookups());
  }

  @RequiresScope('payments:confirm', 'payments:confirm:own')
  @Mutation(() => ConfirmPaymentResult, {
    description:
      'Confirms a server-to-server payment in a waiting state (spec 4.5). Expected failures are members of the result.',
  })
  confirmPayment(
    @Ctx() context: OperationContext,
    @Arg('input', () => ConfirmPaymentInput, { description: 'The payment and the data of the payer.' })
    input: ConfirmPaymentInput,
  ): Promise<ConfirmPaymentResult> {
    return context.paymentMutations.confirm(input).finally(() => context.discardCachedLookups());
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
    requireScopeForCardNumber(context, input);
    return context.payoutMutations.create(input).finally(() => context.discardCachedLookups());
  }
}
