import type { WireObject } from '../../shared/wire-object';
import type { ConfirmationDefinition, PaymentMethodBehavior, PaymentResource } from '../payment';
import type { PayoutResource } from '../payout';
import type { SandboxPaymentMethod, SandboxPayoutMethod } from './sandbox-behaviour';

/** The input of a method: a field of the @oneOf input PaymentMethodInput or PayoutMethodInput. */
interface MethodInputDefinition {
  /** Name of the field in the @oneOf input. */
  field: string;
  /** A class with the decorator @InputType of type-graphql. */
  input: new () => object;
  description: string;
  /**
   * Converts the input to the fields of the service's request, except `type`. Default: toWireFields(), which names the
   * fields in snake case.
   */
  toWire?(input: object): WireObject;
  /** Names of request fields whose values must never be returned to a caller. */
  sensitiveFields?: readonly string[];
  /** Names of request fields whose values are never stored, not even as part of a hash. */
  neverPersist?: readonly string[];
  /**
   * Returns the method type to send, for an input in which the caller chooses the type. Default: the `type` of the
   * method's definition.
   */
  requestTypeOf?(input: object): string;
}

/** The field of ConfirmationInput that confirms a payment of the method (spec 4.5). */
export interface ConfirmationInputDefinition extends ConfirmationDefinition {
  /** An input class, or an enum if the confirmation has no data (card-to-card transfers). */
  input: object;
  description: string;
  /** Converts the confirmation to the fields of the request except `id`. */
  toWire(confirmation: object): WireObject;
}

/** The common fields of the definitions of payment and payout methods. */
export interface CommonDefinition {
  /** Value of the GraphQL enum PaymentMethod or PayoutMethod, for example JAZZ_CASH. */
  name: string;
  /** `payment_method.type` or `payout_method.type` in the service's API (spec 2.5, 2.8), for example jazz_cash. */
  type: string;
  /** Description of the enum value `name` in the GraphQL schema. */
  description: string;
  /** The only currency of the method, if the specification (section 8) names one. */
  currency?: string;
  /** GraphQL input of the method. Absent if requests have no field besides `type`. */
  input?: MethodInputDefinition;
  /** True for the definition that is used for every method unknown to this gateway. */
  fallback?: true;
}

export interface PaymentMethodDefinition extends CommonDefinition, PaymentMethodBehavior {
  payment: new (definition: PaymentMethodDefinition) => PaymentResource;
  /** Description of the method in the enum RedirectPaymentMethod. Absent if the enum does not contain the method. */
  redirect?: string;
  /** Confirmation of the method's payments. Absent if they cannot be confirmed. */
  confirmation?: ConfirmationInputDefinition;
  sandbox: SandboxPaymentMethod;
}

export interface PayoutMethodDefinition extends CommonDefinition {
  payout: new (definition: PayoutMethodDefinition) => PayoutResource;
  /** Description of the method in the enum TypeOnlyPayoutMethod. Absent if the method needs fields. */
  typeOnly?: string;
  /**
   * Returns the details of a payout that the gateway stores in the journal, because the service does not return them.
   * Masks account and card numbers.
   */
  publicDetails?(input: object): object;
  /** Behaviour of the sandbox; absent for the fallback, because the sandbox accepts any unknown type. */
  sandbox?: SandboxPayoutMethod;
}

/** The definition of one method, for payments, payouts or both. Each method file in this folder exports one. */
export interface MethodDefinition {
  payment?: PaymentMethodDefinition;
  payout?: PayoutMethodDefinition;
}

/** A definition without the properties that defineMethod() adds: `name`, `type` and `field`. */
type Unnamed<D extends CommonDefinition> = Omit<D, 'name' | 'type' | 'input' | 'confirmation'> & {
  input?: Omit<MethodInputDefinition, 'field'>;
};

interface UnnamedMethod {
  payment?: Unnamed<PaymentMethodDefinition> & {
    confirmation?: Omit<ConfirmationInputDefinition, 'field'>;
  };
  payout?: Unnamed<PayoutMethodDefinition>;
}

/** Defines a method. Derives its names from `type`: jazz_cash becomes JAZZ_CASH in enums and jazzCash in inputs. */
export function defineMethod(type: string, { payment, payout }: UnnamedMethod): MethodDefinition {
  const name = type.toUpperCase();
  const field = type.replace(/_./g, (pair) => pair.charAt(1).toUpperCase());
  const withField = <V extends object>(variant: V | undefined) => variant && { ...variant, field };
  return {
    payment: payment && {
      ...payment,
      name,
      type,
      input: withField(payment.input),
      confirmation: withField(payment.confirmation),
    },
    payout: payout && { ...payout, name, type, input: withField(payout.input) },
  };
}

/** Removes spaces and dashes. Returns `****` with the last four characters; only `****` if there are at most eight. */
export function maskAllButLastFour(text: string): string {
  const bare = text.replace(/[\s-]/g, '');
  return bare.length > 8 ? `****${bare.slice(-4)}` : '****';
}
