import type { WireObject } from '../../shared/wire-object';
import type { NextAction } from '../next-action';
import type { PaymentResource, PaymentState } from '../payment';
import type { PayoutResource } from '../payout';
import type { SandboxPaymentMethod, SandboxPayoutMethod } from './sandbox-behaviour';

/** A class that type-graphql knows as an input type. */
export type InputClass = new () => object;

/** The field of a @oneOf input that selects a method. */
export interface MethodVariant {
  /** The field's name in the @oneOf input. */
  field: string;
  input: InputClass;
  description: string;
  /** The wire fields beside `type`. Default: the input's own fields in snake case. */
  toWire?(input: object): WireObject;
  /** Wire fields whose values must never be returned to a caller. */
  sensitiveFields?: readonly string[];
  /** Wire fields that are never stored, not even hashed. */
  neverPersist?: readonly string[];
  /** The wire type, if the caller chooses it. Default: the definition's. */
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
  /** The wire fields beside `id`. */
  toWire(confirmation: object): WireObject;
}

/** Payments by one method. */
export interface PaymentMethodDefinition {
  /** The value in the enum PaymentMethod. */
  name: string;
  /** `payment_method.type` on the wire (spec 2.5). */
  type: string;
  /** Of the value in the enum PaymentMethod. */
  description: string;
  payment: new (definition: PaymentMethodDefinition) => PaymentResource;
  /** The only currency of the method, if spec section 8 names one. */
  currency?: string;
  /** Of the value in the enum RedirectPaymentMethod. Absent if a redirect needs fields or does not exist. */
  redirect?: string;
  /** Absent for methods with a redirect flow only. */
  input?: MethodVariant;
  confirmation?: ConfirmationVariant;
  /** The action in the states of this method; null: the default of all payments (redirect, or wait). */
  nextAction?(payment: PaymentResource): NextAction | null;
  /** True for the definition of methods that are unknown to this gateway. */
  fallback?: true;
  sandbox: SandboxPaymentMethod;
}

/** Payouts by one method. */
export interface PayoutMethodDefinition {
  /** The value in the enum PayoutMethod. */
  name: string;
  /** `payout_method.type` on the wire (spec 2.8). */
  type: string;
  /** Of the value in the enum PayoutMethod. */
  description: string;
  payout: new (definition: PayoutMethodDefinition) => PayoutResource;
  /** The only currency of the method, if spec section 8 names one. */
  currency?: string;
  /** Of the value in the enum TypeOnlyPayoutMethod. */
  typeOnly?: string;
  input?: MethodVariant;
  /** The fields of the payout that come from its create call; none identifies an account in full. */
  publicDetails?(input: object): object;
  /** True for the definition of methods that are unknown to this gateway. */
  fallback?: true;
  /** Absent for the fallback: the sandbox accepts any other type. */
  sandbox?: SandboxPayoutMethod;
}

/** One file per method: its payments, its payouts, or both. */
export interface MethodDefinition {
  payment?: PaymentMethodDefinition;
  payout?: PayoutMethodDefinition;
}

/** Four asterisks and the last four characters; without these if they were half of the text or more. */
export function maskAllButLastFour(text: string): string {
  const bare = text.replace(/[\s-]/g, '');
  return bare.length > 8 ? `****${bare.slice(-4)}` : '****';
}

/** The action of a payment in the given state; null in any other. */
export const inState = <A extends NextAction>(
  payment: PaymentResource,
  state: PaymentState,
  action: () => A,
): A | null => (payment.state === state ? action() : null);
