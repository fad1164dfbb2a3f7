/** The cents of an amount select the final state of its payment or payout, and possibly a fault (docs/sandbox.md). */

export interface TransactionError {
  code: string;
  message: string;
}

export type FinalState =
  | { kind: 'complete' }
  | { kind: 'fail'; error: TransactionError }
  /** Only payments become mispaid: payouts do not have this status (spec 3.2) and complete instead. */
  | { kind: 'mispay'; received: 'less' | 'more' }
  /** The transaction does not end by itself, and neither Pay on the hosted page nor a confirm completes it. */
  | { kind: 'never' };

/** A fault in the response to a request. */
export type ResponseFault = { kind: 'cut' } | { kind: 'truncated' } | { kind: 'status'; status: number };

export interface SimulatedOutcome {
  finalState: FinalState;
  /** The connection is closed and nothing is created. */
  cutBeforeCreate?: true;
  /** A fault in the response to the create; the transaction is created nevertheless. */
  createFault?: ResponseFault;
  /** Time in ms after the create during which lookups and confirms do not find the transaction. */
  hiddenForMs?: number;
  /** Shown instead of the status in callbacks and in responses to creates and lookups. */
  statusOverride?: string;
  /** Shown instead of the method's type in responses. */
  typeOverride?: string;
}

/** Maximum of the option `settleAfterMs`. */
export const MAX_SETTLE_AFTER_MS = 5000;

const complete: FinalState = { kind: 'complete' };

const failure = (code: string, message: string): SimulatedOutcome => ({
  finalState: { kind: 'fail', error: { code, message } },
});

const providerFailure = (message: string): SimulatedOutcome => failure('PROVIDER_PROCESSING_FAILED', message);

const OUTCOMES_BY_CENTS: ReadonlyMap<string, SimulatedOutcome> = new Map<string, SimulatedOutcome>([
  ['01', failure('DECLINED_GENERIC', 'The payment was declined')],
  ['02', failure('PERSONAL_DATA_NOT_PROVIDED', 'Personal data was not provided')],
  ['03', failure('CARD_DATA_NOT_PROVIDED', 'Card data was not provided')],
  ['04', failure('BROWSER_DATA_NOT_PROVIDED', 'Browser data was not provided')],
  ['05', failure('DECLINED_3DS_AUTHENTICATION_FAILED', '3-D Secure authentication failed')],
  ['51', providerFailure('Insufficient funds')],
  ['54', providerFailure('Card expired')],
  ['57', providerFailure('Transaction not permitted')],
  ['59', providerFailure('Suspected fraud')],
  ['60', providerFailure('Do not honor')],
  ['61', providerFailure('3DS authentication error')],
  ['70', { finalState: { kind: 'mispay', received: 'less' } }],
  ['71', { finalState: { kind: 'mispay', received: 'more' } }],
  ['75', { finalState: { kind: 'never' } }],
  ['80', { finalState: complete, createFault: { kind: 'cut' } }],
  ['81', { finalState: complete, cutBeforeCreate: true }],
  ['82', { finalState: complete, createFault: { kind: 'status', status: 500 } }],
  ['83', { finalState: complete, hiddenForMs: 5000 }],
  ['84', { finalState: complete, createFault: { kind: 'truncated' } }],
  ['85', { finalState: complete, statusOverride: 'on_hold' }],
  ['86', { finalState: complete, typeOverride: 'carrier_pigeon' }],
]);

/** Returns the outcome that the cents of an amount select. `value` has two decimals. */
export const outcomeOf = (value: string): SimulatedOutcome =>
  OUTCOMES_BY_CENTS.get(value.slice(-2)) ?? { finalState: complete };

/** Returns the received amount of a mispaid payment: half of the amount, or about one and a half times the amount. */
export function mispaidAmount(value: string, received: 'less' | 'more'): string {
  const cents = BigInt(value.replace('.', ''));
  const half = cents / 2n;
  const got = (received === 'less' ? half : cents + half + 1n).toString().padStart(3, '0');
  return `${got.slice(0, -2)}.${got.slice(-2)}`;
}
