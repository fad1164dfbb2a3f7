import { Field, InputType, ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import {
  CountryCode,
  EmailText,
  ExpiryMonth,
  ExpiryYear,
  InsteadOf,
  Optional,
  Pan,
  PastDate,
  Phone,
  SecurityCode,
  Text,
  bareCardNumber,
} from '../rules';
import { CardNumber, CardSecurityCode } from '../scalars';
import { ServiceField } from '../lazy-field';
import { readCardMask, readIp } from '../../redaction/text';
import { toWireFields } from '../../shared/wire-object';
import { maskAllButLastFour, type MethodDefinition } from './method-definition';

@InputType({
  description:
    'A bank card, server-to-server (spec 2.5): the caller must comply with PCI-DSS. The payer may still have to go through 3-D Secure at redirectUrl.',
})
export class CardPaymentInput {
  @Field(() => CardNumber, {
    description: 'The card number, 12 to 19 digits; spaces and dashes are left out.',
  })
  @Pan()
  pan!: string;

  @Field(() => String, { description: 'MM, 01 to 12.' })
  @ExpiryMonth()
  expiryMonth!: string;

  @Field(() => String, { description: 'YYYY; with expiryMonth not in the past.' })
  @ExpiryYear()
  expiryYear!: string;

  @Field(() => CardSecurityCode, { description: 'The security code, 3 or 4 digits.' })
  @SecurityCode()
  cvc!: string;

  @Field(() => String, { description: 'The name on the card.' })
  @Text()
  cardholder!: string;

  @Field(() => String, { nullable: true, description: "The payer's email address." })
  @Optional()
  @EmailText()
  email?: string;

  @Field(() => String, { nullable: true, description: "The payer's phone number, E.164." })
  @Optional()
  @Phone()
  phone?: string;

  @Field(() => String, {
    nullable: true,
    description: 'The full address in one text: instead of countryCode, city, street and postalCode.',
  })
  @Optional()
  @Text(512)
  @InsteadOf('countryCode', 'city', 'street', 'postalCode')
  address?: string;

  @Field(() => String, { nullable: true, description: 'ISO 3166-1 alpha-2, for example "DE".' })
  @Optional()
  @CountryCode()
  countryCode?: string;

  @Field(() => String, { nullable: true, description: "The payer's city." })
  @Optional()
  @Text()
  city?: string;

  @Field(() => String, { nullable: true, description: "The payer's street and house number." })
  @Optional()
  @Text()
  street?: string;

  @Field(() => String, { nullable: true, description: "The payer's postal code." })
  @Optional()
  @Text(32)
  postalCode?: string;

  @Field(() => String, { nullable: true, description: "The payer's date of birth, YYYY-MM-DD." })
  @Optional()
  @PastDate()
  birthDate?: string;
}

@InputType({ description: 'A payout to a bank card (spec 2.8).' })
export class CardPayoutInput {
  @Field(() => CardNumber, {
    description: 'The card number, 12 to 19 digits; spaces and dashes are left out.',
  })
  @Pan()
  pan!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by bank card (spec 2.5).' })
export class CardPayment extends PaymentResource {
  @ServiceField(
    'The card number with all but its first and last four digits masked; null until a card was given.',
    { read: readCardMask },
  )
  cardMask?: string;

  @ServiceField('The name on the card; null until a card was given.')
  cardholder?: string;

  @ServiceField('The bank that issued the card; null when not known.')
  bankName?: string;

  @ServiceField('The kind of card, in the words of the service; null when not known.')
  cardType?: string;

  @ServiceField("The payer's browser; shown by lookups only, null otherwise.")
  userAgent?: string;

  @ServiceField("The payer's IP address; shown by lookups only, null otherwise.", { read: readIp })
  userIp?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bank card (spec 2.8).' })
export class CardPayout extends PayoutResource {
  @Field(() => String, {
    nullable: true,
    description:
      'The last four digits of the card, masked before; null for a payout this gateway did not create.',
  })
  cardMask?: string | null;
}

const withBarePan = (input: object) => {
  const fields = toWireFields(input);
  return { ...fields, pan: bareCardNumber(String(fields['pan'])) };
};

export const card: MethodDefinition = {
  payment: {
    name: 'CARD',
    type: 'card',
    description: 'Bank card.',
    payment: CardPayment,
    currency: 'EUR',
    redirect: 'The payer gives the card on the hosted page.',
    input: {
      arm: 'card',
      input: CardPaymentInput,
      description: 'Bank card, its data collected by the caller (PCI-DSS applies). EUR.',
      toWire: withBarePan,
      secretFields: ['pan', 'cvc'],
      neverKept: ['cvc'],
    },
    sandbox: {
      type: 'card',
      currency: 'EUR',
      redirect: [],
      direct: {
        required: ['pan', 'expiry_month', 'expiry_year', 'cvc', 'cardholder'],
        optional: [
          'email',
          'phone',
          'address',
          'country_code',
          'city',
          'street',
          'postal_code',
          'birth_date',
        ],
      },
      echo: ['cardholder'],
      adds: ({ request }) => {
        const pan = String(request['pan']);
        return {
          card_mask: `${pan.slice(0, 4)}********${pan.slice(-4)}`,
          bank_name: 'Sandbox Bank',
          card_type: 'credit',
        };
      },
      paidOnPage: () => ({
        card_mask: '4111********1111',
        cardholder: 'SANDBOX PAYER',
        bank_name: 'Sandbox Bank',
        card_type: 'credit',
      }),
      onLookup: () => ({ user_agent: 'Mozilla/5.0 (sandbox)', user_ip: '192.0.2.1' }),
    },
  },
  payout: {
    name: 'CARD',
    type: 'card',
    description: 'Bank card.',
    payout: CardPayout,
    currency: 'KZT',
    input: {
      arm: 'card',
      input: CardPayoutInput,
      description: 'To a bank card. KZT.',
      toWire: withBarePan,
      secretFields: ['pan'],
    },
    show: (input: CardPayoutInput) => ({ cardMask: maskAllButLastFour(input.pan) }),
    sandbox: { type: 'card', currency: 'KZT', required: ['pan'] },
  },
};
