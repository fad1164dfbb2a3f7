import type { UrlPolicy } from '../../config/types';
import { payoutMethodByType } from '../../schema/methods';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import type { PaymentMethodDefinition, PayoutMethodDefinition } from '../../schema/methods/method-definition';
import type { FieldError } from '../../schema/user-errors';
import { findKeptSecrets, type KeptInput } from './reject-secrets';
import { fieldError, validateInput } from './validate-input';
import { validateUrls, type UrlInput } from './validate-url';

type Method = SelectedMethod<PaymentMethodDefinition | PayoutMethodDefinition> & { publicDetails?: object };

/** Every rule that the input of a create breaks: field rules, rules of the method, URLs, secrets in the wrong field. */
export function validateCreate(
  input: KeptInput & UrlInput & { amount: { currency: string } },
  method: Method,
  urls: UrlPolicy,
): FieldError[] {
  const errors = [
    ...validateInput(input),
    ...validateMethod(method, input.amount),
    ...validateUrls(input, urls),
  ];
  return [...errors, ...findKeptSecrets(input, method, errors)];
}

/** Rules of the selected method (spec section 8). */
function validateMethod(method: Method, amount: { currency: string }): FieldError[] {
  const errors: FieldError[] = [];
  const { currency } = method.definition;
  if (currency && currency !== amount.currency) {
    const message = `must be ${currency}: the only currency of this method.`;
    errors.push(fieldError(['amount', 'currency'], 'currencyOfMethod', message));
  }
  if (method.type !== method.definition.type && payoutMethodByType(method.type) !== method.definition) {
    const message = 'must not be a method that has an input field of its own.';
    errors.push(fieldError(['method', method.inputField, 'type'], 'knownMethod', message));
  }
  return errors;
}
