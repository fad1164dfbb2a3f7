import { Field, InputType, ObjectType } from 'type-graphql';
import { NullableField } from '../nullable-field';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { TextField, TextRule } from '../rules';
import type { WireObject } from '../../shared/wire-object';
import { CustomFieldsField, CustomFieldsInput, OtherFieldsField, customFieldsToWire } from './free-fields';
import { defineMethod } from './method-definition';

@InputType({ description: 'A payout by a method unknown to this gateway (spec 2.8: "or others").' })
export class OtherPayoutInput {
  @TextField(
    'The payout_method.type to send. Rejected if PayoutMethodInput has a field for this type, or if typeOnly offers it.',
    TextRule(
      'methodType',
      'must begin with a lower-case letter and have only lower-case letters, digits and underscores, at most 64 characters.',
      (text) => /^[a-z][a-z0-9_]{0,63}$/.test(text),
    ),
  )
  type!: string;

  @CustomFieldsField() fields!: WireObject;
}

@ObjectType({
  implements: PaymentResource,
  description: 'A payment by the method "other" or by a method unknown to this gateway (spec 2.5).',
})
export class OtherPayment extends PaymentResource {
  @Field(() => String, { description: 'payment_method.type as the service sent it.' })
  get type(): string {
    return this.wireType;
  }

  @OtherFieldsField() fields?: Record<string, unknown>;
}

@ObjectType({ implements: PayoutResource, description: 'A payout whose method is unknown to this gateway.' })
export class OtherPayout extends PayoutResource {
  @NullableField(
    'The type of the payout method at the service (payout_method.type); null if neither the service nor the journal has it.',
  )
  get type(): string | null {
    return this.wireType;
  }
}

export const other = defineMethod('other', {
  payment: {
    description: 'A custom method, or one unknown to this gateway.',
    paymentClass: OtherPayment,
    input: {
      inputType: CustomFieldsInput,
      description: 'A custom method with fields as agreed with the service.',
      toWire: customFieldsToWire,
    },
    isFallback: true,
    sandbox: {
      type: 'other',
      redirectFields: [],
      directFlow: { required: [] },
      acceptsAnyFields: true,
      echoedFields: [],
    },
  },
  payout: {
    description: 'A method that is unknown to this gateway or that the service did not send.',
    payoutClass: OtherPayout,
    input: {
      inputType: OtherPayoutInput,
      description: 'A method unknown to this gateway, with fields as agreed with the service.',
      methodTypeOf: ({ type }: OtherPayoutInput) => type,
      toWire: customFieldsToWire,
    },
    isFallback: true,
  },
});
