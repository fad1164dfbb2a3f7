import type { WireObject } from '../../shared/wire-object';
import type { NextAction } from '../next-action';
import type { PaymentResource, PaymentState } from '../payment';
import type { PayoutResource } from '../payout';
import type { SandboxPaymentMethod, SandboxPayoutMethod } from './sandbox-behaviour';

/** A class with the decorator @InputType of type-graphql. */
export type InputClass = new () => object;

/** The field of a @oneOf input that selects a method. */
export interface MethodVariant {
  /** Name of the field in the @oneOf input. */
  field: string;
  input: InputClass;
  description: string;
  /** Returns the wire fields besides `type`. Default: the fields of the input in snake case. */
  toWire?(input: object): WireObject;
  /** Wire fields whose values must never be returned to a caller. */
  sensitiveFields?: readonly string[];
  /** Wire fields that are never stored, not even as part of a hash. */
  neverPersist?: readonly string[];
  /** Returns the wire type if the caller chooses it. Default: `type` of the definition. */
  typeOf?(input: object): string;
}

/** The field of ConfirmationInput that confirms a payment of the method (spec 4.5). */
export interface ConfirmationVariant {
  field: string;
  /** An input class, or an enum for a confirmation without data (c2c). */
  input: InputClass | object;
  description: string;
  /** The sub-state in which the payment waits for the confirmation (spec 3.3). */
  confirmsState: PaymentState;
  /** Returns the wire fields besides `id`. */
  toWire(confirmation: object): WireObject;
}

/** Definition of payments by one method. */
export interface PaymentMethodDefinition {
  /** The value in the enum PaymentMethod. */
  name: string;
  /** `payment_method.type` on the wire (spec 2.5). */
  type: string;
  /** Description of the value in the enum PaymentMethod. */
  description: string;
  payment: new (definition: PaymentMethodDefinition) => PaymentResource;
  /** The only currency of the method, if spec section 8 names one. */
  currency?: string;
  /** Description of the value in the enum RedirectPaymentMethod. Absent if there is no redirect flow without fields. */
  redirect?: string;
  /** Absent if the caller can give nothing but the type. */
  input?: MethodVariant;
  /** Absent if payments of the method cannot be confirmed. */
  confirmation?: ConfirmationVariant;
  /** Returns the next action that is special to the method; null if the default (redirect or wait) applies. */
  nextAction?(payment: PaymentResource): NextAction | null;
  /** True for the definition of methods that are unknown to this gateway. */
  fallback?: true;
  sandbox: SandboxPaymentMethod;
}

/** Definition of payouts by one method. */
export interface PayoutMethodDefinition {
  /** The value in the enum PayoutMethod. */
  name: string;
  /** `payout_method.type` on the wire (spec 2.8). */
  type: string;
  /** Description of the value in the enum PayoutMethod. */
  description: string;
  payout: new (definition: PayoutMethodDefinition) => PayoutResource;
  /** The only currency of the method, if spec section 8 names one. */
  currency?: string;
  /** Description of the value in the enum TypeOnlyPayoutMethod. Absent if the method needs fields. */
  typeOnly?: string;
  input?: MethodVariant;
  /** Returns fields of the payout that come from its create call and are stored. None has a full account number. */
  publicDetails?(input: object): object;
  /** True for the definition of methods that are unknown to this gateway. */
  fallback?: true;
  /** Absent for the fallback, because the sandbox accepts any unknown type. */
  sandbox?: SandboxPayoutMethod;
}

/** The definition of one method, for payments, payouts or both. Each method file in this folder exports one. */
export interface MethodDefinition {
  payment?: PaymentMethodDefinition;
  payout?: PayoutMethodDefinition;
}

/** Returns four asterisks and the last four characters; only asterisks if the text has eight characters or fewer. */
export function maskAllButLastFour(text: string): string {
  const bare = text.replace(/[\s-]/g, '');
  return bare.length > 8 ? `****${bare.slice(-4)}` : '****';
}

/** Returns the action if the payment is in the given state; otherwise null. */
export const actionInState = <A extends NextAction>(
  payment: PaymentResource,
  state: PaymentState,
  action: () => A,
): A | null => (payment.state === state ? action() : null);
