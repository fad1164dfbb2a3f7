import { ValidateBy, ValidateNested } from 'class-validator';
import { Field, InputType, createUnionType, registerEnumType } from 'type-graphql';
import type { InputRule } from '../input-rules';
import { ConfirmTransferAction, ProvideCodeAction, ProvideUtrAction } from '../next-action';
import { PaymentResource } from '../payment';
import { PayoutResource } from '../payout';
import { Optional, someGiven } from '../rules';
import { paymentRooms, payoutRooms } from './index';
import type { InputClass, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';

/**
 * The parts of the schema that list the methods: enums, unions and @oneOf inputs. All of them are read from the
 * registry, so that a new room appears in every one.
 */

interface EnumWord {
  name: string;
  description: string;
}

function enumOf(name: string, description: string, words: readonly EnumWord[]): Record<string, string> {
  const values = Object.fromEntries(words.map((word) => [word.name, word.name]));
  const valuesConfig = Object.fromEntries(
    words.map((word) => [word.name, { description: word.description }]),
  );
  registerEnumType(values, { name, description, valuesConfig });
  return values;
}

export const PaymentMethod = enumOf('PaymentMethod', 'How a payment is made (spec 2.5).', paymentRooms);
export const PayoutMethod = enumOf('PayoutMethod', 'How a payout is sent (spec 2.8).', payoutRooms);

Field(() => PaymentMethod, { description: 'How the payment is made; OTHER for a method not known here.' })(
  PaymentResource.prototype,
  'method',
);
Field(() => PayoutMethod, {
  description:
    'How the payout is sent. The service says it for failed payouts only: OTHER where neither it nor this gateway knows.',
})(PayoutResource.prototype, 'method');

const withWord = <R extends PaymentMethodDefinition | PayoutMethodDefinition>(
  rooms: readonly R[],
  describe: (room: R) => string | undefined,
): EnumWord[] =>
  rooms.flatMap((room) => {
    const description = describe(room);
    return description ? [{ name: room.name, description }] : [];
  });

export const RedirectPaymentMethod = enumOf(
  'RedirectPaymentMethod',
  'Methods that need nothing but their type: the payer finishes on the hosted page.',
  withWord(paymentRooms, ({ redirect }) => redirect),
);

export const TypeOnlyPayoutMethod = enumOf(
  'TypeOnlyPayoutMethod',
  'Methods that need nothing but their type.',
  withWord(payoutRooms, ({ typeOnly }) => typeOnly),
);

export const Payment = createUnionType({
  name: 'Payment',
  description: 'A payment, by its method. Every member implements PaymentResource.',
  types: () => paymentRooms.map(({ payment }) => payment),
});

export const Payout = createUnionType({
  name: 'Payout',
  description: 'A payout, by its method. Every member implements PayoutResource.',
  types: () => payoutRooms.map(({ payout }) => payout),
});

/** Adds one arm to a @oneOf input: a nested input, or an enum. */
function addArm(
  oneOf: InputClass,
  { arm, input, description }: { arm: string; input: InputClass | object; description: string },
): void {
  Field(() => input, { nullable: true, description })(oneOf.prototype, arm);
  Optional()(oneOf.prototype, arm);
  if (typeof input !== 'function') return;
  ValidateNested()(oneOf.prototype, arm);
  ValidateBy({
    name: 'notEmpty' satisfies InputRule,
    validator: {
      validate: (given: unknown) => typeof given === 'object' && given !== null && someGiven(given),
      defaultMessage: () => 'must have at least one field; the arm redirect sends the type alone.',
    },
  })(oneOf.prototype, arm);
}

@InputType({
  description:
    'Exactly one. redirect: only the type is sent and the payer finishes on the hosted page. Any other: the fields of that method.',
})
export class PaymentMethodInput {
  [arm: string]: object | string | null | undefined;
}

addArm(PaymentMethodInput, {
  arm: 'redirect',
  input: RedirectPaymentMethod,
  description: 'Only the type is sent; the payer finishes on the hosted page.',
});
paymentRooms.forEach(({ input }) => input && addArm(PaymentMethodInput, input));

@InputType({ description: "Exactly one, that of the payment's method: nextAction.confirmWith names it." })
export class ConfirmationInput {
  [arm: string]: object | string | null | undefined;
}

const confirmations = paymentRooms.flatMap(({ confirmation }) => confirmation ?? []);
confirmations.forEach((confirmation) => addArm(ConfirmationInput, confirmation));

export const ConfirmationField = enumOf(
  'ConfirmationField',
  'The fields of ConfirmationInput, spelled as they are there.',
  confirmations.map(({ arm, description }) => ({ name: arm, description })),
);

for (const action of [ProvideUtrAction, ProvideCodeAction, ConfirmTransferAction])
  Field(() => ConfirmationField, {
    description: 'The field of ConfirmationInput to fill in for confirmPayment.',
  })(action.prototype, 'confirmWith');

@InputType({ description: 'Exactly one: the fields of that method.' })
export class PayoutMethodInput {
  [arm: string]: object | string | null | undefined;
}

payoutRooms.forEach(({ input }) => input && addArm(PayoutMethodInput, input));
addArm(PayoutMethodInput, {
  arm: 'typeOnly',
  input: TypeOnlyPayoutMethod,
  description: 'A method that needs nothing but its type.',
});

/** The inputs of which exactly one field must be given. type-graphql cannot say so: build-schema does. */
export const ONE_OF_INPUTS = ['PaymentMethodInput', 'ConfirmationInput', 'PayoutMethodInput'];

/** The one arm that was given, and what was given with it. */
export function givenArm(oneOf: Record<string, object | string | null | undefined>): {
  arm: string;
  given: object | string;
} {
  for (const [arm, given] of Object.entries(oneOf)) if (given) return { arm, given };
  throw new Error('A @oneOf input came without a field: the schema lets none through.');
}
