import { isISO4217CurrencyCode } from 'class-validator';
import { Field, InputType, ObjectType } from 'type-graphql';
import { NullableField } from './nullable-field';
import { TextRule } from './rules';
import { CurrencyCode, Decimal } from './scalars';

@ObjectType({ description: 'An amount of money (spec 2.2).' })
export class Amount {
  @Field(() => CurrencyCode, {
    description: 'ISO 4217 code, as the service sent it or, if it sent none, as in the create call.',
  })
  currency!: string;

  @Field(() => Decimal, {
    description: 'The requested amount. For a MISPAID payment, `received` is the amount actually paid.',
  })
  value!: string;

  @NullableField('The amount actually paid; null unless the payment is MISPAID.', () => Decimal)
  received?: string | null;
}

@InputType({ description: 'An amount of money to collect or to send.' })
export class AmountInput {
  @Field(() => CurrencyCode, {
    description:
      'ISO 4217 code. Some methods accept only one currency (spec section 8); any other is an InvalidInputError.',
  })
  @TextRule('iso4217', 'must be a currency of ISO 4217.', isISO4217CurrencyCode)
  currency!: string;

  @Field(() => Decimal, {
    description: 'Above zero, with at most two decimals. Sent to the service with exactly two.',
  })
  value!: string;
}
