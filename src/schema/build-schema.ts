import 'reflect-metadata';
import {
  isAbstractType,
  isIntrospectionType,
  isObjectType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { ONE_OF_INPUT_NAMES } from './methods/method-types';

/** Builds the public schema from the resolvers and declares its @oneOf inputs. */
export function buildSchema(resolvers: NonEmptyArray<new () => object>): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    // Turns off validation by type-graphql, because the errors would contain the input. src/core validates instead.
    validate: false,
    // Apollo Server checks the schema at startup; a second check here would take 100 ms.
    skipCheck: true,
    pubSub: UNUSED_PUB_SUB,
  });
  removeFieldResolvers(schema);
  resolveTypesByClassName(schema);
  // Makes graphql-js enforce @oneOf and, at startup, check that the fields are nullable and have no default.
  for (const name of ONE_OF_INPUT_NAMES) (schema.getType(name) as GraphQLInputObjectType).isOneOf = true;
  describeRootTypes(schema);
  return schema;
}

/** type-graphql requires a PubSub. It is never used, because each subscription has an iterator of its own. */
const UNUSED_PUB_SUB: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('A subscription used the PubSub of type-graphql instead of its own iterator.');
  },
};

const rootTypesOf = (schema: GraphQLSchema): GraphQLObjectType[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((root) => !!root);

function describeRootTypes(schema: GraphQLSchema): void {
  const descriptions: Record<string, string> = {
    Query: 'Lookups. They change nothing and may be repeated.',
    Mutation: 'Calls that move money. Expected failures are members of the result, not GraphQL errors.',
    Subscription:
      'Live updates, over WebSocket (graphql-transport-ws) at /graphql or as server-sent events at /graphql/stream.',
  };
  for (const root of rootTypesOf(schema)) root.description = descriptions[root.name];
}

/** Removes type-graphql's resolvers from all types but the root types: the default resolver of graphql-js is faster. */
function removeFieldResolvers(schema: GraphQLSchema): void {
  const roots = rootTypesOf(schema);
  for (const type of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (roots.includes(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) field.resolve = undefined;
  }
}

/** Resolves abstract types by class name. type-graphql's resolveType is slower: it always returns a promise. */
function resolveTypesByClassName(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isAbstractType))
    type.resolveType = ({ constructor }: object) => constructor.name;
}
