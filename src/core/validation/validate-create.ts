import type { UrlPolicy } from '../../config/types';
import { payoutMethodByType } from '../../schema/methods';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import type { PaymentMethodDefinition, PayoutMethodDefinition } from '../../schema/methods/method-definition';
import type { FieldError } from '../../schema/user-errors';
import { findMisplacedSecrets, type StoredInput } from './reject-secrets';
import { fieldError, validateInput } from './validate-input';
import { validateUrls, type UrlInput } from './validate-url';

type Method = SelectedMethod<PaymentMethodDefinition | PayoutMethodDefinition> & { publicDetails?: object };

/** Returns an error for every broken rule of a create's input: fields, method, URLs, secrets in the wrong field. */
export function validateCreate(
  input: StoredInput & UrlInput & { amount: { currency: string } },
  method: Method,
  urls: UrlPolicy,
): FieldError[] {
  const errors = [
    ...validateInput(input),
    ...validateMethod(method, input.amount),
    ...validateUrls(input, urls),
  ];
  return [...errors, ...findMisplacedSecrets(input, method, errors)];
}

/** Checks the rules of the selected method (spec section 8). */
function validateMethod(method: Method, amount: { currency: string }): FieldError[] {
  const errors: FieldError[] = [];
  const { currency } = method.definition;
  if (currency && currency !== amount.currency) {
    const message = `must be ${currency}, because this method has no other currency.`;
    errors.push(fieldError(['amount', 'currency'], 'currencyOfMethod', message));
  }
  if (method.type !== method.definition.type && payoutMethodByType(method.type) !== method.definition) {
    const message = 'must not be a method with an input field of its own; use that field.';
    errors.push(fieldError(['method', method.inputField, 'type'], 'knownMethod', message));
  }
  return errors;
}
