import {
  getArgumentValues,
  getNullableType,
  isListType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { ATTEMPTS_PAGE } from '../../schema/attempt';
import { DocumentSizes, fragmentsOf } from './selection-size';

/** What carrying an operation out asks of the service: lookups, and calls that move money. */
export interface OperationCost {
  lookups: number;
  moneyCalls: number;
  /** How many values the answer can have at most: selections, for each transaction that is looked up. */
  values: number;
}

/** Root fields that look nothing up, or change nothing. */
const ROOTLESS = /^__/;

/** The fields of the root type, out of all fragments: bounded, as the document's limits were checked before. */
function* rootFields(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Generator<FieldNode> {
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) yield selection;
    else if (selection.kind === Kind.INLINE_FRAGMENT) yield* rootFields(selection.selectionSet, fragments);
    else {
      const fragment = fragments.get(selection.name.value);
      if (fragment) yield* rootFields(fragment.selectionSet, fragments);
    }
  }
}

type Count = (variables: Record<string, unknown>) => number;

const one: Count = () => 1;

const holdsList = ({ type }: GraphQLArgument): boolean => isListType(getNullableType(type));

/** The fields of an attempt that look a transaction up. */
const LOOKED_UP: ReadonlySet<string> = new Set(['payment', 'payout']);

/** Whether a selection set, with its fragments, selects a transaction of an attempt. Visits every fragment once. */
function selectsTransaction(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  visited = new Set<string>(),
): boolean {
  return selections.some((selection) => {
    if (selection.kind !== Kind.FRAGMENT_SPREAD) {
      if (selection.kind === Kind.FIELD && LOOKED_UP.has(selection.name.value)) return true;
      return selection.selectionSet ? selectsTransaction(selection.selectionSet, fragments, visited) : false;
    }
    const name = selection.name.value;
    const fragment = visited.has(name) ? undefined : fragments.get(name);
    visited.add(name);
    return fragment ? selectsTransaction(fragment.selectionSet, fragments, visited) : false;
  });
}

/** The lookups of a page of attempts whose transactions are selected: one for each attempt it can hold. */
function lookupsOfPage(field: FieldNode, definition: GraphQLField<unknown, unknown>): Count {
  return (variables) => {
    try {
      const { first } = getArgumentValues(definition, field, variables);
      const size = typeof first === 'number' ? first : ATTEMPTS_PAGE.default;
      return Math.min(Math.max(size, 1), ATTEMPTS_PAGE.max);
    } catch {
      // Arguments that do not fit are refused when the field is resolved: it looks nothing up.
      return 1;
    }
  };
}

/** How many transactions a root field looks up: one, or as many as its lists of ids name. */
function lookupsOf(
  field: FieldNode,
  root: GraphQLObjectType,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Count {
  const definition = root.getFields()[field.name.value];
  if (
    definition?.name === 'attempts' &&
    field.selectionSet &&
    selectsTransaction(field.selectionSet, fragments)
  )
    return lookupsOfPage(field, definition);
  if (!definition?.args.some(holdsList)) return definition ? one : () => 0;
  return (variables) => {
    try {
      const lists = Object.values(getArgumentValues(definition, field, variables)).filter(Array.isArray);
      return lists.reduce((sum, list) => sum + list.length, lists.length === 0 ? 1 : 0);
    } catch {
      // Arguments that do not fit are refused when the field is resolved: it looks nothing up.
      return 1;
    }
  };
}

/** Counts before anything is carried out, from the variables as the operation has them: defaults are values too. */
export type CostOf = (variables: Record<string, unknown>) => OperationCost;

/** Prepares counting what an operation costs. The document must be valid. */
export function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CostOf {
  const root = schema.getRootType(operation.operation);
  const fragments = fragmentsOf(document);
  const fields = [...rootFields(operation.selectionSet, fragments)].filter(
    ({ name }) => !ROOTLESS.test(name.value),
  );
  if (operation.operation === 'mutation' || !root) return () => ({ ...NOTHING, moneyCalls: fields.length });
  const sizes = new DocumentSizes(fragments);
  const counted = fields.map((field) => ({
    lookupsOf: lookupsOf(field, root, fragments),
    selections: field.selectionSet ? sizes.of(field.selectionSet).selections : 1,
  }));
  return (variables) => {
    const cost = { ...NOTHING };
    for (const { lookupsOf, selections } of counted) {
      const lookups = lookupsOf(variables);
      cost.lookups += lookups;
      cost.values += lookups * selections;
    }
    return cost;
  };
}

const NOTHING: OperationCost = { lookups: 0, moneyCalls: 0, values: 0 };
