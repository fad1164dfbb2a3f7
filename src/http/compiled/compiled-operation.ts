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

/** An operation with one root field at most, whose selection has been looked up. */
export interface CompiledOperation {
  /** Begins to carry it out; what it returns is, or promises, what the root field comes to. Throws a Detour before that. */
  start(context: OperationContext, variables: Variables): unknown;
  /** The data of it. Throws a Detour where graphql-js has to read what the root field came to. */
  read(value: unknown): Record<string, unknown>;
}

interface Root {
  start: CompiledOperation['start'];
  read: Read;
}

/** No resolver of this gateway asks what GraphQL knows of the field; one that did would take the detour. */
const NO_INFO = undefined as never;

type ReadArgs = (variables: Variables) => Record<string, unknown>;

/** A field's arguments as graphql-js has them; quicker where each of them is a variable, as it mostly is. */
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
 * Looks everything about an operation up in the schema once. Null for what graphql-js has to carry out: introspection,
 * several root fields (which of them fail, and in which order, is told by it), and selections that a directive decides on
 * or that are very large.
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
  const answered = selections.fieldsOf(type, [selectionSet]);
  const keys = [...answered.keys()];
  const isName = (key: string): boolean => answered.get(key)?.[0]?.name.value === '__typename';
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
    const nodes = answered.get(of) ?? [];
    const [node] = nodes;
    const field = node && fields[node.name.value];
    if (!field) throw Fallback.TAKEN;
    return { start: rootOf(field, node), read: selections.reader(field.type, nodes) };
  }
}
