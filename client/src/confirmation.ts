import type { ConfirmationField, ConfirmationInput } from '../index';
import { CONFIRMATIONS } from './tables';

/**
 * Returns the field `confirmation` for the input of `confirmPayment`. `action`: the payment's next action. `value`: the
 * UTR for a ProvideUtrAction, or the code for a ProvideCodeAction. For a ConfirmTransferAction, `value` is ignored.
 * @throws TypeError if a needed `value` is missing, or if this package version does not know `action.confirmWith`
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
