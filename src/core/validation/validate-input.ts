import { validateSync, type ValidationError } from 'class-validator';
import type { InputRule } from '../../schema/input-rules';
import { payoutRoomOf } from '../../schema/methods';
import type { SelectedMethod } from '../../schema/methods/selected-method';
import type { PaymentMethodDefinition, PayoutMethodDefinition } from '../../schema/methods/method-definition';
import { FieldError } from '../../schema/user-errors';
import { passesValidation } from './fast-validate';

/** One mistake. */
export const fieldError = (path: string[], rule: InputRule, message: string): FieldError =>
  Object.assign(new FieldError(), { path, rule, message });

function flatten(errors: readonly ValidationError[], path: readonly string[]): FieldError[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const here = [...path, property];
    // class-validator knows the rules by the names that they were declared with.
    const broken = Object.entries(constraints) as [InputRule, string][];
    const own = broken.map(([rule, message]) => fieldError(here, rule, message));
    return [...own, ...flatten(children, here)];
  });
}

/** The class-validator rules that an input breaks, each with its path; values are never part of them. */
export function validateInput(input: object): FieldError[] {
  if (passesValidation(input)) return [];
  const errors = validateSync(input, {
    forbidUnknownValues: true,
    skipMissingProperties: false,
    validationError: { target: false, value: false },
  });
  return flatten(errors, []);
}

/** What the chosen method asks of the whole request (spec section 8). */
export function validateMethod(
  { room, arm, type }: SelectedMethod<PaymentMethodDefinition | PayoutMethodDefinition>,
  amount: { currency: string },
): FieldError[] {
  const faults: FieldError[] = [];
  if (room.currency && room.currency !== amount.currency) {
    const says = `must be ${room.currency}: the only currency of this method.`;
    faults.push(fieldError(['amount', 'currency'], 'currencyOfMethod', says));
  }
  if (type !== room.type && payoutRoomOf(type) !== room) {
    faults.push(
      fieldError(['method', arm, 'type'], 'knownMethod', 'must not be a method that has an arm of its own.'),
    );
  }
  return faults;
}
