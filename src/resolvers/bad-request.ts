import { GraphQLError } from 'graphql';
import type { LookupKey } from '../datasources/payment-service/client';
import { containsKnownSchemePan } from '../redaction/pan';
import type { InvalidValue, ValueRuleName } from '../schema/value-rules';
import { isPrintable } from '../shared/text';

type ArgumentRuleName = ValueRuleName | 'notBlank' | 'maxLength' | 'printable' | 'noCardNumber';

/** Creates a BAD_USER_INPUT error for arguments that violate a rule. `message` must not contain their values. */
const badUserInputError = (message: string, invalidValues: InvalidValue[]): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', fields: invalidValues } });

/** Creates a BAD_USER_INPUT error for one argument. `path`: the argument's name, or the path to a value in it. */
export const badArgumentError = (
  path: string | readonly string[],
  rule: ArgumentRuleName,
  message: string,
): GraphQLError => badUserInputError(message, [{ path: typeof path === 'string' ? [path] : path, rule }]);

/** Maximum number of transactions that one field `payments`, `payouts` or `_entities` looks up. */
const MAX_LIST_ITEMS = 100;

/** Throws BAD_USER_INPUT if a list argument, named `listName`, has more than MAX_LIST_ITEMS items. */
export function checkItemCount(items: readonly unknown[], listName = 'transactionIds'): void {
  if (items.length > MAX_LIST_ITEMS)
    throw badArgumentError(listName, 'maxItems', `${listName} must have at most ${MAX_LIST_ITEMS} items.`);
}

/** Returns `first`, by default `sizes.default`. Throws BAD_USER_INPUT if it is not between 1 and `sizes.max`. */
export function checkedPageSize(
  first: number | null | undefined,
  sizes: { default: number; max: number },
): number {
  const size = first ?? sizes.default;
  if (size < 1 || size > sizes.max)
    throw badArgumentError('first', 'range', `first must be from 1 to ${sizes.max}.`);
  return size;
}

/** Returns the lookup key for one or both ids. Throws BAD_USER_INPUT if both are missing or `externalId` is invalid. */
export function checkedLookupKey(
  channel: string,
  transactionId?: string | null,
  externalId?: string | null,
): LookupKey {
  const lookupKey: LookupKey = { channel };
  if (transactionId) lookupKey.transactionId = transactionId;
  if (typeof externalId === 'string') lookupKey.externalId = checkedExternalId(externalId);
  if (!lookupKey.transactionId && lookupKey.externalId === undefined)
    throw badUserInputError('At least one of transactionId and externalId is required.', [
      { path: ['transactionId'], rule: 'atLeastOne' },
      { path: ['externalId'], rule: 'atLeastOne' },
    ]);
  return lookupKey;
}

/** Returns the external id. Throws BAD_USER_INPUT if it is empty, too long, not printable or contains a card number. */
export function checkedExternalId(externalId: string): string {
  const externalIdError = (rule: ArgumentRuleName, message: string) =>
    badArgumentError('externalId', rule, message);
  if (externalId === '') throw externalIdError('notBlank', 'externalId must not be blank.');
  if (externalId.length > 255)
    throw externalIdError('maxLength', 'externalId must have at most 255 characters.');
  if (!isPrintable(externalId))
    throw externalIdError('printable', 'externalId must not contain control characters.');
  if (containsKnownSchemePan(externalId))
    throw externalIdError('noCardNumber', 'externalId must not contain a card number.');
  return externalId;
}
