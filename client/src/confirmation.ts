import type { ConfirmationField, ConfirmationInput } from '../index';
import { CONFIRMATIONS } from './tables';

/**
 * Returns the `confirmation` of `confirmPayment` for a next action with `confirmWith`: ProvideUtrAction (`value` is the
 * UTR), ProvideCodeAction (`value` is the code) and ConfirmTransferAction (no `value`).
 * @throws TypeError if the confirmation needs a value and none is given, and for a `confirmWith` of a newer gateway
 */
export function confirmationFor(
  action: { readonly confirmWith: ConfirmationField },
  value?: string,
): ConfirmationInput {
  const { confirmWith } = action;
  if (!Object.hasOwn(CONFIRMATIONS, confirmWith))
    throw new TypeError(`This version of @paygraph/client does not know confirmWith: ${confirmWith}.`);
  const confirmation = CONFIRMATIONS[confirmWith];
  if (typeof confirmation !== 'function') return confirmation;
  if (value === undefined) throw new TypeError(`The confirmation ${confirmWith} needs a value.`);
  return confirmation(value);
}
