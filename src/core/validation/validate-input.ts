import { validateSync, type ValidationError } from 'class-validator';
import type { InputRuleName } from '../../schema/input-rules';
import { FieldError } from '../../schema/user-errors';

export const fieldError = (path: string[], rule: InputRuleName, message: string): FieldError =>
  Object.assign(new FieldError(), { path, rule, message });

function toFieldErrors(errors: readonly ValidationError[], parentPath: readonly string[]): FieldError[] {
  return errors.flatMap(({ property, constraints = {}, children = [] }) => {
    const path = [...parentPath, property];
    // src/schema/rules.ts registers every class-validator constraint under the name of its rule.
    const brokenRules = Object.entries(constraints) as [InputRuleName, string][];
    const ownErrors = brokenRules.map(([rule, message]) => fieldError(path, rule, message));
    return [...ownErrors, ...toFieldErrors(children, path)];
  });
}

/** Returns an error for every class-validator rule that an input breaks. Errors never contain values of the input. */
export const validateInput = (input: object): FieldError[] =>
  toFieldErrors(
    validateSync(input, {
      forbidUnknownValues: true,
      validationError: { target: false, value: false },
    }),
    [],
  );
