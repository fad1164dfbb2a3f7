import {
  getArgumentValues,
  isNonNullType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { fragmentsOf } from '../limits/selection-size';
import { Fallback, Selections, type Read } from './selection';

type Variables = Record<string, unknown>;

/** A compiled operation with one root field at most. */
export interface CompiledOperation {
  /** Calls the resolver of the root field. Throws a Fallback before that. */
  start(context: OperationContext, variables: Variables): unknown;
  /** Selects the response data from the resolved value. Throws a Fallback when graphql-js has to do it. */
  read(value: unknown): Record<string, unknown>;
}

interface Root {
  start: CompiledOperation['start'];
  read: Read;
}

/** No resolver of this gateway uses GraphQLResolveInfo; one that did would throw, and graphql-js would execute the operation. */
const NO_INFO = undefined as never;

type ReadArgs = (variables: Variables) => Record<string, unknown>;

/** Reads arguments as graphql-js does; faster when all of them are variables. */
function argsOf(field: GraphQLField<unknown, unknown>, node: FieldNode): ReadArgs {
  const given = new Map(node.arguments?.map(({ name, value }) => [name.value, value]));
  const args = field.args.map(({ name, type, defaultValue }) => {
    const value = given.get(name);
    if (defaultValue !== undefined || (value && value.kind !== Kind.VARIABLE)) return null;
    return { name, isRequired: isNonNullType(type), variable: value?.name.value };
  });
  const plain = args.filter((arg) => arg !== null);
  if (plain.length < args.length) return (variables) => getArgumentValues(field, node, variables);
  return (variables) => {
    const values: Record<string, unknown> = {};
    for (const { name, isRequired, variable } of plain) {
      const isGiven = variable !== undefined && Object.hasOwn(variables, variable);
      if (isRequired && (!isGiven || variables[variable] === null)) throw Fallback.TAKEN;
      if (isGiven) values[name] = variables[variable];
    }
    return values;
  };
}

function rootOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Root['start'] {
  const { resolve } = field;
  if (!resolve) throw Fallback.TAKEN;
  const read = argsOf(field, node);
  return (context, variables) => resolve(undefined, read(variables), context, NO_INFO);
}

/**
 * Compiles an operation. Null when graphql-js has to execute it: with introspection, several root fields (whose errors have an
 * order), directives, or a very large selection.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledOperation | null {
  try {
    return compile(schema, document, operation);
  } catch (error) {
    if (error instanceof Fallback) return null;
    throw error;
  }
}

function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, directives, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
): CompiledOperation {
  const type = operation === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  const isPlain = variableDefinitions.every((variable) => !variable.directives?.length);
  if (operation === 'subscription' || !type || directives?.length || !isPlain) throw Fallback.TAKEN;
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.directives?.length) throw Fallback.TAKEN;
  const selections = new Selections(schema, fragmentsOf(document));
  const fields = type.getFields();
  const selected = selections.fieldsOf(type, [selectionSet]);
  const keys = [...selected.keys()];
  const isName = (key: string): boolean => selected.get(key)?.[0]?.name.value === '__typename';
  const [key, ...others] = keys.filter((each) => !isName(each));
  if (others.length > 0) throw Fallback.TAKEN;
  const root = key === undefined ? null : rootOfNodes(key);
  return {
    start: (context, variables) => root?.start(context, variables),
    read: (value) => {
      const read = root?.read(value);
      const data: Record<string, unknown> = {};
      for (const each of keys) data[each] = each === key ? read : type.name;
      return data;
    },
  };

  function rootOfNodes(of: string): Root {
    const nodes = selected.get(of) ?? [];
    const [node] = nodes;
    const field = node && fields[node.name.value];
    if (!field) throw Fallback.TAKEN;
    return { start: rootOf(field, node), read: selections.reader(field.type, nodes) };
  }
}
