import type { WireObject } from '../../shared/wire-object';

// These types describe the sandbox's behaviour for a method. The values, in the method files, are transcribed from the
// specification and not derived from the gateway's inputs and rules, so that tests detect mistakes in either.

/** The value of `payment_method.state` (spec 3.3). */
export type WireState =
  'waiting_for_utr' | 'waiting_for_code' | 'waiting_for_confirm' | 'waiting_for_provider';

/** Argument of the functions that return a method's fields in a response. */
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
   * Required request fields of the redirect flow besides `type`; absent if the method has no redirect flow. A request
   * with only these fields uses the redirect flow, even if `directFlow` has the same fields.
   */
  redirectFields?: readonly string[];
  /** Request fields of the server-to-server flow besides `type`. Absent if the method has no such flow. */
  directFlow?: {
    required: readonly string[];
    optional?: readonly string[];
    /** `payment_method.state` after the create (spec 3.3). Absent if the payment has no state. */
    state?: WireState;
  };
  /** True if `payment_method` may have any fields, because spec 2.5 does not name the fields of this method. */
  acceptsAnyFields?: true;
  /** Required field of a confirm besides `id` (spec 4.5); null if `id` is enough. Absent if confirms are rejected. */
  confirmField?: 'utr' | 'code' | 'transaction_id' | null;
  /** Request fields that the service returns unchanged in `payment_method`. */
  echoedFields: readonly string[];
  /**
   * Returns the fields that the service adds to `payment_method` in the server-to-server flow. They also appear in the
   * redirect flow if the requests of both flows have the same fields.
   */
  addedFields?(transaction: SandboxTransaction): WireObject;
  /** Returns the fields that `payment_method` gets in addition when a payment in the redirect flow becomes final. */
  fieldsWhenFinal?(transaction: SandboxTransaction): WireObject;
  /** Returns the fields that `payment_method` has only in responses to lookups. */
  lookupOnlyFields?(transaction: SandboxTransaction): WireObject;
  /** True if `account` is also a top-level field of responses in the server-to-server flow (spec 2.3). */
  hasTopLevelAccount?: true;
}

export interface SandboxPayoutMethod {
  /** `payout_method.type` (spec 2.8). */
  type: string;
  /** The only currency that the method accepts (spec 2.8); absent if it accepts any. */
  currency?: string;
  required: readonly string[];
  optional?: readonly string[];
}

/** The sandbox's behaviour for each method that it knows, by `payment_method.type` and `payout_method.type`. */
export interface SandboxMethods {
  paymentMethodByType: ReadonlyMap<string, SandboxPaymentMethod>;
  payoutMethodByType: ReadonlyMap<string, SandboxPayoutMethod>;
}
