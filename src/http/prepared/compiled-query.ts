import {
  getArgumentValues,
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
  key: string;
  start(context: OperationContext, variables: Variables): unknown;
  read: Read;
}

/** No resolver of this gateway asks what GraphQL knows of the field; one that did would take the detour. */
const NO_INFO = undefined as unknown as GraphQLResolveInfo;

function rootOf(field: GraphQLField<unknown, unknown>, node: FieldNode): Pick<Root, 'start'>['start'] {
  const { resolve } = field;
  if (!resolve) throw Detour.TAKEN;
  return (context, variables) =>
    resolve(undefined, getArgumentValues(field, node, variables), context, NO_INFO);
}

/** A value of a root field, whole: what it promises, and what the items of a list promise, has arrived. */
async function arrived(value: unknown): Promise<unknown> {
  const whole: unknown = await value;
  return Array.isArray(whole) ? Promise.all(whole) : whole;
}

/** Starts all of them; where one fails at once, none after it, as graphql-js would not start all of those either. */
function startAll(
  roots: readonly Root[],
  context: OperationContext,
  variables: Variables,
): Promise<unknown>[] {
  const started: Promise<unknown>[] = [];
  try {
    for (const { start } of roots) started.push(arrived(start(context, variables)));
  } catch (error) {
    // Nobody awaits these any more, and a rejection that nobody awaits ends the process.
    for (const promise of started) promise.catch(() => undefined);
    throw error;
  }
  return started;
}

/**
 * Looks everything about a query up in the schema once. Null for what graphql-js has to carry out: mutations,
 * introspection, and selections that a directive decides on.
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
  const roots = [...selections.fieldsOf(type, [selectionSet])].map(([key, nodes]): Root => {
    const [node] = nodes;
    const name = node?.name.value ?? '';
    if (name === '__typename') return { key, start: () => type.name, read: (value) => value };
    const field = fields[name];
    if (!node || !field) throw Detour.TAKEN;
    return { key, start: rootOf(field, node), read: selections.reader(field.type, nodes) };
  });
  return async (context, variables) => {
    const values = await Promise.all(startAll(roots, context, variables));
    const data = Object.create(null) as Record<string, unknown>;
    roots.forEach(({ key, read }, place) => (data[key] = read(values[place])));
    return data;
  };
}
