import { Amount } from '../../schema/amount';
import { transactionError, type TransactionError } from '../../schema/decline';
import { isWireObject, wireText } from '../../schema/wire';

/** The amount object (spec 2.2); undefined when it is absent or cannot be read. */
export function readAmount(value: unknown): Amount | undefined {
  if (!isWireObject(value)) return undefined;
  const currency = wireText(value['currency']);
  const amount = wireText(value['value']);
  if (currency === null || amount === null) return undefined;
  return Object.assign(new Amount(), { currency, value: amount, received: wireText(value['received']) });
}

/** The error object of a failed transaction (spec 7.2); undefined when it is absent. */
export function readError(value: unknown): TransactionError | undefined {
  if (!isWireObject(value)) return undefined;
  return transactionError(wireText(value['code']) ?? '', wireText(value['message']) ?? '');
}
