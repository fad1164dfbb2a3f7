import {
  getArgumentValues,
  getNullableType,
  isListType,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { ATTEMPTS_PAGE } from '../../schema/attempt';
import { fragmentsOf, fieldsIn, SelectionSizes, type Fragments } from './selection-size';

export interface OperationCost {
  /** Number of transactions to look up. */
  lookups: number;
  /** Number of mutations; every mutation moves money. */
  moneyCalls: number;
  /** Upper bound of the number of values in the response: selections times lookups. */
  values: number;
}

type CountLookups = (variables: Record<string, unknown>) => number;

/** The fields of an attempt that look a transaction up. */
const TRANSACTION_FIELDS: ReadonlySet<string> = new Set(['payment', 'payout']);

const selectsTransaction = (set: SelectionSetNode, fragments: Fragments): boolean =>
  [...fieldsIn(set, fragments, new Set(), true)].some(({ name }) => TRANSACTION_FIELDS.has(name.value));

/** Returns a function that counts the lookups of a root field: one, one per id in a list, or one per attempt. */
function lookupCounter(field: FieldNode, root: GraphQLObjectType, fragments: Fragments): CountLookups {
  const definition = root.getFields()[field.name.value];
  if (!definition) return () => 0;
  const isPage =
    definition.name === 'attempts' &&
    !!field.selectionSet &&
    selectsTransaction(field.selectionSet, fragments);
  const hasList = definition.args.some(({ type }) => isListType(getNullableType(type)));
  if (!isPage && !hasList) return () => 1;
  return (variables) => {
    try {
      const values = getArgumentValues(definition, field, variables);
      if (isPage) return attemptsPageSize(values['first']);
      const lists = Object.values(values).filter(Array.isArray);
      return lists.length === 0 ? 1 : lists.reduce((sum, list) => sum + list.length, 0);
    } catch {
      // Invalid arguments are rejected when the field is resolved, before any lookup.
      return 1;
    }
  };
}

const attemptsPageSize = (first: unknown): number =>
  Math.min(Math.max(typeof first === 'number' ? first : ATTEMPTS_PAGE.default, 1), ATTEMPTS_PAGE.max);

/** Computes the cost of an operation from its coerced variables, defaults included. */
export type CostOf = (variables: Record<string, unknown>) => OperationCost;

/** Returns a function that computes the cost of an operation. The document must be valid. */
export function costCalculator(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CostOf {
  const root = schema.getRootType(operation.operation);
  const fragments = fragmentsOf(document);
  const fields = [...fieldsIn(operation.selectionSet, fragments)].filter(
    ({ name }) => !name.value.startsWith('__'),
  );
  if (operation.operation === 'mutation' || !root)
    return () => ({ lookups: 0, moneyCalls: fields.length, values: 0 });
  const sizes = new SelectionSizes(fragments);
  const counts = fields.map((field) => ({
    lookups: lookupCounter(field, root, fragments),
    selections: field.selectionSet ? sizes.of(field.selectionSet).selections : 1,
  }));
  return (variables) => {
    const cost = { lookups: 0, moneyCalls: 0, values: 0 };
    for (const { lookups: lookupsFor, selections } of counts) {
      const lookups = lookupsFor(variables);
      cost.lookups += lookups;
      cost.values += lookups * selections;
    }
    return cost;
  };
}
