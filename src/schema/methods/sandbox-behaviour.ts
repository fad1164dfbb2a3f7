import type { WireObject } from '../../shared/wire-object';

/**
 * How the sandbox behaves for each method. The values are transcribed from the specification and share no code with the
 * gateway's own fields and rules, so that tests detect mistakes in either.
 */

/** The value of `payment_method.state` (spec 3.3). */
export type WireState =
  'waiting_for_utr' | 'waiting_for_code' | 'waiting_for_confirm' | 'waiting_for_provider';

/** The transaction for which a method adds fields to a response. */
export interface SandboxTransaction {
  /** The transaction id, a lower-case UUID. */
  id: string;
  /** Fields of `payment_method` in the create request, with a masked card number and without type and CVC. */
  methodFields: WireObject;
  amount: { currency: string; value: string };
  /** Returns pseudo-random decimal digits, always the same for this transaction and label. */
  pseudoRandomDigits(count: number, label: string): string;
}

export interface SandboxPaymentMethod {
  /** `payment_method.type` (spec 2.5). */
  type: string;
  /** The only currency that the method accepts (spec section 8). Absent: any. */
  currency?: string;
  /**
   * Fields required besides `type` in the redirect flow; absent if the method has no such flow. A request with only
   * these fields starts this flow. If `direct` has exactly the same fields, the redirect flow starts, and the response
   * also contains the fields that `adds` returns.
   */
  redirect?: readonly string[];
  /** Fields of the server-to-server flow; absent if the method has no such flow. */
  direct?: {
    required: readonly string[];
    optional?: readonly string[];
    /** Sub-state after the create; absent if the payment has none. */
    state?: WireState;
  };
  /** True if `payment_method` may have any fields, because spec 2.5 names none for this method (`havale`, `other`). */
  anyFields?: true;
  /** Field of the confirm body besides `id` (spec 4.5), null if there is none. Absent if confirms are rejected. */
  confirmField?: 'utr' | 'code' | 'transaction_id' | null;
  /** Fields of the request that the service returns in `payment_method`. */
  echo: readonly string[];
  /** Fields that a server-to-server create adds to `payment_method`, or any create if both flows have equal fields. */
  adds?(transaction: SandboxTransaction): WireObject;
  /** Returns fields that the service adds to `payment_method` when a payment in the redirect flow ends. */
  fieldsAfterPayment?(transaction: SandboxTransaction): WireObject;
  /** Returns fields that `payment_method` has only in responses to lookups. */
  lookupFields?(transaction: SandboxTransaction): WireObject;
  /** True if responses of the server-to-server flow also have `account` beside `payment_method` (spec 2.3). */
  topLevelAccount?: true;
}

export interface SandboxPayoutMethod {
  /** `payout_method.type` (spec 2.8). */
  type: string;
  /** The only currency that the method accepts (spec 2.8). Absent: any. */
  currency?: string;
  required: readonly string[];
  optional?: readonly string[];
}

/** Every method of the service, by its wire type. */
export interface SandboxMethods {
  payments: ReadonlyMap<string, SandboxPaymentMethod>;
  payouts: ReadonlyMap<string, SandboxPayoutMethod>;
}
