export interface TransactionFailure {
  code: string;
  message: string;
}

/**
 * Simulated outcome that an amount selects. If `failure`, `mispayment` and `neverEnds` are all absent, the transaction
 * completes.
 */
export interface SimulatedOutcome {
  /** The error with which the transaction fails. */
  failure?: TransactionFailure;
  /** The payer pays less or more than the amount. Ignored for payouts, which have no status `mispaid` (spec 3.2). */
  mispayment?: 'less' | 'more';
  /** The transaction stays open until the control plane ends it, or the payer presses Decline or Pay less. */
  neverEnds?: true;
  /** Fault to simulate in the create request (docs/sandbox.md). */
  createFault?: 'cut_before' | 'cut_after' | 'error_after' | 'truncated';
  /** Time in ms after the create during which lookups and confirms do not find the transaction. */
  hiddenForMs?: number;
  /** Status in callbacks and in responses to creates and lookups, instead of the real status. */
  reportedStatus?: string;
  /** Method type in responses, instead of the real type. */
  reportedMethodType?: string;
}

const failureOutcome = (code: string, message: string): SimulatedOutcome => ({ failure: { code, message } });
const providerFailureOutcome = (message: string): SimulatedOutcome =>
  failureOutcome('PROVIDER_PROCESSING_FAILED', message);

/** Keys: the two decimals of the amount. With any other decimals, the transaction completes (docs/sandbox.md). */
const OUTCOME_BY_CENTS: Readonly<Record<string, SimulatedOutcome>> = {
  '01': failureOutcome('DECLINED_GENERIC', 'The payment was declined'),
  '02': failureOutcome('PERSONAL_DATA_NOT_PROVIDED', 'Personal data was not provided'),
  '03': failureOutcome('CARD_DATA_NOT_PROVIDED', 'Card data was not provided'),
  '04': failureOutcome('BROWSER_DATA_NOT_PROVIDED', 'Browser data was not provided'),
  '05': failureOutcome('DECLINED_3DS_AUTHENTICATION_FAILED', '3-D Secure authentication failed'),
  '51': providerFailureOutcome('Insufficient funds'),
  '54': providerFailureOutcome('Card expired'),
  '57': providerFailureOutcome('Transaction not permitted'),
  '59': providerFailureOutcome('Suspected fraud'),
  '60': providerFailureOutcome('Do not honor'),
  '61': providerFailureOutcome('3DS authentication error'),
  '70': { mispayment: 'less' },
  '71': { mispayment: 'more' },
  '75': { neverEnds: true },
  '80': { createFault: 'cut_after' },
  '81': { createFault: 'cut_before' },
  '82': { createFault: 'error_after' },
  '83': { hiddenForMs: 5000 },
  '84': { createFault: 'truncated' },
  '85': { reportedStatus: 'on_hold' },
  '86': { reportedMethodType: 'carrier_pigeon' },
};

/**
 * Returns the outcome that the cents of an amount select; {} if they select none. `value`: an amount with two decimals.
 */
export const outcomeForAmount = (value: string): SimulatedOutcome => OUTCOME_BY_CENTS[value.slice(-2)] ?? {};

/** Returns the amount that the payer of a mispaid payment pays: about 0.5 or about 1.5 times `requestedValue`. */
export function mispaidAmount(requestedValue: string, mispayment: 'less' | 'more'): string {
  const requestedCents = BigInt(requestedValue.replace('.', ''));
  const halfCents = requestedCents / 2n;
  const receivedCents = mispayment === 'less' ? halfCents : requestedCents + halfCents + 1n;
  const receivedDigits = receivedCents.toString().padStart(3, '0');
  return `${receivedDigits.slice(0, -2)}.${receivedDigits.slice(-2)}`;
}
