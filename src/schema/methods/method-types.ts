import { IsOptional, ValidateNested } from 'class-validator';
import { Field, InputType, createUnionType } from 'type-graphql';
import { ConfirmTransferAction, ProvideCodeAction, ProvideUtrAction } from '../next-action';
import { NullableField } from '../nullable-field';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { registerEnum } from '../register-enum';
import { HasAnyField } from '../rules';
import { paymentMethods, payoutMethods } from './index';

// This file builds the GraphQL types that list the methods from the registry: enums, unions and @oneOf inputs.

function registerMethodEnum<P extends string>(
  enumName: string,
  description: string,
  definitions: readonly ({ name: string } & Partial<Record<P, string>>)[],
  descriptionProperty: P,
): Record<string, string> {
  const descriptionEntries = definitions.flatMap(({ name, [descriptionProperty]: valueDescription }) =>
    valueDescription === undefined ? [] : [[name, valueDescription] as const],
  );
  return registerEnum(
    enumName,
    description,
    Object.fromEntries(descriptionEntries) as Record<string, string>,
  );
}

export const PaymentMethod = registerMethodEnum(
  'PaymentMethod',
  'The methods of payments (spec 2.5).',
  paymentMethods,
  'description',
);
export const PayoutMethod = registerMethodEnum(
  'PayoutMethod',
  'The methods of payouts (spec 2.8).',
  payoutMethods,
  'description',
);
export const RedirectPaymentMethod = registerMethodEnum(
  'RedirectPaymentMethod',
  'Payment methods that need only their type: the payer pays on the hosted page.',
  paymentMethods,
  'redirectDescription',
);
export const TypeOnlyPayoutMethod = registerMethodEnum(
  'TypeOnlyPayoutMethod',
  'Payout methods that need only their type.',
  payoutMethods,
  'typeOnlyDescription',
);

Field(() => PaymentMethod, { description: 'The method; OTHER if it is unknown to this gateway.' })(
  PaymentResource.prototype,
  'method',
);
Field(() => PayoutMethod, {
  description:
    'The method. It comes from the create call or, if the payout FAILED, from the service. OTHER if it is missing in both or unknown to this gateway.',
})(PayoutResource.prototype, 'method');

export const Payment = createUnionType({
  name: 'Payment',
  description: 'A payment, by its method. Every member implements PaymentResource.',
  types: () => paymentMethods.map(({ paymentClass }) => paymentClass),
});

export const Payout = createUnionType({
  name: 'Payout',
  description: 'A payout, by its method. Every member implements PayoutResource.',
  types: () => payoutMethods.map(({ payoutClass }) => payoutClass),
});

function addOneOfField(
  { prototype }: new () => OneOfInput,
  inputField: string,
  { inputType, description }: { inputType: object; description: string },
): void {
  NullableField(description, () => inputType)(prototype, inputField);
  IsOptional()(prototype, inputField);
  if (typeof inputType !== 'function') return;
  ValidateNested()(prototype, inputField);
  HasAnyField()(prototype, inputField);
}

abstract class OneOfInput {
  [field: string]: object | string | null | undefined;
}

@InputType({
  description:
    'Exactly one field, which selects the method. redirect: only the type of the method is sent, and the payer pays on the hosted page. Each other field contains the data of its method.',
})
export class PaymentMethodInput extends OneOfInput {}

addOneOfField(PaymentMethodInput, 'redirect', {
  inputType: RedirectPaymentMethod,
  description: 'Only the type of the method is sent; the payer pays on the hosted page.',
});
for (const { inputField, input } of paymentMethods)
  if (input) addOneOfField(PaymentMethodInput, inputField, input);

@InputType({ description: 'Exactly one field: the one that nextAction.confirmWith names.' })
export class ConfirmationInput extends OneOfInput {}

const confirmationEntries = paymentMethods.flatMap(({ inputField, confirmation }) =>
  confirmation ? [[inputField, confirmation] as const] : [],
);
confirmationEntries.forEach(([field, confirmation]) => addOneOfField(ConfirmationInput, field, confirmation));

export const ConfirmationField = registerEnum(
  'ConfirmationField',
  'The names of the fields of ConfirmationInput.',
  Object.fromEntries(confirmationEntries.map(([field, { description }]) => [field, description])),
);

for (const actionClass of [ProvideUtrAction, ProvideCodeAction, ConfirmTransferAction])
  Field(() => ConfirmationField, {
    description: 'The field of ConfirmationInput to fill in for confirmPayment.',
  })(actionClass.prototype, 'confirmWith');

@InputType({
  description:
    'Exactly one field: the payout method with its fields, or typeOnly for a method without fields.',
})
export class PayoutMethodInput extends OneOfInput {}

for (const { inputField, input } of payoutMethods)
  if (input) addOneOfField(PayoutMethodInput, inputField, input);
addOneOfField(PayoutMethodInput, 'typeOnly', {
  inputType: TypeOnlyPayoutMethod,
  description: 'A payout method that needs only its type.',
});

/** Names of the @oneOf inputs. build-schema.ts sets `isOneOf` on them, because type-graphql cannot. */
export const ONE_OF_INPUT_NAMES = ['PaymentMethodInput', 'ConfirmationInput', 'PayoutMethodInput'];

/** Returns name and value of the only field that is set in a @oneOf input. Throws an Error if no field is set. */
export function selectedField(oneOfInput: OneOfInput): { inputField: string; value: object | string } {
  for (const [inputField, value] of Object.entries(oneOfInput)) if (value) return { inputField, value };
  throw new Error(
    'Bug in the gateway: a @oneOf input has no field, although graphql-js should have rejected it.',
  );
}
