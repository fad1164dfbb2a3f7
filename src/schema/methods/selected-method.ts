import { toWireFields, type WireObject } from '../../shared/wire-object';
import { paymentMethods, payoutMethods } from './index';
import type { MethodVariant, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import {
  selectedVariant,
  type ConfirmationInput,
  type PaymentMethodInput,
  type PayoutMethodInput,
} from './method-types';

/** The method that a caller selected, with its part of the request to the service. */
export interface SelectedMethod<D> {
  definition: D;
  /** Name of the selected field of the @oneOf input. */
  inputField: string;
  /** Wire type of the method: that of the definition, or the one that the caller chose. */
  type: string;
  /** Fields besides `type`, with wire names. */
  fields: WireObject;
  /** Type and fields that are part of the input's fingerprint, without fields that are never stored (CVC). */
  fingerprintFields: WireObject;
  /** Values that must never be returned to a caller. */
  secrets: readonly string[];
}

type MethodRequest = Pick<SelectedMethod<never>, 'type' | 'fields' | 'fingerprintFields' | 'secrets'>;

const typeOnly = (type: string): MethodRequest => ({
  type,
  fields: {},
  fingerprintFields: { type },
  secrets: [],
});

function requestOf(type: string, variant: MethodVariant | undefined, input: object): MethodRequest {
  const fields = variant?.toWire ? variant.toWire(input) : toWireFields(input);
  const persistent = Object.entries(fields).filter(([name]) => !variant?.neverPersist?.includes(name));
  return {
    type,
    fields,
    fingerprintFields: { type, ...Object.fromEntries(persistent) },
    secrets: (variant?.sensitiveFields ?? []).map((name) => String(fields[name])),
  };
}

/** Returns the definition whose name is `value`, or the one with this field if `value` is a nested input. */
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

/** Returns the method that the input of createPayment selects. */
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

/** Returns the method that the input of createPayout selects, with `publicDetails` as in PayoutMethodDefinition. */
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

/** Whether the selected method takes a full card number, so that the caller must comply with PCI-DSS. */
export function takesCardNumber(method: PaymentMethodInput | PayoutMethodInput): boolean {
  return FIELDS_WITH_PAN.has(selectedVariant(method).field);
}

/** Returns the method that a confirmation selects, with the wire fields of the confirm. */
export function selectedConfirmation(
  confirmation: ConfirmationInput,
): SelectedMethod<PaymentMethodDefinition> {
  const { field, value } = selectedVariant(confirmation);
  const definition = paymentMethods.find((method) => method.confirmation?.field === field);
  if (!definition) throw new Error(`No method of the registry has the field ${field} of ConfirmationInput.`);
  const fields = definition.confirmation?.toWire(Object(value)) ?? {};
  return { definition, inputField: field, ...typeOnly(definition.type), fields };
}
