import type { WireObject } from '../../shared/wire-object';
import type { PaymentMethodBehavior, PaymentResource } from '../payment';
import type { PayoutResource } from '../payout';
import type { SandboxPaymentMethod, SandboxPayoutMethod } from './sandbox-behaviour';

/**
 * The input of a method. It becomes a field of the @oneOf input PaymentMethodInput or PayoutMethodInput, with the name
 * in `CommonDefinition.inputField`.
 */
interface MethodInputDefinition {
  /** A class with the decorator @InputType of type-graphql. */
  inputType: new () => object;
  description: string;
  /**
   * Converts the input to the fields of the service's request, except `type`. Default: toWireFields(), which names the
   * fields in snake case.
   */
  toWire?(input: object): WireObject;
  /** Names of request fields whose values must never be returned to a caller. */
  sensitiveFields?: readonly string[];
  /** Names of request fields whose values are never stored, not even as part of a hash. */
  neverPersistedFields?: readonly string[];
  /**
   * Returns the method type to send, for an input in which the caller chooses the type. Default: the `type` of the
   * method's definition.
   */
  methodTypeOf?(input: object): string;
}

/** The common fields of the definitions of payment and payout methods. */
export interface CommonDefinition {
  /** Value of the GraphQL enum PaymentMethod or PayoutMethod, for example JAZZ_CASH. */
  name: string;
  /** `payment_method.type` or `payout_method.type` in the service's API (spec 2.5, 2.8), for example jazz_cash. */
  type: string;
  /** Name of the field that selects this method in each @oneOf input, for example jazzCash. */
  inputField: string;
  /** Description of the enum value `name` in the GraphQL schema. */
  description: string;
  /** The only currency of the method, if the specification (section 8) names one. */
  currency?: string;
  /** GraphQL input of the method. Absent if requests have no field besides `type`. */
  input?: MethodInputDefinition;
  /** True for the definition that is used for every method unknown to this gateway. */
  isFallback?: true;
}

export interface PaymentMethodDefinition extends CommonDefinition, PaymentMethodBehavior {
  paymentClass: new (definition: PaymentMethodDefinition) => PaymentResource;
  /** Description of the method in the enum RedirectPaymentMethod. Absent if the enum does not contain the method. */
  redirectDescription?: string;
  sandbox: SandboxPaymentMethod;
}

export interface PayoutMethodDefinition extends CommonDefinition {
  payoutClass: new (definition: PayoutMethodDefinition) => PayoutResource;
  /** Description of the method in the enum TypeOnlyPayoutMethod. Absent if the method needs fields. */
  typeOnlyDescription?: string;
  /**
   * Returns the details of a payout that the gateway stores in the journal, because the service does not return them.
   * Masks account and card numbers.
   */
  publicDetailsOf?(input: object): object;
  /** How the sandbox treats the method. Absent for `other` (see isFallback): the sandbox accepts every unknown type. */
  sandbox?: SandboxPayoutMethod;
}

/** The definition of one method, for payments, payouts or both. Each method file in this folder exports one. */
export interface MethodDefinition {
  payment?: PaymentMethodDefinition;
  payout?: PayoutMethodDefinition;
}

interface MethodWithoutNames {
  payment?: Omit<PaymentMethodDefinition, 'name' | 'type' | 'inputField'>;
  payout?: Omit<PayoutMethodDefinition, 'name' | 'type' | 'inputField'>;
}

/** Defines a method. Derives its names from `type`: jazz_cash becomes JAZZ_CASH in enums and jazzCash in inputs. */
export function defineMethod(type: string, { payment, payout }: MethodWithoutNames): MethodDefinition {
  const inputField = type.replace(/_./g, (match) => match.charAt(1).toUpperCase());
  const names = { name: type.toUpperCase(), type, inputField };
  return { payment: payment && { ...payment, ...names }, payout: payout && { ...payout, ...names } };
}

/** Removes spaces and dashes. Returns `****` with the last four characters; only `****` if there are at most eight. */
export function maskAllButLastFour(text: string): string {
  const unseparated = text.replace(/[\s-]/g, '');
  return unseparated.length > 8 ? `****${unseparated.slice(-4)}` : '****';
}
