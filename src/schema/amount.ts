import { ValidateBy, isISO4217CurrencyCode } from 'class-validator';
import { Field, InputType, ObjectType } from 'type-graphql';
import type { InputRule } from './input-rules';
import { CurrencyCode, Decimal } from './scalars';

@ObjectType({ description: 'An amount of money (spec 2.2).' })
export class Amount {
  @Field(() => CurrencyCode, { description: 'ISO 4217 code, as the service sent it.' })
  currency!: string;

  @Field(() => Decimal, {
    description:
      'The amount of the order. On a MISPAID payment this is not what was paid: read received there.',
  })
  value!: string;

  @Field(() => Decimal, {
    nullable: true,
    description:
      'The amount actually paid. Present on a MISPAID payment, where it counts instead of value; null otherwise.',
  })
  received?: string | null;
}

@InputType({ description: 'An amount of money to collect or to send.' })
export class AmountInput {
  @Field(() => CurrencyCode, {
    description:
      'ISO 4217 code. Some methods take one currency only (spec section 8); another is an InvalidInputError.',
  })
  @ValidateBy({
    name: 'iso4217' satisfies InputRule,
    validator: {
      validate: (value) => isISO4217CurrencyCode(value),
      defaultMessage: () => 'must be a currency of ISO 4217.',
    },
  })
  currency!: string;

  @Field(() => Decimal, { description: 'Above zero, at most two decimals; sent with two.' })
  value!: string;
}
