import { Field, Int, ObjectType, createUnionType } from 'type-graphql';
import { HttpUrl } from './scalars';

const POLL_AFTER_MS = 'When a caller that does not subscribe should look again, in milliseconds.';

const PollAfterMs = (): PropertyDecorator => Field(() => Int, { description: POLL_AFTER_MS });

@ObjectType({ description: 'Send the payer to url: the hosted page, or 3-D Secure (spec 2.5).' })
export class RedirectAction {
  @Field(() => HttpUrl, { description: 'Where the payer goes on.' })
  url!: string;

  @PollAfterMs()
  pollAfterMs!: number;
}

@ObjectType({
  description:
    'Let the payer pay by UPI, collect the UTR (the reference number of the transfer), and call confirmPayment with it (spec 3.3, waiting_for_utr).',
})
export class ProvideUtrAction {
  @Field(() => String, {
    nullable: true,
    description: 'The UPI id to pay to; null when the service did not say.',
  })
  upiId?: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'A payment link for UPI apps; null when the service did not say.',
  })
  upiLink?: string | null;

  /** The field of ConfirmationInput to fill in. Its enum lists the methods, so assemble.ts adds it to the schema. */
  confirmWith!: string;
}

@ObjectType({
  description:
    'Collect the code from the payer and call confirmPayment with it (spec 3.3, waiting_for_code).',
})
export class ProvideCodeAction {
  @Field(() => String, {
    nullable: true,
    description: 'Where to send the money first (bkash, nagad, rocket); null for other methods.',
  })
  account?: string | null;

  /** The field of ConfirmationInput to fill in. Its enum lists the methods, so assemble.ts adds it to the schema. */
  confirmWith!: string;
}

@ObjectType({
  description:
    'Let the payer transfer to this card, then call confirmPayment (spec 3.3, waiting_for_confirm).',
})
export class ConfirmTransferAction {
  @Field(() => String, {
    nullable: true,
    description: "The recipient's card number; null when the service did not say.",
  })
  cardNumber?: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The recipient's name; null when the service did not say.",
  })
  recipient?: string | null;

  /** The field of ConfirmationInput to fill in. Its enum lists the methods, so assemble.ts adds it to the schema. */
  confirmWith!: string;
}

@ObjectType({ description: 'Let the payer transfer to this virtual account (spec 2.5).' })
export class PayVirtualAccountAction {
  @Field(() => String, { description: 'The number of the virtual account made for this payment.' })
  virtualAccount!: string;

  @Field(() => String, {
    nullable: true,
    description: 'The bank of the virtual account; null when the service did not say.',
  })
  bankCode?: string | null;

  @PollAfterMs()
  pollAfterMs!: number;
}

@ObjectType({ description: 'Let the payer scan this QR code (spec 2.5).' })
export class ScanQrCodeAction {
  @Field(() => String, { description: 'The payload of the code.' })
  qrCode!: string;

  @Field(() => String, { description: 'The payload drawn: an SVG data URI, ready for the src of an image.' })
  qrCodeImage!: string;

  @PollAfterMs()
  pollAfterMs!: number;
}

@ObjectType({
  description:
    'Nothing to do but wait: approval is pending at the provider (spec 3.3, waiting_for_provider).',
})
export class AwaitProviderAction {
  @PollAfterMs()
  pollAfterMs!: number;
}

const ACTIONS = [
  RedirectAction,
  ProvideUtrAction,
  ProvideCodeAction,
  ConfirmTransferAction,
  PayVirtualAccountAction,
  ScanQrCodeAction,
  AwaitProviderAction,
] as const;

export const NextAction = createUnionType({
  name: 'NextAction',
  description: 'What the payer or the client has to do next.',
  types: () => ACTIONS,
});

/** Any of the actions. */
export type NextAction = InstanceType<(typeof ACTIONS)[number]>;
