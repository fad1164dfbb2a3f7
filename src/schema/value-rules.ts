/**
 * Every `extensions.fields[].rule` of BAD_USER_INPUT: rules of GraphQL types and of arguments of queries. Stable. The rules
 * of inputs are in input-rules.ts.
 */
export const VALUE_RULES = [
  // Any type
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
  // Arguments of queries
  'atLeastOne',
  'maxItems',
  'range',
  'cursor',
  'nodeId',
  'entityType',
] as const;

export type ValueRule = (typeof VALUE_RULES)[number];

/** A value that violates a rule. */
export interface InvalidValue {
  /** From the input object, or from the argument, to the value. Never contains a value. */
  path: readonly string[];
  rule: string;
}
