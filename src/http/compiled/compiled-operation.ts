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
import { Fallback, SelectionCompiler, type ValueReader } from './selection';

type Variables = Record<string, unknown>;

/** A compiled query or mutation. It has at most one root field besides `__typename`. */
export interface CompiledOperation {
  /** Calls the resolver of the root field, if there is one. Throws before the call if an argument is invalid. */
  callResolver(context: OperationContext, variables: Variables): unknown;
  /** Selects the response data from the resolved value. Throws a Fallback if graphql-js has to do it. */
  read(value: unknown): Record<string, unknown>;
}

interface RootField {
  callResolver: CompiledOperation['callResolver'];
  read: ValueReader;
}

/** Passed as GraphQLResolveInfo, which no resolver of this gateway uses. */
const NO_INFO = undefined as never;

type ArgsReader = (variables: Variables) => Record<string, unknown>;

/** Returns a function that reads arguments like graphql-js, but faster if all are variables and none has a default. */
function argsReader(field: GraphQLField<unknown, unknown>, node: FieldNode): ArgsReader {
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
      if (isRequired && (!isGiven || variables[variable] === null)) throw Fallback.INSTANCE;
      if (isGiven) values[name] = variables[variable];
    }
    return values;
  };
}

function resolverCaller(field: GraphQLField<unknown, unknown>, node: FieldNode): RootField['callResolver'] {
  const { resolve } = field;
  if (!resolve) throw Fallback.INSTANCE;
  const read = argsReader(field, node);
  return (context, variables) => resolve(undefined, read(variables), context, NO_INFO);
}

/**
 * Compiles an operation. Returns null if graphql-js has to execute it, because it has introspection, several root
 * fields (whose errors have an order), directives or a very large selection.
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
  if (operation === 'subscription' || !type || directives?.length || !isPlain) throw Fallback.INSTANCE;
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.directives?.length)
      throw Fallback.INSTANCE;
  const selections = new SelectionCompiler(schema, fragmentsOf(document));
  const fields = type.getFields();
  const selected = selections.fieldsOf(type, [selectionSet]);
  const keys = [...selected.keys()];
  const isTypename = (key: string): boolean => selected.get(key)?.[0]?.name.value === '__typename';
  const [key, ...others] = keys.filter((each) => !isTypename(each));
  if (others.length > 0) throw Fallback.INSTANCE;
  const root = key === undefined ? null : compileRootField(key);
  return {
    callResolver: (context, variables) => root?.callResolver(context, variables),
    read: (value) => {
      const read = root?.read(value);
      const data: Record<string, unknown> = {};
      for (const each of keys) data[each] = each === key ? read : type.name;
      return data;
    },
  };

  function compileRootField(responseName: string): RootField {
    const nodes = selected.get(responseName) ?? [];
    const [node] = nodes;
    const field = node && fields[node.name.value];
    if (!field) throw Fallback.INSTANCE;
    return { callResolver: resolverCaller(field, node), read: selections.reader(field.type, nodes) };
  }
}
