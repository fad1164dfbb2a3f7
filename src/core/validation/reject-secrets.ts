import { containsPan } from '../../redaction/pan';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import type { PaymentMethodDefinition, PayoutMethodDefinition } from '../../schema/methods/method-definition';
import { findInDecodings, NO_SPANS } from '../../redaction/decodings';
import { isUuid } from '../../schema/scalars';
import { holdsToken } from '../../redaction/text';
import type { FieldError } from '../../schema/user-errors';
import { fieldError } from './validate-input';

const SAYS = 'must not hold a card number, a security code, a key or a token: it is kept and shown.';

interface KeptInput {
  idempotencyKey: string;
  externalId?: string | null;
  description?: string | null;
}

/** Whether a text has the digits of a card number of the request, or is its security code, in any reading. */
const repeatsIn = (text: string, secret: string): boolean =>
  findInDecodings(text, (reading) => {
    const isThere =
      secret.length > 4 ? reading.replace(/\D/g, '').includes(secret) : reading.trim() === secret;
    return isThere ? [[0, reading.length]] : NO_SPANS;
  }).length > 0;

type KeptMethod = Pick<
  SelectedMethod<PaymentMethodDefinition | PayoutMethodDefinition>,
  'arm' | 'type' | 'secrets'
> & { shown?: object };

/**
 * Texts that the journal keeps, the audit log names or the service stores in clear, with a secret in them: the caller has
 * put it into the wrong field. Only numbers that a card scheme gives out, so that hardly an order number is meant.
 * Fields that are refused already are skipped: they may be of any length.
 */
export function findKeptSecrets(
  { idempotencyKey, externalId, description }: KeptInput,
  { arm, type, secrets, shown = {} }: KeptMethod,
  refused: readonly FieldError[] = [],
): FieldError[] {
  const refusedPaths = new Set(refused.map(({ path }) => path.join('.')));
  const isBad = (text: string): boolean => {
    if (secrets.some((secret) => repeatsIn(text, secret))) return true;
    // The digits of a UUID may by chance pass for a card number. One without a letter may be one.
    const isHexUuid = isUuid(text.trim()) && /[a-f]/i.test(text);
    return !isHexUuid && (containsPan(text) || holdsToken(text));
  };
  const texts: [path: string[], text: unknown][] = [
    [['idempotencyKey'], idempotencyKey],
    [['externalId'], externalId],
    [['description'], description],
    [['method', arm, 'type'], type],
    ...Object.entries(shown).map(([name, text]): [string[], unknown] => [['method', arm, name], text]),
  ];
  return texts
    .filter(([path]) => !refusedPaths.has(path.join('.')))
    .filter(([, text]) => typeof text === 'string' && isBad(text))
    .map(([path]) => fieldError(path, 'noSecret', SAYS));
}
