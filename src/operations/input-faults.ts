import { validateSync, type ValidationError } from 'class-validator';
import type { InputRule } from '../schema/input-rules';
import { payoutRoomOf } from '../schema/methods';
import type { Chosen } from '../schema/methods/chosen';
import type { PaymentRoom, PayoutRoom } from '../schema/methods/room';
import { FieldError } from '../schema/user-errors';
import { keepsRules } from './keeps-rules';

/** One mistake. */
export const fieldFault = (path: string[], rule: InputRule, message: string): FieldError =>
  Object.assign(new FieldError(), { path, rule, message });

function flatten(errors: readonly ValidationError[], path: readonly string[]): FieldError[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const here = [...path, property];
    // class-validator knows the rules by the names that they were declared with.
    const broken = Object.entries(constraints) as [InputRule, string][];
    const own = broken.map(([rule, message]) => fieldFault(here, rule, message));
    return [...own, ...flatten(children, here)];
  });
}

/** The class-validator rules that an input breaks, each with its path; values are never part of them. */
export function inputFaults(input: object): FieldError[] {
  if (keepsRules(input)) return [];
  const errors = validateSync(input, {
    forbidUnknownValues: true,
    skipMissingProperties: false,
    validationError: { target: false, value: false },
  });
  return flatten(errors, []);
}

/** What the chosen method asks of the whole request (spec section 8). */
export function methodFaults(
  { room, arm, type }: Chosen<PaymentRoom | PayoutRoom>,
  amount: { currency: string },
): FieldError[] {
  const faults: FieldError[] = [];
  if (room.currency && room.currency !== amount.currency) {
    const says = `must be ${room.currency}: the only currency of this method.`;
    faults.push(fieldFault(['amount', 'currency'], 'currencyOfMethod', says));
  }
  if (type !== room.type && payoutRoomOf(type) !== room) {
    faults.push(
      fieldFault(['method', arm, 'type'], 'knownMethod', 'must not be a method that has an arm of its own.'),
    );
  }
  return faults;
}
