import type { UrlPolicy } from '../../config/types';
import { findInDecodings, NO_SPANS } from '../../redaction/decodings';
import { containsKnownSchemePan } from '../../redaction/pan';
import { containsAuthToken } from '../../redaction/text';
import { findPayoutMethod } from '../../schema/methods';
import type { PaymentMethodDefinition, PayoutMethodDefinition } from '../../schema/methods/method-definition';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import { isUuid } from '../../shared/uuid';
import type { FieldError } from '../../schema/user-errors';
import { fieldError, validateInput } from './validate-input';
import { validateUrls, type UrlFields } from './validate-url';

type AnySelectedMethod = SelectedMethod<PaymentMethodDefinition | PayoutMethodDefinition> & {
  publicDetails?: object;
};

/** Returns an error for every rule that a create input breaks, and for every secret in a field stored in clear text. */
export function validateCreate(
  input: ClearTextFields & UrlFields & { amount: { currency: string } },
  method: AnySelectedMethod,
  urlPolicy: UrlPolicy,
): FieldError[] {
  const errors = [
    ...validateInput(input),
    ...validateMethod(method, input.amount),
    ...validateUrls(input, urlPolicy),
  ];
  return [...errors, ...findMisplacedSecrets(input, method, errors)];
}

/**
 * Returns an error if the method excludes the currency (spec 8). Returns an error if the method `other` names a `type`
 * for which the input has a field, or which `typeOnly` offers.
 */
function validateMethod(method: AnySelectedMethod, amount: { currency: string }): FieldError[] {
  const errors: FieldError[] = [];
  const { currency } = method.definition;
  if (currency && currency !== amount.currency) {
    const message = `must be ${currency}, because this method has no other currency.`;
    errors.push(fieldError(['amount', 'currency'], 'currencyOfMethod', message));
  }
  if (method.type !== method.definition.type && findPayoutMethod(method.type) !== method.definition) {
    const message =
      'must not be a type that has its own input field or that typeOnly offers; use that field or typeOnly.';
    errors.push(fieldError(['method', method.inputField, 'type'], 'knownMethod', message));
  }
  return errors;
}

const MISPLACED_SECRET_MESSAGE =
  'must not contain a card number, a security code, a key or a token, because this field is stored and shown in clear text.';

/** Fields of a create that the journal, the audit log or the payment service stores in clear text. */
interface ClearTextFields {
  idempotencyKey: string;
  externalId?: string | null;
  description?: string | null;
}

/**
 * Whether a text, as written or decoded, contains the digits of a secret. A secret of at most four digits (a security
 * code) must be the whole text, because short numbers occur everywhere.
 */
const containsSecret = (text: string, secret: string): boolean =>
  findInDecodings(text, (decoded) => {
    const isFound =
      secret.length > 4 ? decoded.replace(/\D/g, '').includes(secret) : decoded.trim() === secret;
    return isFound ? [[0, decoded.length]] : NO_SPANS;
  }).length > 0;

/**
 * Returns an error for each field that is stored in clear text and contains a secret of the selected method, a token,
 * or a card number of a known scheme. Other long numbers, such as order numbers, are accepted.
 * @param earlierErrors errors of other rules. Their fields are skipped, because they may be too long to search.
 */
export function findMisplacedSecrets(
  { idempotencyKey, externalId, description }: ClearTextFields,
  method: Pick<SelectedMethod<unknown>, 'inputField' | 'type' | 'secrets'> & { publicDetails?: object },
  earlierErrors: readonly FieldError[] = [],
): FieldError[] {
  const pathsWithErrors = new Set(earlierErrors.map(({ path }) => path.join('.')));
  const containsAnySecret = (text: string): boolean => {
    if (method.secrets.some((secret) => containsSecret(text, secret))) return true;
    // A UUID with a letter is not searched for card numbers or tokens: its digits may look like a card number.
    const isUuidWithLetter = isUuid(text.trim()) && /[a-f]/i.test(text);
    return !isUuidWithLetter && (containsKnownSchemePan(text) || containsAuthToken(text));
  };
  const { inputField, type, publicDetails = {} } = method;
  const detailEntries: [string, unknown][] = [['type', type], ...Object.entries(publicDetails)];
  const pathTextPairs: [path: string[], text: unknown][] = [
    [['idempotencyKey'], idempotencyKey],
    [['externalId'], externalId],
    [['description'], description],
    ...detailEntries.map(([name, text]): [string[], unknown] => [['method', inputField, name], text]),
  ];
  return pathTextPairs
    .filter(([path]) => !pathsWithErrors.has(path.join('.')))
    .filter(([, text]) => typeof text === 'string' && containsAnySecret(text))
    .map(([path]) => fieldError(path, 'noSecret', MISPLACED_SECRET_MESSAGE));
}
