import { containsPan } from '../../redaction/pan';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import { findInDecodings, NO_SPANS } from '../../redaction/decodings';
import { isUuid } from '../../schema/scalars';
import { containsToken } from '../../redaction/text';
import type { FieldError } from '../../schema/user-errors';
import { fieldError } from './validate-input';

const SECRET_MESSAGE =
  'must not contain a card number, a security code, a key or a token, because it is stored and shown.';

/** Fields of a create that the journal, the audit log or the payment service stores in clear text. */
export interface StoredInput {
  idempotencyKey: string;
  externalId?: string | null;
  description?: string | null;
}

/** Whether a text, in any decoding, contains the card number of the request or equals its security code. */
const containsSecret = (text: string, secret: string): boolean =>
  findInDecodings(text, (decoded) => {
    const isFound =
      secret.length > 4 ? decoded.replace(/\D/g, '').includes(secret) : decoded.trim() === secret;
    return isFound ? [[0, decoded.length]] : NO_SPANS;
  }).length > 0;

/**
 * Returns an error for each field that is stored in clear text and contains a secret. A card number that is not in the
 * request's method counts only if a card scheme issues such numbers, so that order numbers pass.
 * @param errors errors of other rules; their fields are skipped, because these may be of any length
 */
export function findMisplacedSecrets(
  { idempotencyKey, externalId, description }: StoredInput,
  method: Pick<SelectedMethod<unknown>, 'inputField' | 'type' | 'secrets'> & { publicDetails?: object },
  errors: readonly FieldError[] = [],
): FieldError[] {
  const rejectedPaths = new Set(errors.map(({ path }) => path.join('.')));
  const hasSecret = (text: string): boolean => {
    if (method.secrets.some((secret) => containsSecret(text, secret))) return true;
    // A UUID with a letter is not checked, because its digits may look like a card number.
    const isHexUuid = isUuid(text.trim()) && /[a-f]/i.test(text);
    return !isHexUuid && (containsPan(text) || containsToken(text));
  };
  const texts: [path: string[], text: unknown][] = [
    [['idempotencyKey'], idempotencyKey],
    [['externalId'], externalId],
    [['description'], description],
    [['method', method.inputField, 'type'], method.type],
    ...Object.entries(method.publicDetails ?? {}).map(([name, text]): [string[], unknown] => [
      ['method', method.inputField, name],
      text,
    ]),
  ];
  return texts
    .filter(([path]) => !rejectedPaths.has(path.join('.')))
    .filter(([, text]) => typeof text === 'string' && hasSecret(text))
    .map(([path]) => fieldError(path, 'noSecret', SECRET_MESSAGE));
}
