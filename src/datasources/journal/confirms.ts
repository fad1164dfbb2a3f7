/** Identifies a payment that a client confirms. */
export interface PaymentRef {
  service: string;
  channel: string;
  transactionId: string;
}

/** Request for the exclusive right to confirm a payment. */
export interface ConfirmClaim extends PaymentRef {
  /** UUID of this confirm. Passed to endConfirm(). */
  confirmId: string;
  /** Id of the instance that sends the confirm. */
  owner: string;
  /** Current time in ms by the journal's clock. An earlier claim is replaced if its lease has ended by this time. */
  now: number;
  /** End of the lease in ms. Afterwards, another confirm of this payment can begin. */
  leaseUntil: number;
  /** Keyed hash of the confirm's input. */
  inputHash: string;
}

/** Result of beginConfirm(): what the journal has recorded about earlier confirms of the payment. */
export interface ConfirmBeginResult {
  /** Whether an earlier confirm of this payment may have been carried out without a recorded result. */
  isEarlierOutcomeUnknown: boolean;
  /**
   * Input hashes of the earlier confirms whose results are unknown. If the stored list grew too long, it begins with
   * the entry `unknown`, which stands for all earlier hashes.
   */
  unresolvedInputHashes: string[];
}

/** An input with which a payment was confirmed. */
export interface ConfirmedInput extends PaymentRef {
  /** Keyed hash; the input itself is not stored. */
  inputHash: string;
  /** Wire status of the payment at `confirmedAt`. */
  status: string;
  /** When a response showed that the payment was confirmed with this input. */
  confirmedAt: number;
}

/** Result of a confirm. It also states whether the results of earlier confirms of the payment are now known. */
export interface EndedConfirm {
  /**
   * - `known`: the results of all confirms of this payment, including earlier ones, are known.
   * - `unknown`: this confirm may have been carried out.
   * - `not_carried_out`: this confirm was not carried out. Unknown results of earlier confirms stay unknown.
   */
  outcome: 'known' | 'unknown' | 'not_carried_out';
  /** Inputs with which the payment is now known to have been confirmed, by this confirm or an earlier one. */
  confirmedInputs: readonly ConfirmedInput[];
}
