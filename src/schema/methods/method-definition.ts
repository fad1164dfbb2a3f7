import type { NextAction } from '../next-action';
import type { PaymentResource } from '../payment';
import type { PayoutResource } from '../payout';
import type { PaymentState } from '../payment';
import type { WireObject } from '../../shared/wire-object';
import type { SandboxPaymentMethod, SandboxPayoutMethod } from './sandbox-behaviour';

/** A class that type-graphql knows as an input type. */
export type InputClass = new () => object;

/** One arm of a @oneOf input: how a caller chooses the method. */
export interface MethodArm {
  /** The field's name in the @oneOf input. */
  arm: string;
  input: InputClass;
  description: string;
  /** The fields beside `type`. Absent: the input's own fields in snake case. */
  toWire?(input: object): WireObject;
  /** Wire fields whose values must never come back from the service to a caller. */
  secretFields?: readonly string[];
  /** Wire fields that are kept nowhere, in no form. */
  neverKept?: readonly string[];
  /** The wire type, where the caller chooses the word. Absent: the room's. */
  typeOf?(input: object): string;
}

/** The arm of ConfirmationInput by which a payment of the method is confirmed (spec 4.5). */
export interface ConfirmationArm {
  arm: string;
  /** An input class, or the c2c enum, which has nothing to say but that the transfer was made. */
  input: InputClass | object;
  description: string;
  /** The sub-state that it answers (spec 3.3). */
  answers: PaymentState;
  /** The fields beside `id`. */
  toWire(confirmation: object): WireObject;
}

/** Everything the gateway knows of payments by one method. */
export interface PaymentMethodDefinition {
  /** The word in the enum PaymentMethod. */
  name: string;
  /** `payment_method.type` on the wire (spec 2.5). */
  type: string;
  /** For the enum PaymentMethod. */
  description: string;
  payment: new (room: PaymentMethodDefinition) => PaymentResource;
  /** The only currency the method takes, where spec section 8 states one. */
  currency?: string;
  /** For the enum RedirectPaymentMethod. Absent: the redirect flow needs fields of its own, or does not exist. */
  redirect?: string;
  /** The arm of PaymentMethodInput. Absent: the redirect flow only. */
  input?: MethodArm;
  confirmation?: ConfirmationArm;
  /** What to do in the states of this method; null: what any payment does (redirect, or wait). */
  nextAction?(payment: PaymentResource): NextAction | null;
  /** True for the room that takes in the methods this gateway does not know. */
  fallback?: true;
  sandbox: SandboxPaymentMethod;
}

/** Everything the gateway knows of payouts by one method. */
export interface PayoutMethodDefinition {
  /** The word in the enum PayoutMethod. */
  name: string;
  /** `payout_method.type` on the wire (spec 2.8). */
  type: string;
  /** For the enum PayoutMethod. */
  description: string;
  payout: new (room: PayoutMethodDefinition) => PayoutResource;
  /** The only currency the method takes, where spec section 8 states one. */
  currency?: string;
  /** For the enum TypeOnlyPayoutMethod. */
  typeOnly?: string;
  /** The arm of PayoutMethodInput. */
  input?: MethodArm;
  /** What a payout shows of the method input that made it; nothing that identifies an account in full. */
  show?(input: object): object;
  /** True for the room that takes in the methods this gateway does not know. */
  fallback?: true;
  /** Absent for the fallback: the sandbox takes any other type as it comes. */
  sandbox?: SandboxPayoutMethod;
}

/** One file per method: what it is as a payment, as a payout, or as both. */
export interface MethodDefinition {
  payment?: PaymentMethodDefinition;
  payout?: PayoutMethodDefinition;
}

/** The last four characters behind four asterisks; asterisks alone where that would show half of the text or more. */
export function maskAllButLastFour(text: string): string {
  const bare = text.replace(/[\s-]/g, '');
  return bare.length > 8 ? `****${bare.slice(-4)}` : '****';
}

/** An action for a payment in a given state; null in any other. */
export function inState<A extends NextAction>(
  payment: PaymentResource,
  state: PaymentState,
  action: () => A,
): A | null {
  return payment.state === state ? action() : null;
}
