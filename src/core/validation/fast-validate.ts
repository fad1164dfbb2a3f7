import { getMetadataStorage, ValidationTypes, type ValidationArguments } from 'class-validator';

type ValidationMetadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

/** The class-validator rules of one field of an input, ready to be run. */
interface FieldRules {
  name: string;
  /** Where one of them says no, as for a missing optional field, the field is not looked at. */
  conditions: readonly ((input: object, value: unknown) => boolean)[];
  tests: readonly ((value: unknown, args: ValidationArguments) => unknown)[];
  isNested: boolean;
}

const PLAIN_TYPES: readonly string[] = [
  ValidationTypes.CUSTOM_VALIDATION,
  ValidationTypes.NESTED_VALIDATION,
  ValidationTypes.CONDITIONAL_VALIDATION,
];

/** Gathered once per class; null where a rule is of a kind that is not run here. */
const gathered = new WeakMap<object, readonly FieldRules[] | null>();

function rulesOf(inputClass: NewableFunction): readonly FieldRules[] | null {
  const known = gathered.get(inputClass);
  if (known !== undefined) return known;
  const storage = getMetadataStorage();
  const all = storage.getTargetValidationMetadatas(inputClass, '', false, false);
  const isPlain = all.every(
    ({ type, each, validateIf }) => PLAIN_TYPES.includes(type) && !each && !validateIf,
  );
  const fields = Object.entries(storage.groupByPropertyName(all));
  const rules = all.length > 0 && isPlain ? fields.map(fieldRules) : null;
  gathered.set(inputClass, rules);
  return rules;
}

function fieldRules([name, metadatas]: [string, ValidationMetadata[]]): FieldRules {
  const of = (type: string): ValidationMetadata[] => metadatas.filter((metadata) => metadata.type === type);
  const tests = of(ValidationTypes.CUSTOM_VALIDATION)
    .flatMap(({ constraintCls }) => getMetadataStorage().getTargetValidatorConstraints(constraintCls))
    .map(({ instance }): FieldRules['tests'][number] => instance.validate.bind(instance));
  return {
    name,
    conditions: of(ValidationTypes.CONDITIONAL_VALIDATION).flatMap(
      ({ constraints }) => constraints as FieldRules['conditions'],
    ),
    tests,
    isNested: of(ValidationTypes.NESTED_VALIDATION).length > 0,
  };
}

/**
 * Whether an input certainly breaks no rule, found out with less work than class-validator needs to say so. Where it is
 * not certain the answer is no, and class-validator has to be asked.
 */
export function passesValidation(input: unknown): boolean {
  if (!(input instanceof Object)) return false;
  const rules = rulesOf(input.constructor);
  if (!rules) return false;
  for (const field of rules) if (!keepsFieldRules(input, field)) return false;
  return true;
}

function keepsFieldRules(input: object, { name, conditions, tests, isNested }: FieldRules): boolean {
  const value: unknown = Reflect.get(input, name);
  for (const mustBeChecked of conditions) if (!mustBeChecked(input, value)) return true;
  if (tests.length > 0) {
    const args = {
      targetName: input.constructor.name,
      property: name,
      object: input,
      value,
      constraints: NONE,
    };
    for (const test of tests) if (test(value, args) !== true) return false;
  }
  return !isNested || value === undefined || passesValidation(value);
}

const NONE: unknown[] = [];
