/**
 * Values of `extensions.fields[].rule` in BAD_USER_INPUT errors, besides those of input-rules.ts. Do not rename them:
 * clients rely on the names.
 */
export const VALUE_RULE_NAMES = [
  // Rules for values of built-in scalars, enums and input objects
  'required',
  'unknownField',
  'oneOf',
  'object',
  'enum',
  'string',
  'id',
  'int',
  'boolean',
  // Scalars of this schema
  'uuid',
  'decimal',
  'decimalPlaces',
  'positive',
  'currencyCode',
  'timestamp',
  'url',
  'jsonObject',
  'exactNumber',
  'variableOnly',
  // Rules for arguments of queries and subscriptions
  'atLeastOne',
  'maxItems',
  'range',
  'cursor',
  'nodeId',
  'entityType',
] as const;

export type ValueRuleName = (typeof VALUE_RULE_NAMES)[number];

/** An item of `extensions.fields`: the path of an invalid value and the rule that it violates. */
export interface InvalidValue {
  /**
   * Name of the argument, then names of fields and indexes of lists. Starts with the name of a variable instead, if the
   * value is in a variable that no argument uses, or in the default of a variable. A leading `input` is omitted, unless
   * it is the whole path. Never contains a value.
   */
  path: readonly string[];
  /** Name of the rule: one of VALUE_RULE_NAMES or INPUT_RULE_NAMES (input-rules.ts). */
  rule: string;
}
