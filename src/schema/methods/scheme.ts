import { ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { defineMethod } from './method-definition';

@ObjectType({ implements: PaymentResource, description: 'A payment by the method "scheme" (spec 2.5).' })
export class SchemePayment extends PaymentResource {}

@ObjectType({ implements: PayoutResource, description: 'A payout by the method "scheme" (spec 2.8).' })
export class SchemePayout extends PayoutResource {}

export const scheme = defineMethod('scheme', {
  payment: {
    description: 'The method "scheme", which has a type and no other fields.',
    paymentClass: SchemePayment,
    redirectDescription: 'The payer finishes on the hosted page.',
    sandbox: { type: 'scheme', redirectFields: [], echoedFields: [] },
  },
  payout: {
    description: 'The method "scheme", which has a type and no other fields.',
    payoutClass: SchemePayout,
    typeOnlyDescription: 'The method "scheme".',
    sandbox: { type: 'scheme', required: [] },
  },
});
