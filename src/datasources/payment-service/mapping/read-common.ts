import { Amount } from '../../../schema/amount';
import { transactionError, type TransactionError } from '../../../schema/decline';
import { readMessage, readMoney, parseEnumWord } from '../../../redaction/text';
import { isWireObject } from '../../../shared/wire-object';

/** The amount object (spec 2.2); undefined when it is absent or cannot be read. */
export function readAmount(value: unknown): Amount | undefined {
  if (!isWireObject(value)) return undefined;
  const currency = readMoney(value['currency']);
  const amount = readMoney(value['value']);
  if (currency === null || amount === null) return undefined;
  return Object.assign(new Amount(), { currency, value: amount, received: readMoney(value['received']) });
}

/** The error object of a failed transaction (spec 7.2), fit for a caller; undefined when it is absent. */
export function readError(value: unknown): TransactionError | undefined {
  if (!isWireObject(value)) return undefined;
  return transactionError(parseEnumWord(value['code']) ?? '', readMessage(value['message']) ?? '');
}
