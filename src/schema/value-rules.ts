/**
 * Values of `extensions.fields[].rule` in BAD_USER_INPUT errors, besides those of input-rules.ts. Do not rename them:
 * clients rely on the names.
 */
export const VALUE_RULES = [
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

export type ValueRule = (typeof VALUE_RULES)[number];

/** An item of `extensions.fields`: the path of an invalid value and the rule that it violates. */
export interface InvalidValue {
  /**
   * Name of the argument (of the variable, if no argument uses the variable or its default is invalid), then names of
   * fields and indexes of lists. A leading `input` is omitted, unless it is the whole path. Never contains a value.
   */
  path: readonly string[];
  /** Name of the rule: one of VALUE_RULES, or of the rules of an input field. */
  rule: string;
}
