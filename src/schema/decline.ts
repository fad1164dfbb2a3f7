import { Field, ObjectType, registerEnumType } from 'type-graphql';

export enum DeclineCode {
  DECLINED_GENERIC = 'DECLINED_GENERIC',
  PERSONAL_DATA_NOT_PROVIDED = 'PERSONAL_DATA_NOT_PROVIDED',
  CARD_DATA_NOT_PROVIDED = 'CARD_DATA_NOT_PROVIDED',
  BROWSER_DATA_NOT_PROVIDED = 'BROWSER_DATA_NOT_PROVIDED',
  DECLINED_3DS_AUTHENTICATION_FAILED = 'DECLINED_3DS_AUTHENTICATION_FAILED',
  PROVIDER_PROCESSING_FAILED = 'PROVIDER_PROCESSING_FAILED',
  UNKNOWN = 'UNKNOWN',
}

registerEnumType(DeclineCode, {
  name: 'DeclineCode',
  description: 'Why a payment or payout failed, in the words of the service (spec 7.2).',
  valuesConfig: {
    DECLINED_GENERIC: { description: 'It was declined; the service says no more.' },
    PERSONAL_DATA_NOT_PROVIDED: { description: 'Personal data of the payer was not provided.' },
    CARD_DATA_NOT_PROVIDED: { description: 'Card data was not provided.' },
    BROWSER_DATA_NOT_PROVIDED: { description: 'Browser data was not provided.' },
    DECLINED_3DS_AUTHENTICATION_FAILED: { description: '3-D Secure authentication failed.' },
    PROVIDER_PROCESSING_FAILED: {
      description:
        'The payment provider returned an error: message holds its text, reason our reading of it.',
    },
    UNKNOWN: { description: 'A code this gateway does not know: see rawCode.' },
  },
});

export enum DeclineReason {
  DO_NOT_HONOR = 'DO_NOT_HONOR',
  AUTHENTICATION_FAILED = 'AUTHENTICATION_FAILED',
  INSUFFICIENT_FUNDS = 'INSUFFICIENT_FUNDS',
  CARD_EXPIRED = 'CARD_EXPIRED',
  SUSPECTED_FRAUD = 'SUSPECTED_FRAUD',
  NOT_PERMITTED = 'NOT_PERMITTED',
}

registerEnumType(DeclineReason, {
  name: 'DeclineReason',
  description:
    "What a provider's free text says, read conservatively. The set of texts is open: a text that says nothing known has no reason.",
  valuesConfig: {
    DO_NOT_HONOR: { description: 'The issuer declined without a reason ("do not honor").' },
    AUTHENTICATION_FAILED: { description: 'The payer was not authenticated (3-D Secure).' },
    INSUFFICIENT_FUNDS: { description: 'Not enough money on the account.' },
    CARD_EXPIRED: { description: 'The card has expired.' },
    SUSPECTED_FRAUD: { description: 'The provider suspects fraud.' },
    NOT_PERMITTED: { description: 'The transaction is not permitted to this card or account.' },
  },
});

/** A text names one reason when exactly one of these fits it; a text that denies or fits two names none. */
const REASONS: readonly (readonly [DeclineReason, RegExp])[] = [
  [DeclineReason.DO_NOT_HONOR, /\bdo not hono(u)?r\b/],
  [
    DeclineReason.AUTHENTICATION_FAILED,
    /\b(3 ?ds|3 d secure)( authentication)? (error|failed|failure|declined)\b|\bauthentication (failed|failure)\b/,
  ],
  [DeclineReason.INSUFFICIENT_FUNDS, /\b(insufficient|not sufficient|not enough) (funds|balance)\b/],
  [DeclineReason.CARD_EXPIRED, /\b(card (has |is )?expired|expired card)\b/],
  [DeclineReason.SUSPECTED_FRAUD, /\b(suspected fraud|fraud suspected|suspicion of fraud)\b/],
  [DeclineReason.NOT_PERMITTED, /\btransaction (is )?not (permitted|allowed)\b/],
];

/** A reason that the text denies. "Do not honor", "not permitted" and "not sufficient" deny nothing. */
const DENIED =
  /\b(no|not|never|without|isn t|wasn t) (a |an |any |yet )?(suspected|suspicion|fraud|insufficient|expired|card expired|3 ?ds|authentication)\b|\b(no|none|false|negative)$/;

/** Reads a provider's text; null where it says nothing known, or more than one thing. */
export function readDeclineReason(text: string): DeclineReason | null {
  const words = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  if (DENIED.test(words)) return null;
  const found = REASONS.filter(([, pattern]) => pattern.test(words));
  return found.length === 1 && found[0] ? found[0][0] : null;
}

@ObjectType({
  description: 'Why a payment or payout failed (spec 7.2). A decline is data, never a GraphQL error.',
})
export class TransactionError {
  @Field(() => DeclineCode, { description: 'The code, or UNKNOWN where this gateway does not know it.' })
  code!: DeclineCode;

  @Field(() => String, {
    description:
      'The code as the service sent it, but for what must not be shown (docs/redaction.md); empty where it sent none.',
  })
  rawCode!: string;

  @Field(() => String, {
    description:
      'The text of the service, for people, without card numbers and secrets (docs/redaction.md); empty where it sent none. The set of texts is open.',
  })
  message!: string;

  @Field(() => DeclineReason, {
    nullable: true,
    description:
      "For PROVIDER_PROCESSING_FAILED: what the provider's text says, read conservatively. Null for other codes and where the text says nothing known.",
  })
  reason?: DeclineReason | null;
}

/** The error of a failed transaction, from its code and text. */
export function transactionError(rawCode: string, message: string): TransactionError {
  const code = Object.values(DeclineCode).find((known) => known === rawCode) ?? DeclineCode.UNKNOWN;
  const reason = code === DeclineCode.PROVIDER_PROCESSING_FAILED ? readDeclineReason(message) : null;
  return Object.assign(new TransactionError(), { code, rawCode, message, reason });
}
