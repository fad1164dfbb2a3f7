import type { WireObject } from '../../shared/wire-object';

/**
 * The sandbox's side of a method. It is transcribed from the specification with wire names, independently of the gateway's
 * side of the definition, so that tests detect a difference.
 */

/** The value of `payment_method.state` (spec 3.3). */
export type WireState =
  'waiting_for_utr' | 'waiting_for_code' | 'waiting_for_confirm' | 'waiting_for_provider';

/** The transaction whose response a method completes. */
export interface SandboxTransaction {
  /** The transaction id, a lower-case UUID. */
  id: string;
  /** The payment_method or payout_method of the create request, with a masked card number and without the CVC. */
  request: WireObject;
  amount: { currency: string; value: string };
  /** Pseudo-random decimal digits, always the same for this transaction and label. */
  digits(count: number, label: string): string;
}

export interface SandboxPaymentMethod {
  /** `payment_method.type` (spec 2.5). */
  type: string;
  /** The only currency the method takes (spec section 8). Absent: any. */
  currency?: string;
  /**
   * Fields required beside `type` in the redirect flow. Absent: the method has no redirect flow. A request with these fields
   * only is a redirect request; if `direct` requires the same fields, its response also has those of `adds`.
   */
  redirect?: readonly string[];
  /** Server-to-server flow. Absent: the method has none. */
  direct?: {
    required: readonly string[];
    optional?: readonly string[];
    /** The first sub-state. Absent: none. */
    state?: WireState;
  };
  /** True if `payment_method` may have any fields (havale, other: not in spec 2.5). */
  anyFields?: true;
  /** The field of the confirm body beside `id` (spec 4.5); `null`: none. Absent: cannot be confirmed. */
  confirmField?: 'utr' | 'code' | 'transaction_id' | null;
  /** Request fields that the service returns in `payment_method`. */
  echo: readonly string[];
  /** Fields that the service adds to `payment_method`, from the response to a server-to-server create on (spec 2.5). */
  adds?(transaction: SandboxTransaction): WireObject;
  /** Fields that exist after the payer has used the hosted page. */
  paidOnPage?(transaction: SandboxTransaction): WireObject;
  /** Fields in responses to lookups only. */
  onLookup?(transaction: SandboxTransaction): WireObject;
  /** True if the server-to-server response also has `account` beside `payment_method` (spec 2.3). */
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

/** Every method of the service, by its wire type. */
export interface SandboxMethods {
  payments: ReadonlyMap<string, SandboxPaymentMethod>;
  payouts: ReadonlyMap<string, SandboxPayoutMethod>;
}
