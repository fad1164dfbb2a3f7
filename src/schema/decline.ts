import { Field, ObjectType } from 'type-graphql';
import { NullableField } from './nullable-field';
import { registerEnum, type ValueOf } from './register-enum';

export const DeclineCode = registerEnum(
  'DeclineCode',
  'Error codes of failed payments and payouts (spec 7.2).',
  {
    DECLINED_GENERIC: 'Declined, without a more exact reason.',
    PERSONAL_DATA_NOT_PROVIDED: 'Personal data of the payer was not provided.',
    CARD_DATA_NOT_PROVIDED: 'Card data was not provided.',
    BROWSER_DATA_NOT_PROVIDED: 'Browser data was not provided.',
    DECLINED_3DS_AUTHENTICATION_FAILED: '3-D Secure authentication failed.',
    PROVIDER_PROCESSING_FAILED: 'The payment provider returned an error: see message and reason.',
    UNKNOWN: 'A code unknown to this gateway: see rawCode.',
  },
);
export type DeclineCode = ValueOf<typeof DeclineCode>;

export const DeclineReason = registerEnum(
  'DeclineReason',
  "The reason for a decline. The gateway recognises it in the provider's free text, whose wording is not specified.",
  {
    DO_NOT_HONOR: 'The issuer declined without a reason ("do not honor").',
    AUTHENTICATION_FAILED: 'The payer was not authenticated (3-D Secure).',
    INSUFFICIENT_FUNDS: 'Not enough money on the account.',
    CARD_EXPIRED: 'The card has expired.',
    SUSPECTED_FRAUD: 'The provider suspects fraud.',
    NOT_PERMITTED: 'The transaction is not permitted for this card or account.',
  },
);
export type DeclineReason = ValueOf<typeof DeclineReason>;

/** The pattern of each decline reason. The text to search is in lower case, with single spaces and no punctuation. */
const PATTERN_BY_DECLINE_REASON: Readonly<Record<DeclineReason, RegExp>> = {
  DO_NOT_HONOR: /\bdo not hono(u)?r\b/,
  AUTHENTICATION_FAILED:
    /\b(3 ?ds|3 d secure)( authentication)? (error|failed|failure|declined)\b|\bauthentication (failed|failure)\b/,
  INSUFFICIENT_FUNDS: /\b(insufficient|not sufficient|not enough) (funds|balance)\b/,
  CARD_EXPIRED: /\b(card (has |is )?expired|expired card)\b/,
  SUSPECTED_FRAUD: /\b(suspected fraud|fraud suspected|suspicion of fraud)\b/,
  NOT_PERMITTED: /\btransaction (is )?not (permitted|allowed)\b/,
};

/**
 * Matches a negated reason, such as "no fraud suspected" or "suspected fraud no", but not the reason "do not honor".
 */
const NEGATED_REASON_PATTERN =
  /\b(no|not|never|without|isn t|wasn t) (a |an |any |yet )?(suspected|suspicion|fraud|insufficient|expired|card expired|3 ?ds|authentication)\b|\b(no|none|false|negative)$/;

/** Finds the decline reason in a provider's text. Returns null if the text has no reason or several, or negates one. */
export function findDeclineReason(message: string): DeclineReason | null {
  const normalizedText = message
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  if (NEGATED_REASON_PATTERN.test(normalizedText)) return null;
  const [reason = null, ...otherReasons] = Object.values(DeclineReason).filter((candidate) =>
    PATTERN_BY_DECLINE_REASON[candidate].test(normalizedText),
  );
  return otherReasons.length > 0 ? null : reason;
}

@ObjectType({
  description: 'Why a payment or payout failed (spec 7.2). A decline is data, never a GraphQL error.',
})
export class TransactionError {
  @Field(() => DeclineCode, { description: 'The code; UNKNOWN if it is unknown to this gateway.' })
  code!: DeclineCode;

  @Field(() => String, {
    description: 'The code as the service sent it, redacted (docs/redaction.md); empty if it sent none.',
  })
  rawCode!: string;

  @Field(() => String, {
    description:
      'Free text from the service for human readers, without card numbers and secrets (docs/redaction.md); empty if it sent none.',
  })
  message!: string;

  @NullableField(
    'The reason recognised in message. Null if none is recognised or if code is not PROVIDER_PROCESSING_FAILED.',
    () => DeclineReason,
  )
  reason?: DeclineReason | null;
}

/** Creates the field `error` of a failed payment or payout. `rawCode` and `message` must already be redacted. */
export function createTransactionError(rawCode: string, message: string): TransactionError {
  const code =
    Object.values(DeclineCode).find((declineCode) => declineCode === rawCode) ?? DeclineCode.UNKNOWN;
  const reason = code === DeclineCode.PROVIDER_PROCESSING_FAILED ? findDeclineReason(message) : null;
  return Object.assign(new TransactionError(), { code, rawCode, message, reason });
}
