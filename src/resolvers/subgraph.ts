import {
  GraphQLError,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isInterfaceType,
  isObjectType,
  type GraphQLFieldConfig,
  type GraphQLFieldConfigMap,
  type GraphQLInterfaceType,
} from 'graphql';
import { SCOPES, isScope } from '../auth/caller';
import type { Node } from '../schema/node';
import { subgraphSdl } from '../schema/subgraph-sdl';
import type { ValueRule } from '../schema/value-rules';
import { badArgument, checkBatch } from './bad-request';
import type { OperationContext } from './context';
import { READ_SCOPES, lookUpNode } from './node-resolver';
import { guardRootField, requiresScope } from './root-fields';

/** What a router knows of an entity: its type, or an interface of it, and its key. */
interface Representation {
  typename: string;
  id: string;
}

const Any = new GraphQLScalarType<Representation, never>({
  name: '_Any',
  description: 'An entity as another subgraph knows it: an object with __typename and id. Input only.',
  parseValue: (value) => {
    const { __typename: typename, id } = { ...(value as Record<string, unknown> | null) };
    if (typeof typename !== 'string') {
      const rule: ValueRule = 'entityType';
      const extensions = { code: 'BAD_USER_INPUT', rule };
      throw new GraphQLError('must be an object with a __typename.', { extensions });
    }
    // Of anything else there is no entity, which is said of this one alone.
    return { typename, id: typeof id === 'string' ? id : '' };
  },
});

/** The names of the object types that fit a __typename, by that name. */
type Entities = ReadonlyMap<string, ReadonlySet<string>>;

/** Whatever has a global id is an entity, interfaces too, as subgraphSdl() says it. */
const withId = (schema: GraphQLSchema): (GraphQLObjectType | GraphQLInterfaceType)[] =>
  Object.values(schema.getTypeMap())
    .filter((type) => isObjectType(type) || isInterfaceType(type))
    .filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'));

function entitiesOf(schema: GraphQLSchema): Entities {
  const typesOf = (type: GraphQLObjectType | GraphQLInterfaceType) =>
    isObjectType(type) ? [type] : schema.getPossibleTypes(type);
  return new Map(
    withId(schema).map((type) => [type.name, new Set(typesOf(type).map(({ name }) => name))] as const),
  );
}

/** What one entity is looked up with. */
interface EntityLookup {
  entities: Entities;
  context: OperationContext;
  /** Where the representation stands in the arguments. */
  path: readonly string[];
}

/** The entity, as node(id) finds it; null where the service does not have it. */
async function entityOf({ typename, id }: Representation, lookup: EntityLookup): Promise<Node | null> {
  const { entities, context, path } = lookup;
  const fitting = entities.get(typename);
  const ofType = [...path, '__typename'];
  if (!fitting) throw badArgument(ofType, 'entityType', '__typename is none of an entity of this subgraph.');
  const found = await lookUpNode(id, context, [...path, 'id']);
  if (found && !fitting.has(found.constructor.name)) {
    throw badArgument(
      ofType,
      'entityType',
      'The entity is of another type than __typename says; PaymentResource and PayoutResource fit every one.',
    );
  }
  return found;
}

type RootFields = GraphQLFieldConfigMap<unknown, OperationContext>;

function serviceField(sdl: string): GraphQLFieldConfig<unknown, OperationContext> {
  const Service = new GraphQLObjectType({
    name: '_Service',
    description: 'What a supergraph is composed of (Apollo Federation).',
    fields: {
      sdl: { type: new GraphQLNonNull(GraphQLString), description: 'The schema of this subgraph.' },
    },
  });
  return {
    type: new GraphQLNonNull(Service),
    description: 'The schema for the registry of a router, also where introspection is off.',
    extensions: requiresScope(...Object.keys(SCOPES).filter(isScope)),
    resolve: () => ({ sdl }),
  };
}

function entitiesField(schema: GraphQLSchema): GraphQLFieldConfig<unknown, OperationContext> {
  const entities = entitiesOf(schema);
  const Entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'Whatever has a global id.',
    types: withId(schema).filter(isObjectType),
    resolveType: ({ constructor }: object) => constructor.name,
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(Entity)),
    description:
      'Up to 100 entities for a router, in the order asked, null where not found; one failing lookup makes one null and one error with its path.',
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(Any))),
        description: 'The entities by __typename and id, at most 100.',
      },
    },
    extensions: requiresScope(...READ_SCOPES),
    resolve: (_source, { representations }: { representations: Representation[] }, context) => {
      checkBatch(representations, 'representations');
      return representations.map((each, index) =>
        entityOf(each, { entities, context, path: ['representations', String(index)] }),
      );
    },
  };
}

/**
 * The public schema as a subgraph of Apollo Federation 2: the same types, and the two fields that routers ask for. Added
 * to the schema that was built: one built anew from its SDL would lack what SDL cannot say (ADR 15).
 */
export function asSubgraph(schema: GraphQLSchema): GraphQLSchema {
  const config = schema.toConfig();
  const query = schema.getQueryType()?.toConfig();
  if (!query) throw new Error('A subgraph needs queries.');
  const fields: RootFields = {
    _service: serviceField(subgraphSdl(schema)),
    _entities: entitiesField(schema),
  };
  const Query = new GraphQLObjectType({ ...query, fields: { ...query.fields, ...fields } });
  Object.values(Query.getFields())
    .filter(({ name }) => name in fields)
    .forEach(guardRootField);
  return new GraphQLSchema({
    ...config,
    query: Query,
    types: config.types.filter(({ name }) => name !== Query.name),
  });
}
