/**
 * Names of the rules that a GraphQL type or a query's arguments enforce before anything is sent: `extensions.fields[].rule`
 * of BAD_USER_INPUT. Rules of inputs that fit their types are class-validator rules (rules.ts). Stable.
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

/** The name of a rule that a value breaks. */
export type ValueRule = (typeof VALUE_RULES)[number];

/** One value that breaks a rule. */
export interface ValueFault {
  /** From the input object down, or from the argument where there is no input object. Never holds a value. */
  path: readonly string[];
  rule: string;
}
