import { Arg, Ctx, Mutation, Resolver } from 'type-graphql';
import { requireScope } from '../auth/caller';
import { takesCardNumber } from '../schema/methods/selected-method';
import {
  ConfirmPaymentInput,
  ConfirmPaymentResult,
  CreatePaymentInput,
  CreatePaymentResult,
} from '../schema/mutations';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';

@Resolver()
export class PaymentResolver {
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
    const { payments, caller } = context;
    if (takesCardNumber(input.method)) requireScope(caller, 'cards:direct');
    return payments.create(input).finally(() => context.invalidateLoaders());
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
    return context.payments.confirm(input).finally(() => context.invalidateLoaders());
  }
}
