import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  isObjectType,
  type GraphQLFieldConfig,
  type GraphQLInterfaceType,
} from 'graphql';
import { DESCRIPTION_BY_SCOPE } from '../auth/caller';
import { invalidValueError } from '../schema/scalars';
import { subgraphSdl } from '../schema/subgraph-sdl';
import { badArgumentError, checkItemCount } from './bad-request';
import type { OperationContext } from './context';
import { ALL_READ_SCOPES, lookUpNode } from './node-resolver';
import { guardRootField } from './root-fields';

/** Reference of an Apollo Federation router to an entity. `typename`: name of its object type or interface. */
interface Representation {
  typename: string;
  id: string;
}

const FederationAnyScalar = new GraphQLScalarType<Representation, never>({
  name: '_Any',
  description: 'A representation of an entity: an object with __typename and id. Input only.',
  parseValue: (value) => {
    const { __typename: typename, id } = { ...(value as Record<string, unknown> | null) };
    if (typeof typename !== 'string')
      throw invalidValueError(['entityType', 'must be an object with a __typename.']);
    // Replace an id that is not a string by '', so that only the lookup of this entity fails.
    return { typename, id: typeof id === 'string' ? id : '' };
  },
});

/** Returns the object types and interfaces that implement Node. They are entities: subgraphSdl() gives them a @key. */
const entityTypes = (schema: GraphQLSchema) =>
  schema.getImplementations(schema.getType('Node') as GraphQLInterfaceType);

/**
 * Returns a function that resolves to an entity, or null if it is not found. It rejects with BAD_USER_INPUT if
 * __typename is unknown or not the type of the entity, and with the errors of lookUpNode().
 */
function createEntityLookup(schema: GraphQLSchema) {
  const { objects, interfaces } = entityTypes(schema);
  const objectTypeNamesByEntity = new Map(
    [...objects, ...interfaces].map((type): [string, string[]] => [
      type.name,
      (isObjectType(type) ? [type] : schema.getPossibleTypes(type)).map(({ name }) => name),
    ]),
  );
  return async ({ typename, id }: Representation, context: OperationContext, path: readonly string[]) => {
    const typenameError = (message: string) =>
      badArgumentError([...path, '__typename'], 'entityType', message);
    const objectTypeNames = objectTypeNamesByEntity.get(typename);
    if (!objectTypeNames) throw typenameError('__typename is not an entity type of this subgraph.');
    const node = await lookUpNode(id, context, [...path, 'id']);
    if (node && !objectTypeNames.includes(node.constructor.name))
      throw typenameError(
        'The entity has another type than __typename. If you do not know its type, use PaymentResource or PayoutResource.',
      );
    return node;
  };
}

type RootFieldConfig = GraphQLFieldConfig<unknown, OperationContext>;

function federationServiceField(sdl: string): RootFieldConfig {
  const Service = new GraphQLObjectType({
    name: '_Service',
    description: 'This gateway as a subgraph of Apollo Federation.',
    fields: { sdl: { type: new GraphQLNonNull(GraphQLString), description: 'The schema of this subgraph.' } },
  });
  return {
    type: new GraphQLNonNull(Service),
    description: 'The schema of this subgraph, for composition. Available even if introspection is off.',
    extensions: { scopes: Object.keys(DESCRIPTION_BY_SCOPE) },
    resolve: () => ({ sdl }),
  };
}

function federationEntitiesField(schema: GraphQLSchema): RootFieldConfig {
  const lookUpEntity = createEntityLookup(schema);
  const Entity = new GraphQLUnionType({
    name: '_Entity',
    description: 'A type with a global id.',
    types: entityTypes(schema).objects,
    resolveType: ({ constructor }: object) => constructor.name,
  });
  return {
    type: new GraphQLNonNull(new GraphQLList(Entity)),
    description:
      'Up to 100 entities in the order of representations. An item is null if its entity is not found. If its lookup fails, the item is null, with one error at its path.',
    args: {
      representations: {
        type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(FederationAnyScalar))),
        description: 'The entities by __typename and id, at most 100.',
      },
    },
    extensions: { scopes: ALL_READ_SCOPES },
    resolve: (_source, { representations }: { representations: Representation[] }, context) => {
      checkItemCount(representations, 'representations');
      return representations.map((representation, index) =>
        lookUpEntity(representation, context, ['representations', String(index)]),
      );
    },
  };
}

/**
 * Returns the schema with the fields _service and _entities of Apollo Federation 2 (docs/federation.md). Adds them to
 * the built schema instead of building a new one from SDL, because SDL contains neither resolvers nor extensions.
 */
export function asSubgraph(schema: GraphQLSchema): GraphQLSchema {
  const schemaConfig = schema.toConfig();
  const query = schema.getQueryType()?.toConfig();
  if (!query) throw new Error('Bug in the gateway: the GraphQL schema has no query type.');
  const federationFields = {
    _service: federationServiceField(subgraphSdl(schema)),
    _entities: federationEntitiesField(schema),
  };
  const Query = new GraphQLObjectType({ ...query, fields: { ...query.fields, ...federationFields } });
  Object.values(Query.getFields())
    .filter(({ name }) => name in federationFields)
    .forEach(guardRootField);
  return new GraphQLSchema({
    ...schemaConfig,
    query: Query,
    types: schemaConfig.types.filter(({ name }) => name !== Query.name),
  });
}
