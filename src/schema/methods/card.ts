import { Field, InputType, ObjectType } from 'type-graphql';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import {
  ExcludesFields,
  IsCountryCode,
  IsEmail,
  IsExpiryMonth,
  IsExpiryYear,
  IsPan,
  IsPastDate,
  IsPhone,
  IsSecurityCode,
  IsText,
  OptionalTextField,
  TextField,
  cardNumberDigits,
} from '../rules';
import { CardNumber, CardSecurityCode } from '../scalars';
import { ServiceField } from '../lazy-field';
import { readMaskedCardNumber, redactUnlessIp } from '../../redaction/text';
import { toWireFields } from '../../shared/wire-object';
import { defineMethod, maskAllButLastFour } from './method-definition';
import { PayoutDetailField } from './wallets';

@InputType({
  description:
    'A bank card, server-to-server (spec 2.5): the caller must comply with PCI-DSS. nextAction may ask for 3-D Secure.',
})
export class CardPaymentInput {
  @Field(() => CardNumber, {
    description: 'The card number, 12 to 19 digits; spaces and dashes are removed.',
  })
  @IsPan()
  pan!: string;

  @TextField('The month in which the card expires, MM, 01 to 12.', IsExpiryMonth()) expiryMonth!: string;
  @TextField('The year in which the card expires, YYYY. The card must not have expired.', IsExpiryYear())
  expiryYear!: string;

  @Field(() => CardSecurityCode, { description: 'The security code, 3 or 4 digits.' })
  @IsSecurityCode()
  cvc!: string;

  @TextField('The name on the card.') cardholder!: string;
  @OptionalTextField("The payer's email address.", IsEmail()) email?: string;
  @OptionalTextField("The payer's phone number, E.164.", IsPhone()) phone?: string;

  @OptionalTextField('The full address, instead of countryCode, city, street and postalCode.', IsText(512))
  @ExcludesFields('countryCode', 'city', 'street', 'postalCode')
  address?: string;

  @OptionalTextField("The payer's country, ISO 3166-1 alpha-2, for example DE.", IsCountryCode())
  countryCode?: string;
  @OptionalTextField("The payer's city.") city?: string;
  @OptionalTextField("The payer's street and house number.") street?: string;
  @OptionalTextField("The payer's postal code.", IsText(32)) postalCode?: string;
  @OptionalTextField("The payer's date of birth, YYYY-MM-DD.", IsPastDate()) birthDate?: string;
}

@InputType({ description: 'A payout to a bank card (spec 2.8).' })
export class CardPayoutInput {
  @Field(() => CardNumber, {
    description: 'The card number, 12 to 19 digits; spaces and dashes are removed.',
  })
  @IsPan()
  pan!: string;
}

@ObjectType({ implements: PaymentResource, description: 'A payment by bank card (spec 2.5).' })
export class CardPayment extends PaymentResource {
  @ServiceField(
    'The masked card number: only the first and last four digits are visible, for example 4400********1234. Null until a card was given.',
    {
      parse: readMaskedCardNumber,
    },
  )
  cardMask?: string;

  @ServiceField('The name on the card; null until a card was given.') cardholder?: string;
  @ServiceField('The bank that issued the card; null if not sent.') bankName?: string;
  @ServiceField('The type of the card as the service sent it, for example credit; null if not sent.')
  cardType?: string;

  @ServiceField("The user agent of the payer's browser; null unless the service sent it in a lookup.")
  userAgent?: string;

  @ServiceField("The payer's IP address; null unless the service sent it in a lookup.", {
    parse: redactUnlessIp,
  })
  userIp?: string;
}

@ObjectType({ implements: PayoutResource, description: 'A payout to a bank card (spec 2.8).' })
export class CardPayout extends PayoutResource {
  @PayoutDetailField('The last four digits of the card, the others masked') cardMask?: string | null;
}

const ADDRESS_WIRE_NAMES = ['address', 'country_code', 'city', 'street', 'postal_code'];

const cardToWire = (input: object) => {
  const fields = toWireFields(input);
  return { ...fields, pan: cardNumberDigits(String(fields['pan'])) };
};

const SANDBOX_CARD_DETAILS = { bank_name: 'Sandbox Bank', card_type: 'credit' };

export const card = defineMethod('card', {
  payment: {
    description: 'Bank card.',
    paymentClass: CardPayment,
    currency: 'EUR',
    redirectDescription: 'The payer enters the card on the hosted page.',
    input: {
      inputType: CardPaymentInput,
      description: 'Bank card. The caller collects the card data (PCI-DSS applies). EUR.',
      toWire: cardToWire,
      sensitiveFields: ['pan', 'cvc'],
      neverPersistedFields: ['cvc'],
    },
    sandbox: {
      type: 'card',
      currency: 'EUR',
      redirectFields: [],
      directFlow: {
        required: ['pan', 'expiry_month', 'expiry_year', 'cvc', 'cardholder'],
        optional: ['email', 'phone', ...ADDRESS_WIRE_NAMES, 'birth_date'],
      },
      echoedFields: ['cardholder'],
      addedFields: ({ methodFields }) => {
        const pan = String(methodFields['pan']);
        return { card_mask: `${pan.slice(0, 4)}********${pan.slice(-4)}`, ...SANDBOX_CARD_DETAILS };
      },
      fieldsWhenFinal: () => ({
        card_mask: '4111********1111',
        cardholder: 'SANDBOX PAYER',
        ...SANDBOX_CARD_DETAILS,
      }),
      lookupOnlyFields: () => ({ user_agent: 'Mozilla/5.0 (sandbox)', user_ip: '192.0.2.1' }),
    },
  },
  payout: {
    description: 'Bank card.',
    payoutClass: CardPayout,
    currency: 'KZT',
    input: {
      inputType: CardPayoutInput,
      description: 'To a bank card. KZT.',
      toWire: cardToWire,
      sensitiveFields: ['pan'],
    },
    publicDetailsOf: (input: CardPayoutInput) => ({ cardMask: maskAllButLastFour(input.pan) }),
    sandbox: { type: 'card', currency: 'KZT', required: ['pan'] },
  },
});
