/**
 * How the sandbox plays the service's part for a method. It is written in the service's own words (snake_case,
 * wire types), read from the service's specification and not from the gateway's side of the room, so that the two
 * can disagree and a test can see it.
 */

/** A JSON object as it stands on the wire. */
export type WireObject = Record<string, unknown>;

/** The value of `payment_method.state` (spec 3.3). */
export type WireState =
  'waiting_for_utr' | 'waiting_for_code' | 'waiting_for_confirm' | 'waiting_for_provider';

/** What a method may know of the transaction whose answer it fills in. */
export interface SandboxTransaction {
  /** The transaction id, a lower-case UUID. */
  id: string;
  /** The payment_method or payout_method of the create request; of a card number only first and last digits, of a CVC nothing. */
  request: WireObject;
  amount: { currency: string; value: string };
  /** That many decimal digits, always the same for this transaction and label. */
  digits(count: number, label: string): string;
}

export interface SandboxPaymentMethod {
  /** `payment_method.type` (spec 2.5). */
  type: string;
  /** The only currency the method takes (spec section 8). Absent: any. */
  currency?: string;
  /**
   * Redirect flow: the fields required beside `type`. Absent: the method has no redirect flow.
   * A request that holds nothing but `type` and these is a redirect request; where `direct` asks for the very same
   * fields, its answer also carries what `adds` gives.
   */
  redirect?: readonly string[];
  /** Server-to-server flow. Absent: the method has none. */
  direct?: {
    required: readonly string[];
    optional?: readonly string[];
    /** The sub-state in which such a payment begins. Absent: it has none. */
    state?: WireState;
  };
  /** True where `payment_method` may hold any fields at all (havale, other: spec 2.5 does not show them). */
  anyFields?: true;
  /** Which field of the confirm body carries the payer's answer (spec 4.5); `null`: the body holds only `id`. Absent: cannot be confirmed. */
  confirmField?: 'utr' | 'code' | 'transaction_id' | null;
  /** Request fields that the service repeats in `payment_method`. */
  echo: readonly string[];
  /** Fields that the service adds to `payment_method` in the server-to-server create answer and from then on (spec 2.5). */
  adds?(transaction: SandboxTransaction): WireObject;
  /** Fields known only once the payer has used the hosted page. */
  paidOnPage?(transaction: SandboxTransaction): WireObject;
  /** Fields shown by lookups only. */
  onLookup?(transaction: SandboxTransaction): WireObject;
  /** True where `account` also stands beside `payment_method` in the server-to-server answer (spec 2.3). */
  topLevelAccount?: true;
}

export interface SandboxPayoutMethod {
  /** `payout_method.type` (spec 2.8). */
  type: string;
  /** The only currency the method takes (spec 2.8). Absent: any. */
  currency?: string;
  required: readonly string[];
  optional?: readonly string[];
}

/** What the sandbox asks for: every method of the service, by its wire word. */
export interface SandboxMethods {
  payments: ReadonlyMap<string, SandboxPaymentMethod>;
  payouts: ReadonlyMap<string, SandboxPayoutMethod>;
}
