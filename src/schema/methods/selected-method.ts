import { toWireFields, type WireObject } from '../../shared/wire-object';
import { paymentMethods, payoutMethods } from './index';
import type { MethodVariant, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import {
  selectedVariant,
  type ConfirmationInput,
  type PaymentMethodInput,
  type PayoutMethodInput,
} from './method-types';

/** The method that a caller selected, and its part of the request to the service. */
export interface SelectedMethod<D> {
  definition: D;
  /** The field of the @oneOf input. */
  inputField: string;
  /** The wire type: the definition's, or the caller's. */
  type: string;
  /** The fields beside type, with wire names. */
  fields: WireObject;
  /** Type and fields for the fingerprint of the input, without the security code. */
  canonical: WireObject;
  /** Values that must never be returned to a caller. */
  secrets: readonly string[];
}

type MethodRequest = Pick<SelectedMethod<never>, 'type' | 'fields' | 'canonical' | 'secrets'>;

const typeOnly = (type: string): MethodRequest => ({ type, fields: {}, canonical: { type }, secrets: [] });

function requestOf(type: string, variant: MethodVariant | undefined, input: object): MethodRequest {
  const fields = variant?.toWire ? variant.toWire(input) : toWireFields(input);
  const persistent = Object.entries(fields).filter(([name]) => !variant?.neverPersist?.includes(name));
  return {
    type,
    fields,
    canonical: { type, ...Object.fromEntries(persistent) },
    secrets: (variant?.sensitiveFields ?? []).map((name) => String(fields[name])),
  };
}

/** The definition with a given name, or else with a given field in the @oneOf input. */
function definitionOf<D extends { name: string; input?: MethodVariant }>(
  definitions: readonly D[],
  { field, value }: { field: string; value: object | string },
): D {
  const found = definitions.find(({ name, input }) =>
    typeof value === 'string' ? name === value : input?.field === field,
  );
  if (!found) throw new Error(`No method of the registry has the field ${field} of a @oneOf input.`);
  return found;
}

/** The method of a payment to create. */
export function selectedPaymentMethod(method: PaymentMethodInput): SelectedMethod<PaymentMethodDefinition> {
  const selected = selectedVariant(method);
  const { field, value } = selected;
  const definition = definitionOf(paymentMethods, selected);
  const request =
    typeof value === 'string'
      ? typeOnly(definition.type)
      : requestOf(definition.type, definition.input, value);
  return { definition, inputField: field, ...request };
}

/** The method of a payout to create; `publicDetails` has the fields of the payout that come from the create call. */
export function selectedPayoutMethod(
  method: PayoutMethodInput,
): SelectedMethod<PayoutMethodDefinition> & { publicDetails: object } {
  const selected = selectedVariant(method);
  const { field, value } = selected;
  const definition = definitionOf(payoutMethods, selected);
  if (typeof value === 'string')
    return { definition, inputField: field, ...typeOnly(definition.type), publicDetails: {} };
  const type = definition.input?.typeOf?.(value) ?? definition.type;
  return {
    definition,
    inputField: field,
    ...requestOf(type, definition.input, value),
    publicDetails: definition.publicDetails?.(value) ?? {},
  };
}

const FIELDS_WITH_PAN: ReadonlySet<string> = new Set(
  [...paymentMethods, ...payoutMethods].flatMap(({ input }) =>
    input?.sensitiveFields?.includes('pan') ? input.field : [],
  ),
);

/** Whether the selected method takes a full card number: the caller then has to comply with PCI-DSS. */
export function takesCardNumber(method: PaymentMethodInput | PayoutMethodInput): boolean {
  return FIELDS_WITH_PAN.has(selectedVariant(method).field);
}

/** The method of a confirmation, and its wire fields. */
export function selectedConfirmation(
  confirmation: ConfirmationInput,
): SelectedMethod<PaymentMethodDefinition> {
  const { field, value } = selectedVariant(confirmation);
  const definition = paymentMethods.find((method) => method.confirmation?.field === field);
  if (!definition) throw new Error(`No method of the registry has the field ${field} of ConfirmationInput.`);
  const fields = definition.confirmation?.toWire(Object(value)) ?? {};
  return { definition, inputField: field, ...typeOnly(definition.type), fields };
}
