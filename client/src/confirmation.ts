import type { ConfirmationField, ConfirmationInput } from '../index';
import { CONFIRMATIONS } from './tables';

/**
 * Returns the field `confirmation` of the input of `confirmPayment`. The next action `action` is a ProvideUtrAction
 * (`value` is the UTR), ProvideCodeAction (`value` is the code) or ConfirmTransferAction (no `value`).
 * @throws TypeError if the confirmation needs a value and none is given, or if this kit does not know `confirmWith`
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
