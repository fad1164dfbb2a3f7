import { toWireFields, type WireObject } from '../../shared/wire-object';
import { paymentMethods, payoutMethods } from './index';
import type { CommonDefinition, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import {
  selectedField,
  type ConfirmationInput,
  type PaymentMethodInput,
  type PayoutMethodInput,
} from './method-types';

/** The payment or payout method in a mutation's input, and its part of the request to the service. */
export interface SelectedMethod<D> {
  definition: D;
  /** Name of the only field in the @oneOf input, for example `card` or `redirect`. */
  inputField: string;
  /** Method type in the request: `type` of the definition or, for the payout method `other`, the caller's `type`. */
  type: string;
  /** Fields of the request except `type`, named as in the API of the service. */
  fields: WireObject;
  /**
   * Type and fields of a create, without the card security code. The journal stores a hash of them, so that a repeated
   * call can be recognised.
   */
  fingerprintFields: WireObject;
  /** Values, such as the card number, that must never be returned to a caller. */
  secrets: readonly string[];
}

/** Finds the method that the input selects: by an enum value (`redirect`, `typeOnly`) or by the field's name. */
function findSelectedMethod<D extends CommonDefinition>(
  definitions: readonly D[],
  methodInput: PaymentMethodInput | PayoutMethodInput,
): SelectedMethod<D> {
  const { inputField, value } = selectedField(methodInput);
  const definition = definitions.find((candidate) =>
    typeof value === 'string' ? candidate.name === value : candidate.inputField === inputField,
  );
  if (!definition)
    throw new Error(`Bug in the gateway: no method in src/schema/methods matches ${inputField}.`);
  const { input, type: definitionType } = definition;
  if (typeof value === 'string' || !input) {
    const fingerprintFields = { type: definitionType };
    return { definition, inputField, type: definitionType, fields: {}, fingerprintFields, secrets: [] };
  }
  const { toWire = toWireFields, methodTypeOf, sensitiveFields = [], neverPersistedFields = [] } = input;
  const type = methodTypeOf?.(value) ?? definitionType;
  const fields = toWire(value);
  const persistedFieldEntries = Object.entries(fields).filter(
    ([fieldName]) => !neverPersistedFields.includes(fieldName),
  );
  return {
    definition,
    inputField,
    type,
    fields,
    fingerprintFields: { type, ...Object.fromEntries(persistedFieldEntries) },
    secrets: sensitiveFields.map((fieldName) => String(fields[fieldName])),
  };
}

/** Returns the payment method that the input of createPayment selects. */
export const selectedPaymentMethod = (
  methodInput: PaymentMethodInput,
): SelectedMethod<PaymentMethodDefinition> => findSelectedMethod(paymentMethods, methodInput);

/** Returns the payout method that the input of createPayout selects, with the payout details for the journal. */
export function selectedPayoutMethod(
  methodInput: PayoutMethodInput,
): SelectedMethod<PayoutMethodDefinition> & { publicDetails: object } {
  const selectedMethod = findSelectedMethod(payoutMethods, methodInput);
  const { value } = selectedField(methodInput);
  const publicDetails = typeof value === 'object' && selectedMethod.definition.publicDetailsOf?.(value);
  return { ...selectedMethod, publicDetails: publicDetails || {} };
}

const CARD_NUMBER_INPUT_FIELDS = [...paymentMethods, ...payoutMethods]
  .filter(({ input }) => input?.sensitiveFields?.includes('pan'))
  .map((method) => method.inputField);

/**
 * Whether the input selects a method with a full card number. If so, the caller needs the scope `cards:direct` and must
 * comply with PCI-DSS.
 */
export const takesCardNumber = (methodInput: PaymentMethodInput | PayoutMethodInput): boolean =>
  CARD_NUMBER_INPUT_FIELDS.includes(selectedField(methodInput).inputField);

/** Returns the payment method that a confirmation selects, with the fields of the confirm request except `id`. */
export function selectedConfirmation(
  confirmation: ConfirmationInput,
): Pick<SelectedMethod<PaymentMethodDefinition>, 'definition' | 'fields'> {
  const { inputField, value } = selectedField(confirmation);
  const definition = paymentMethods.find((method) => method.inputField === inputField);
  if (!definition?.confirmation)
    throw new Error(
      `Bug in the gateway: no method in src/schema/methods has the field ${inputField} of ConfirmationInput.`,
    );
  return { definition, fields: definition.confirmation.toWire(Object(value)) };
}
