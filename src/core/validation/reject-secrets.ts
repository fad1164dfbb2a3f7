import { containsPan } from '../../redaction/pan';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import { findInDecodings, NO_SPANS } from '../../redaction/decodings';
import { isUuid } from '../../schema/scalars';
import { containsToken } from '../../redaction/text';
import type { FieldError } from '../../schema/user-errors';
import { fieldError } from './validate-input';

const MESSAGE = 'must not hold a card number, a security code, a key or a token: it is stored and shown.';

/** Fields of a create that the journal, the audit log or the payment service stores in clear text. */
export interface KeptInput {
  idempotencyKey: string;
  externalId?: string | null;
  description?: string | null;
}

/** Whether a text, in any decoding, contains the card number of the request or equals its security code. */
const containsSecret = (text: string, secret: string): boolean =>
  findInDecodings(text, (reading) => {
    const isFound =
      secret.length > 4 ? reading.replace(/\D/g, '').includes(secret) : reading.trim() === secret;
    return isFound ? [[0, reading.length]] : NO_SPANS;
  }).length > 0;

/**
 * Rejects secrets in fields that are stored in clear text: the caller has put them into the wrong field. Card numbers count
 * only in ranges that a card scheme issues, so that order numbers pass.
 * @param errors errors of other rules; their fields are skipped, as they may be of any length
 */
export function findKeptSecrets(
  { idempotencyKey, externalId, description }: KeptInput,
  method: Pick<SelectedMethod<unknown>, 'inputField' | 'type' | 'secrets'> & { publicDetails?: object },
  errors: readonly FieldError[] = [],
): FieldError[] {
  const rejectedPaths = new Set(errors.map(({ path }) => path.join('.')));
  const isBad = (text: string): boolean => {
    if (method.secrets.some((secret) => containsSecret(text, secret))) return true;
    // The digits of a UUID may look like a card number; a UUID without a letter may be one.
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
    .filter(([, text]) => typeof text === 'string' && isBad(text))
    .map(([path]) => fieldError(path, 'noSecret', MESSAGE));
}
