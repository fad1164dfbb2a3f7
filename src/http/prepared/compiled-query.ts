import {
  getArgumentValues,
  isNonNullType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type GraphQLField,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { fragmentsOf } from '../document-sizes';
import { Detour, Selections, type Read } from './selection';

type Variables = Record<string, unknown>;

/** Carries a query out, and answers its data. Throws where something is wrong, and a Detour where it cannot do it. */
export type CompiledQuery = (
  context: OperationContext,
  variables: Variables,
) => Promise<Record<string, unknown>>;

interface Root {
  start(context: OperationContext, variables: Variables): unknown;
  read: Read;
}

/** No resolver of this gateway asks what GraphQL knows of the field; one that did would take the detour. */
const NO_INFO = undefined as unknown as GraphQLResolveInfo;

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
      if (isRequired && (!isGiven || variables[variable] === null)) throw Detour.TAKEN;
      if (isGiven) values[name] = variables[variable];
    }
    return values;
  };
}

function rootOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Root['start'] {
  const { resolve } = field;
  if (!resolve) throw Detour.TAKEN;
  const read = argsOf(field, node);
  return (context, variables) => resolve(undefined, read(variables), context, NO_INFO);
}

/** The value of a root field, whole: what it promises, and what the items of a list promise, has arrived. */
async function arrived(value: unknown): Promise<unknown> {
  const whole: unknown = await value;
  return Array.isArray(whole) ? Promise.all(whole) : whole;
}

/**
 * Looks everything about a query up in the schema once. Null for what graphql-js has to carry out: mutations,
 * introspection, several root fields (which of them fail, and in which order, is told by it), and selections that a
 * directive decides on or that are very large.
 */
export function compileQuery(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): CompiledQuery | null {
  try {
    return compile(schema, document, operation);
  } catch (error) {
    if (error instanceof Detour) return null;
    throw error;
  }
}

function compile(
  schema: GraphQLSchema,
  document: DocumentNode,
  { operation, directives, selectionSet, variableDefinitions = [] }: OperationDefinitionNode,
): CompiledQuery {
  const type = schema.getQueryType();
  const isPlain = variableDefinitions.every((variable) => !variable.directives?.length);
  if (operation !== 'query' || !type || directives?.length || !isPlain) throw Detour.TAKEN;
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.directives?.length) throw Detour.TAKEN;
  const selections = new Selections(schema, fragmentsOf(document));
  const fields = type.getFields();
  const answered = selections.fieldsOf(type, [selectionSet]);
  const keys = [...answered.keys()];
  const isName = (key: string): boolean => answered.get(key)?.[0]?.name.value === '__typename';
  const [key, ...others] = keys.filter((each) => !isName(each));
  if (others.length > 0) throw Detour.TAKEN;
  const root = key === undefined ? null : rootOfNodes(key);
  return async (context, variables) => {
    const value = root && root.read(await arrived(root.start(context, variables)));
    const data: Record<string, unknown> = {};
    for (const each of keys) data[each] = each === key ? value : type.name;
    return data;
  };

  function rootOfNodes(of: string): Root {
    const nodes = answered.get(of) ?? [];
    const [node] = nodes;
    const field = node && fields[node.name.value];
    if (!field) throw Detour.TAKEN;
    return { start: rootOf(field, node), read: selections.reader(field.type, nodes) };
  }
}
