/**
 * The cents of an amount choose how its payment or payout ends and what goes wrong on the way. Everything that the
 * sandbox can be made to do by an amount stands in this table.
 */

export interface TransactionError {
  code: string;
  message: string;
}

export type FinalState =
  | { kind: 'complete' }
  | { kind: 'fail'; error: TransactionError }
  /** Payments only: a payout has no such status (spec 3.2) and completes. */
  | { kind: 'mispay'; received: 'less' | 'more' }
  /** Nothing happens until the control plane settles it. */
  | { kind: 'never' };

/** What becomes of the answer to a request whose work is done. */
export type Damage = { kind: 'cut' } | { kind: 'truncated' } | { kind: 'status'; status: number };

export interface Outcome {
  ending: FinalState;
  /** The create is refused its work: nothing is created, the connection is cut. */
  cutBeforeCreate?: true;
  /** What becomes of the create answer, once the transaction exists. */
  createDamage?: Damage;
  /** Lookups miss the transaction for that long. */
  hiddenForMs?: number;
  /** Stands in create answers and lookups in place of the status. */
  statusWord?: string;
  /** Stands in answers in place of the method's type. */
  typeWord?: string;
}

/** Forced endings take effect no later than this. */
export const LATEST_SETTLEMENT_MS = 5000;

const complete: FinalState = { kind: 'complete' };

function fails(code: string, message: string): Outcome {
  return { ending: { kind: 'fail', error: { code, message } } };
}

function providerFails(message: string): Outcome {
  return fails('PROVIDER_PROCESSING_FAILED', message);
}

const SUCCESS: Outcome = { ending: complete };

const BY_CENTS: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['01', fails('DECLINED_GENERIC', 'The payment was declined')],
  ['02', fails('PERSONAL_DATA_NOT_PROVIDED', 'Personal data was not provided')],
  ['03', fails('CARD_DATA_NOT_PROVIDED', 'Card data was not provided')],
  ['04', fails('BROWSER_DATA_NOT_PROVIDED', 'Browser data was not provided')],
  ['05', fails('DECLINED_3DS_AUTHENTICATION_FAILED', '3-D Secure authentication failed')],
  ['51', providerFails('Insufficient funds')],
  ['54', providerFails('Card expired')],
  ['57', providerFails('Transaction not permitted')],
  ['59', providerFails('Suspected fraud')],
  ['60', providerFails('Do not honor')],
  ['61', providerFails('3DS authentication error')],
  ['70', { ending: { kind: 'mispay', received: 'less' } }],
  ['71', { ending: { kind: 'mispay', received: 'more' } }],
  ['75', { ending: { kind: 'never' } }],
  ['80', { ending: complete, createDamage: { kind: 'cut' } }],
  ['81', { ending: complete, cutBeforeCreate: true }],
  ['82', { ending: complete, createDamage: { kind: 'status', status: 500 } }],
  ['83', { ending: complete, hiddenForMs: 5000 }],
  ['84', { ending: complete, createDamage: { kind: 'truncated' } }],
  ['85', { ending: complete, statusWord: 'on_hold' }],
  ['86', { ending: complete, typeWord: 'carrier_pigeon' }],
]);

/** `value` is an amount with two decimals, as checked on input. */
export function outcomeOf(value: string): Outcome {
  return BY_CENTS.get(value.slice(-2)) ?? SUCCESS;
}

/** What arrived when a payer did not pay the amount asked for: half of it, or half as much again. */
export function receivedInstead(value: string, received: 'less' | 'more'): string {
  const cents = BigInt(value.replace('.', ''));
  const half = cents / 2n;
  const got = (received === 'less' ? half : cents + half + 1n).toString().padStart(3, '0');
  return `${got.slice(0, -2)}.${got.slice(-2)}`;
}
