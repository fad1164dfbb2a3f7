import { Arg, Ctx, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
import { requireScope } from '../auth/caller';
import { Payment } from '../schema/methods/method-types';
import { takesCardNumber } from '../schema/methods/selected-method';
import type { PaymentResource } from '../schema/payment';
import {
  ConfirmPaymentInput,
  ConfirmPaymentResult,
  CreatePaymentInput,
  CreatePaymentResult,
} from '../schema/payment-mutations';
import { UUID } from '../schema/scalars';
import { checkBatchSize, lookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope, type SubscriptionArgs } from './root-fields';

const CHANNEL = 'The merchant channel of the payment.';
const TRANSACTION_ID = 'The id of the payment at the service.';

@Resolver()
export class PaymentResolver {
  @RequiresScope('payments:read', 'payments:read:own')
  @Query(() => Payment, {
    nullable: true,
    description:
      'A payment by transactionId, externalId or both, which must then belong together. Null if the service finds none (spec 4.3); it may find a new payment only after a delay.',
  })
  payment(
    @Ctx() { visiblePayments }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, { nullable: true, description: TRANSACTION_ID }) transactionId?: string,
    @Arg('externalId', () => String, {
      nullable: true,
      description: "The identifier in the client's system.",
    })
    externalId?: string,
  ): Promise<PaymentResource | null> {
    return visiblePayments.load(lookupKey(channel, transactionId, externalId));
  }

  @RequiresScope('payments:read', 'payments:read:own')
  @Query(() => [Payment], {
    nullable: 'items',
    description:
      'Up to 100 payments in the order of transactionIds. Null if not found; a failed lookup is null with one error at its path.',
  })
  payments(
    @Ctx() { visiblePayments }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionIds', () => [UUID], {
      description: 'The ids of the payments at the service, at most 100.',
    })
    transactionIds: string[],
  ): Promise<PaymentResource | null>[] {
    checkBatchSize(transactionIds);
    return transactionIds.map((transactionId) => visiblePayments.load({ channel, transactionId }));
  }

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

  @RequiresScope('payments:read', 'payments:read:own')
  @Subscription(() => Payment, {
    subscribe: ({ args, context }: SubscriptionArgs) =>
      context.visiblePayments.watch(args.channel, args.transactionId),
    description:
      'The current state of a payment, then every change; completes after COMPLETED or FAILED. Slow clients may miss states but never the last (docs/live-updates.md). NOT_FOUND if the service finds none.',
  })
  paymentUpdated(
    @Arg('channel', () => UUID, { description: CHANNEL }) _channel: string,
    @Arg('transactionId', () => UUID, { description: TRANSACTION_ID }) _transactionId: string,
    @Root() payment: PaymentResource,
  ): PaymentResource {
    return payment;
  }
}
