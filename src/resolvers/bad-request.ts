import { GraphQLError } from 'graphql';
import type { LookupKey } from '../datasources/payment-service/client';
import { containsPan } from '../redaction/pan';
import { isPrintable } from '../shared/text';
import type { ValueFault, ValueRule } from '../schema/value-rules';

/** Rules of arguments: their own, and some of those of inputs (rules.ts). */
type ArgumentRule = ValueRule | 'notBlank' | 'maxLength' | 'printable' | 'noCardNumber';

/**
 * A query whose arguments break a rule that their types do not have; the message is safe to show.
 * @param fields the arguments
 */
export const badUserInput = (message: string, ...fields: ValueFault[]): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', fields } });

/** One argument breaks one rule; the message is safe to show. */
export const badArgument = (
  path: string | readonly string[],
  rule: ArgumentRule,
  message: string,
): GraphQLError => badUserInput(message, { path: typeof path === 'string' ? [path] : path, rule });

/** The most transactions that one `payments`, `payouts` or `_entities` may ask for. */
export const MAX_BATCH = 100;

/** Refuses a batch that is too large. */
export function checkBatch(asked: readonly unknown[], argument = 'transactionIds'): void {
  if (asked.length > MAX_BATCH) {
    throw badArgument(argument, 'maxItems', `${argument} must have at most ${MAX_BATCH} items.`);
  }
}

/** The key of a lookup by either id, or by both. */
export function lookupKey(
  channel: string,
  transactionId?: string | null,
  externalId?: string | null,
): LookupKey {
  const key: LookupKey = { channel };
  if (transactionId) key.transactionId = transactionId;
  if (typeof externalId === 'string') key.externalId = checkedExternalId(externalId);
  if (!key.transactionId && key.externalId === undefined) {
    throw badUserInput(
      'Give at least one of transactionId and externalId.',
      ...['transactionId', 'externalId'].map((name): ValueFault => ({ path: [name], rule: 'atLeastOne' })),
    );
  }
  return key;
}

/** The external id of a query, which must be one that a create can have. Throws BAD_USER_INPUT. */
export function checkedExternalId(externalId: string): string {
  const rule =
    externalId === ''
      ? 'notBlank'
      : externalId.length > 255
        ? 'maxLength'
        : isPrintable(externalId)
          ? undefined
          : 'printable';
  if (rule) {
    const message = 'externalId must have 1 to 255 characters and no control characters.';
    throw badArgument('externalId', rule, message);
  }
  if (containsPan(externalId)) {
    const message = 'externalId must not hold a card number.';
    throw badArgument('externalId', 'noCardNumber', message);
  }
  return externalId;
}
