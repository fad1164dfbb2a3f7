import { GraphQLError } from 'graphql';
import type { LookupKey } from '../datasources/service/client';
import { holdsSchemeNumber } from '../schema/card-numbers';
import { isPrintable } from '../schema/rules';

/** A query whose arguments do not fit together; the message is safe to show. */
export const badUserInput = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });

/** The most transactions that one `payments`, `payouts` or `_entities` may ask for. */
export const MAX_BATCH = 100;

/** Refuses a batch that is too large. */
export function checkBatch(asked: readonly unknown[], argument = 'transactionIds'): void {
  if (asked.length > MAX_BATCH) {
    throw badUserInput(`${argument} must have at most ${MAX_BATCH} items.`);
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
    throw badUserInput('Give at least one of transactionId and externalId.');
  }
  return key;
}

/** The external id of a query, which must be one that a create can have. */
export function checkedExternalId(externalId: string): string {
  if (externalId === '' || externalId.length > 255 || !isPrintable(externalId)) {
    throw badUserInput('externalId must have 1 to 255 characters and no control characters.');
  }
  if (holdsSchemeNumber(externalId)) {
    throw badUserInput('externalId must not hold a card number.');
  }
  return externalId;
}
