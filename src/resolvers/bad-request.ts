import { GraphQLError } from 'graphql';
import type { LookupKey } from '../datasources/payment-service/client';
import { containsPan } from '../redaction/pan';
import type { InvalidValue, ValueRule } from '../schema/value-rules';
import { isPrintable } from '../shared/text';

/** Rules of arguments, some of them also rules of inputs (schema/rules.ts). */
type ArgumentRule = ValueRule | 'notBlank' | 'maxLength' | 'printable' | 'noCardNumber';

/** BAD_USER_INPUT for arguments that violate a rule beyond their types. The message must not contain a value. */
const badUserInput = (message: string, ...fields: InvalidValue[]): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT', fields } });

/** The same for one argument. */
export const badArgument = (
  path: string | readonly string[],
  rule: ArgumentRule,
  message: string,
): GraphQLError => badUserInput(message, { path: typeof path === 'string' ? [path] : path, rule });

/** Maximum number of transactions of one `payments`, `payouts` or `_entities`. */
export const MAX_BATCH = 100;

export function checkBatch(items: readonly unknown[], argument = 'transactionIds'): void {
  if (items.length > MAX_BATCH)
    throw badArgument(argument, 'maxItems', `${argument} must have at most ${MAX_BATCH} items.`);
}

/** The key of a lookup by one of the two ids, or by both. Throws BAD_USER_INPUT. */
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
      'At least one of transactionId and externalId is required.',
      ...['transactionId', 'externalId'].map((name): InvalidValue => ({ path: [name], rule: 'atLeastOne' })),
    );
  }
  return key;
}

/** An external id of a query, which has the rules of one of a create. Throws BAD_USER_INPUT. */
export function checkedExternalId(externalId: string): string {
  const reject = (rule: ArgumentRule, message: string) => badArgument('externalId', rule, message);
  if (externalId === '') throw reject('notBlank', 'externalId must not be blank.');
  if (externalId.length > 255) throw reject('maxLength', 'externalId must have at most 255 characters.');
  if (!isPrintable(externalId)) throw reject('printable', 'externalId must not contain control characters.');
  if (containsPan(externalId)) throw reject('noCardNumber', 'externalId must not contain a card number.');
  return externalId;
}
