/** The cents of an amount select the final state of its payment or payout, and faults (docs/sandbox.md). */

export interface TransactionError {
  code: string;
  message: string;
}

export type FinalState =
  | { kind: 'complete' }
  | { kind: 'fail'; error: TransactionError }
  /** Payments only: a payout has no such status (spec 3.2) and completes. */
  | { kind: 'mispay'; received: 'less' | 'more' }
  /** Until the control plane settles it. */
  | { kind: 'never' };

/** A fault of the response, after the work. */
export type Damage = { kind: 'cut' } | { kind: 'truncated' } | { kind: 'status'; status: number };

export interface Outcome {
  ending: FinalState;
  /** The create closes the connection and creates nothing. */
  cutBeforeCreate?: true;
  /** A fault of the response to the create, after the transaction was created. */
  createDamage?: Damage;
  /** How long lookups do not find the transaction. */
  hiddenForMs?: number;
  /** Replaces the status in responses to creates and lookups. */
  statusWord?: string;
  /** Replaces the method's type in responses. */
  typeWord?: string;
}

/** The maximum delay of a final state that an amount selects. */
export const LATEST_SETTLEMENT_MS = 5000;

const complete: FinalState = { kind: 'complete' };

const fails = (code: string, message: string): Outcome => ({
  ending: { kind: 'fail', error: { code, message } },
});

const providerFails = (message: string): Outcome => fails('PROVIDER_PROCESSING_FAILED', message);

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

/** @param value an amount with two decimals */
export const outcomeOf = (value: string): Outcome => BY_CENTS.get(value.slice(-2)) ?? { ending: complete };

/** The received amount of a mispaid payment: half of the amount, or one and a half times it. */
export function receivedInstead(value: string, received: 'less' | 'more'): string {
  const cents = BigInt(value.replace('.', ''));
  const half = cents / 2n;
  const got = (received === 'less' ? half : cents + half + 1n).toString().padStart(3, '0');
  return `${got.slice(0, -2)}.${got.slice(-2)}`;
}
