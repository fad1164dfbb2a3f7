import { requireScope } from '../auth/caller';
import { Arg, Ctx, Mutation, Query, Resolver, Root, Subscription } from 'type-graphql';
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
import { checkBatch, lookupKey } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';
import { asked, type Watching } from './watching';

const CHANNEL = 'The merchant channel on which the payment was made.';

@Resolver()
export class PaymentResolver {
  @RequiresScope('payments:read', 'payments:read:own')
  @Query(() => Payment, {
    nullable: true,
    description:
      'A payment, by at least one of transactionId and externalId; both must fit where both are given. Null when the service shows no such payment (spec 4.3): it may show one that was just created only later.',
  })
  payment(
    @Ctx() { visiblePayments }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, {
      nullable: true,
      description: 'The id that the service gave the payment.',
    })
    transactionId?: string,
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
      'Up to 100 payments, in the order asked, null where not found; one failing lookup makes one null and one error with its path.',
  })
  payments(
    @Ctx() { visiblePayments }: OperationContext,
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionIds', () => [UUID], {
      description: 'The ids that the service gave the payments, at most 100.',
    })
    transactionIds: string[],
  ): Promise<PaymentResource | null>[] {
    checkBatch(transactionIds);
    return transactionIds.map((transactionId) => visiblePayments.load({ channel, transactionId }));
  }

  @RequiresScope('payments:create')
  @Mutation(() => CreatePaymentResult, {
    description:
      'Creates a payment (spec 4.4). Expected failures are members of the result. A method that takes a full card number also needs the scope cards:direct.',
  })
  async createPayment(
    @Ctx() context: OperationContext,
    @Arg('input', () => CreatePaymentInput, { description: 'What to collect, from whom and how.' })
    input: CreatePaymentInput,
  ): Promise<CreatePaymentResult> {
    const { payments, caller } = context;
    if (takesCardNumber(input.method)) requireScope(caller, 'cards:direct');
    return payments.create(input).finally(() => context.invalidateLoaders());
  }

  @RequiresScope('payments:confirm', 'payments:confirm:own')
  @Mutation(() => ConfirmPaymentResult, {
    description:
      'Hands in what the payer gave for a server-to-server payment in a waiting state (spec 4.5). Expected failures are members of the result.',
  })
  confirmPayment(
    @Ctx() context: OperationContext,
    @Arg('input', () => ConfirmPaymentInput, { description: 'The payment, and what the payer gave.' })
    input: ConfirmPaymentInput,
  ): Promise<ConfirmPaymentResult> {
    return context.payments.confirm(input).finally(() => context.invalidateLoaders());
  }

  @RequiresScope('payments:read', 'payments:read:own')
  @Subscription(() => Payment, {
    subscribe: ({ args, context }: Watching) => context.visiblePayments.watch(...asked(args)),
    description:
      'The current state of a payment at once, then every change; completes after COMPLETED or FAILED. The same value is not sent twice; who is slow misses states but never the last (docs/live-updates.md). NOT_FOUND when the service has no such payment.',
  })
  paymentUpdated(
    @Arg('channel', () => UUID, { description: CHANNEL }) channel: string,
    @Arg('transactionId', () => UUID, { description: 'The id that the service gave the payment.' })
    transactionId: string,
    @Root() payment: PaymentResource,
  ): PaymentResource {
    return payment;
  }
}
