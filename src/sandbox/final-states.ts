export interface TransactionFailure {
  code: string;
  message: string;
}

/** Outcome that an amount selects. Unless `error`, `mispaid` or `neverEnds` is set, the transaction completes. */
export interface SimulatedOutcome {
  /** The error with which the transaction fails. */
  error?: TransactionFailure;
  /** The payer pays less or more than the amount. A payout completes instead: it has no status `mispaid` (spec 3.2). */
  mispaid?: 'less' | 'more';
  /** Only the control plane, or a decline or Pay less on the hosted page, ends the transaction. */
  neverEnds?: true;
  /** Fault of the create request. */
  fault?: 'cut_before' | 'cut_after' | 'error_after' | 'truncated';
  /** Time in ms after the create during which lookups and confirms do not find the transaction. */
  hiddenForMs?: number;
  /** Status that callbacks and responses to creates and lookups show instead of the real one. */
  statusOverride?: string;
  /** Method type that responses show instead of the real one. */
  typeOverride?: string;
}

const failedWith = (code: string, message: string): SimulatedOutcome => ({ error: { code, message } });
const failedByProvider = (message: string): SimulatedOutcome =>
  failedWith('PROVIDER_PROCESSING_FAILED', message);

/** The outcome that an amount selects, by the cents of the amount (docs/sandbox.md). */
const OUTCOMES_BY_CENTS: Readonly<Record<string, SimulatedOutcome>> = {
  '01': failedWith('DECLINED_GENERIC', 'The payment was declined'),
  '02': failedWith('PERSONAL_DATA_NOT_PROVIDED', 'Personal data was not provided'),
  '03': failedWith('CARD_DATA_NOT_PROVIDED', 'Card data was not provided'),
  '04': failedWith('BROWSER_DATA_NOT_PROVIDED', 'Browser data was not provided'),
  '05': failedWith('DECLINED_3DS_AUTHENTICATION_FAILED', '3-D Secure authentication failed'),
  '51': failedByProvider('Insufficient funds'),
  '54': failedByProvider('Card expired'),
  '57': failedByProvider('Transaction not permitted'),
  '59': failedByProvider('Suspected fraud'),
  '60': failedByProvider('Do not honor'),
  '61': failedByProvider('3DS authentication error'),
  '70': { mispaid: 'less' },
  '71': { mispaid: 'more' },
  '75': { neverEnds: true },
  '80': { fault: 'cut_after' },
  '81': { fault: 'cut_before' },
  '82': { fault: 'error_after' },
  '83': { hiddenForMs: 5000 },
  '84': { fault: 'truncated' },
  '85': { statusOverride: 'on_hold' },
  '86': { typeOverride: 'carrier_pigeon' },
};

/** Returns the outcome that the cents of an amount select; empty if they select none. `value` has two decimals. */
export const outcomeForAmount = (value: string): SimulatedOutcome => OUTCOMES_BY_CENTS[value.slice(-2)] ?? {};

/** Returns the received amount of a mispaid payment: half of `value` for `less`, about 1.5 times `value` for `more`. */
export function mispaidAmount(value: string, comparison: 'less' | 'more'): string {
  const cents = BigInt(value.replace('.', ''));
  const half = cents / 2n;
  const receivedCents = (comparison === 'less' ? half : cents + half + 1n).toString().padStart(3, '0');
  return `${receivedCents.slice(0, -2)}.${receivedCents.slice(-2)}`;
}
