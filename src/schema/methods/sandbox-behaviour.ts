import type { WireObject } from '../../shared/wire-object';

// These types describe how the sandbox behaves for a method. The values, in the method files, are transcribed from the
// specification. They share no code with the gateway's own fields and rules, so that tests detect mistakes in either.

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
  /** Returns `count` pseudo-random decimal digits, always the same for this transaction and `label`. */
  pseudoRandomDigits(count: number, label: string): string;
}

export interface SandboxPaymentMethod {
  /** `payment_method.type` (spec 2.5). */
  type: string;
  /** The only currency that the method accepts (spec section 8); absent if it accepts any. */
  currency?: string;
  /**
   * Fields of the redirect flow besides `type`, all required; absent if the method has no such flow. A request with
   * only these fields starts this flow, also if the server-to-server flow (`direct`) has exactly the same fields.
   */
  redirect?: readonly string[];
  /** Fields of the server-to-server flow besides `type`; absent if the method has no such flow. */
  direct?: {
    required: readonly string[];
    optional?: readonly string[];
    /** Sub-state after the create; absent if the payment has none. */
    state?: WireState;
  };
  /** True if `payment_method` may have any fields, because spec 2.5 does not name the fields of this method. */
  anyFields?: true;
  /** Required field of a confirm besides `id` (spec 4.5); null if there is none. Absent if confirms are rejected. */
  confirmField?: 'utr' | 'code' | 'transaction_id' | null;
  /** Fields of the request that the service returns in `payment_method`. */
  echo: readonly string[];
  /**
   * Returns the fields that the service adds to `payment_method` in the server-to-server flow. It also adds them in the
   * redirect flow if the requests of both flows have exactly the same fields.
   */
  adds?(transaction: SandboxTransaction): WireObject;
  /** Returns the fields that the service adds to `payment_method` when a payment in the redirect flow ends. */
  fieldsAfterPayment?(transaction: SandboxTransaction): WireObject;
  /** Returns the fields that `payment_method` has only in responses to lookups. */
  lookupFields?(transaction: SandboxTransaction): WireObject;
  /** True if responses of the server-to-server flow have `account` also outside of `payment_method` (spec 2.3). */
  topLevelAccount?: true;
}

export interface SandboxPayoutMethod {
  /** `payout_method.type` (spec 2.8). */
  type: string;
  /** The only currency that the method accepts (spec 2.8); absent if it accepts any. */
  currency?: string;
  required: readonly string[];
  optional?: readonly string[];
}

/** All methods of the service, by wire type. */
export interface SandboxMethods {
  payments: ReadonlyMap<string, SandboxPaymentMethod>;
  payouts: ReadonlyMap<string, SandboxPayoutMethod>;
}
