import { Field, InputType, ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { CustomFields, TextRule } from '../rules';
import { JSONObject } from '../scalars';
import { ServiceField } from '../lazy-field';
import type { WireObject } from '../../shared/wire-object';
import { CustomFieldsInput, customFieldsToWire, readRest } from './custom-fields';
import type { MethodDefinition } from './method-definition';

@InputType({ description: 'A payout by a method this gateway does not know (spec 2.8: "or others").' })
export class OtherPayoutInput {
  @Field(() => String, {
    description:
      'payout_method.type, in the words of the service. A method that has an arm of its own is refused here.',
  })
  @TextRule('methodType', 'must be a word of lower-case letters, digits and underscores.', (text) =>
    /^[a-z][a-z0-9_]{0,63}$/.test(text),
  )
  type!: string;

  @Field(() => JSONObject, {
    description:
      'Sent as they are beside type, which they cannot overwrite. No value may look like a full card number.',
  })
  @CustomFields()
  fields!: WireObject;
}

@ObjectType({
  implements: PaymentResource,
  description: 'A payment by the method "other", or by any this gateway does not know (spec 2.5).',
})
export class OtherPayment extends PaymentResource {
  @Field(() => String, { description: 'payment_method.type as the service sent it.' })
  get type(): string {
    return this.wireType;
  }

  @ServiceField('What the service sent in payment_method beside type; null when there was nothing.', {
    type: () => JSONObject,
    ...readRest,
  })
  fields?: Record<string, unknown>;
}

@ObjectType({
  implements: PayoutResource,
  description:
    'A payout by a method this gateway does not know, or one whose method the service did not say and the gateway did not create.',
})
export class OtherPayout extends PayoutResource {
  @Field(() => String, {
    nullable: true,
    description:
      'The method in the words of the service; null when neither the service nor the gateway knows it.',
  })
  get type(): string | null {
    return this.wireType;
  }
}

export const other: MethodDefinition = {
  payment: {
    name: 'OTHER',
    type: 'other',
    description: 'A custom method, or one this gateway does not know.',
    payment: OtherPayment,
    input: {
      arm: 'other',
      input: CustomFieldsInput,
      description: 'A custom method with fields as agreed with the service.',
      toWire: customFieldsToWire,
    },
    fallback: true,
    sandbox: { type: 'other', redirect: [], direct: { required: [] }, anyFields: true, echo: [] },
  },
  payout: {
    name: 'OTHER',
    type: 'other',
    description: 'A method this gateway does not know, or one that nobody said.',
    payout: OtherPayout,
    input: {
      arm: 'other',
      input: OtherPayoutInput,
      description: 'A method this gateway does not know, with fields as agreed with the service.',
      typeOf: ({ type }: OtherPayoutInput) => type,
      toWire: customFieldsToWire,
    },
    fallback: true,
  },
};
