import {
  getArgumentValues,
  getNullableType,
  isListType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLArgument,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { DocumentSizes, fragmentsOf } from './document-sizes';

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

/** How many transactions a root field looks up: one, or as many as its lists of ids name. */
function lookupsOf(field: FieldNode, root: GraphQLObjectType): Count {
  const definition = root.getFields()[field.name.value];
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
    lookupsOf: lookupsOf(field, root),
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
