import { Field, Int, ObjectType, createUnionType } from 'type-graphql';
import { NullableField } from './nullable-field';
import { HttpUrl } from './scalars';

const PollAfterMsField = (): PropertyDecorator =>
  Field(() => Int, { description: 'Polling interval for callers without a subscription, in milliseconds.' });

/** Base class of the actions that confirmPayment completes. method-types.ts adds `confirmWith` to the schema. */
abstract class BaseConfirmableAction {
  /** Name of the field to set in ConfirmationInput, for example `upi`. */
  confirmWith!: string;
}

@ObjectType({ description: 'Send the payer to url: the hosted page, or 3-D Secure (spec 2.5).' })
export class RedirectAction {
  @Field(() => HttpUrl, { description: 'The page for the payer.' }) url!: string;
  @PollAfterMsField() pollAfterMs!: number;
}

@ObjectType({
  description:
    'Let the payer pay by UPI, collect the UTR (reference number of the transfer), and call confirmPayment with it (spec 3.3, waiting_for_utr).',
})
export class ProvideUtrAction extends BaseConfirmableAction {
  @NullableField('The UPI id to pay to; null if the service did not send one.') upiId?: string | null;
  @NullableField('A payment link for UPI apps; null if the service did not send one.') upiLink?:
    string | null;
}

@ObjectType({
  description:
    'Collect the code from the payer and call confirmPayment with it (spec 3.3, waiting_for_code).',
})
export class ProvideCodeAction extends BaseConfirmableAction {
  @NullableField(
    'The account to which the payer sends the money before the confirm (bkash, nagad, rocket); null for other methods.',
  )
  account?: string | null;
}

@ObjectType({
  description:
    'Let the payer transfer to this card, then call confirmPayment (spec 3.3, waiting_for_confirm).',
})
export class ConfirmTransferAction extends BaseConfirmableAction {
  @NullableField("The recipient's card number; null if the service did not send one.")
  cardNumber?: string | null;

  @NullableField("The recipient's name; null if the service did not send one.") recipient?: string | null;
}

@ObjectType({ description: 'Let the payer transfer to this virtual account (spec 2.5).' })
export class PayVirtualAccountAction {
  @Field(() => String, { description: 'The number of the virtual account of this payment.' })
  virtualAccount!: string;

  @NullableField('The bank of the virtual account; null if the service did not send one.')
  bankCode?: string | null;

  @PollAfterMsField() pollAfterMs!: number;
}

@ObjectType({ description: 'Let the payer scan this QR code (spec 2.5).' })
export class ScanQrCodeAction {
  @Field(() => String, { description: 'The payload of the code.' }) qrCode!: string;
  @Field(() => String, { description: 'The payload as an image: an SVG data URI.' }) qrCodeImage!: string;
  @PollAfterMsField() pollAfterMs!: number;
}

@ObjectType({ description: 'Wait: the provider has to approve (spec 3.3, waiting_for_provider).' })
export class AwaitProviderAction {
  @PollAfterMsField() pollAfterMs!: number;
}

/** A next action that the caller completes by calling confirmPayment. */
export type ConfirmableAction = ProvideUtrAction | ProvideCodeAction | ConfirmTransferAction;

export const NextAction = createUnionType({
  name: 'NextAction',
  description: 'What the payer or the client has to do next.',
  types: () =>
    [
      RedirectAction,
      ProvideUtrAction,
      ProvideCodeAction,
      ConfirmTransferAction,
      PayVirtualAccountAction,
      ScanQrCodeAction,
      AwaitProviderAction,
    ] as const,
});
export type NextAction = typeof NextAction;
