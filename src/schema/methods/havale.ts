import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { JSONObject } from '../scalars';
import { ServiceField } from '../lazy-field';
import { CustomFieldsInput, customFieldsToWire, readRest } from './custom-fields';
import type { MethodDefinition } from './method-definition';

@ObjectType({ implements: PaymentResource, description: 'A payment by havale, a bank transfer (spec 2.5).' })
export class HavalePayment extends PaymentResource {
  @ServiceField('What the service sent in payment_method beside type; null when there was nothing.', {
    type: () => JSONObject,
    ...readRest,
  })
  fields?: Record<string, unknown>;
}

export const havale: MethodDefinition = {
  payment: {
    name: 'HAVALE',
    type: 'havale',
    description: 'Havale: bank transfer with phone, user id and names. The service does not show its fields.',
    payment: HavalePayment,
    redirect: 'The payer finishes on the hosted page.',
    input: {
      arm: 'havale',
      input: CustomFieldsInput,
      description: 'Havale with fields as agreed with the service.',
      toWire: customFieldsToWire,
    },
    sandbox: { type: 'havale', redirect: [], direct: { required: [] }, anyFields: true, echo: [] },
  },
};
