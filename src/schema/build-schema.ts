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

/** Builds the public GraphQL schema from the resolver classes of type-graphql. */
export function buildSchema(resolvers: NonEmptyArray<new () => object>): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    // Validation by type-graphql is off, because its errors contain the input. src/core validates instead.
    validate: false,
    // Apollo Server checks the schema at startup; a second check here would take 100 ms.
    skipCheck: true,
    pubSub: UNUSED_PUB_SUB,
  });
  removeFieldResolvers(schema);
  resolveTypesByClassName(schema);
  // With `isOneOf`, graphql-js rejects an input that does not have exactly one field.
  for (const name of ONE_OF_INPUT_NAMES) (schema.getType(name) as GraphQLInputObjectType).isOneOf = true;
  describeRootTypes(schema);
  return schema;
}

/** Placeholder for the PubSub that type-graphql requires. Each subscription has its own iterator instead. */
const UNUSED_PUB_SUB: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error(
      'Bug in the gateway: a subscription uses the PubSub of type-graphql instead of its own iterator.',
    );
  },
};

/** Returns the types Query, Mutation and Subscription. */
export const rootTypesOf = (schema: GraphQLSchema): GraphQLObjectType[] =>
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()].filter((type) => !!type);

function describeRootTypes(schema: GraphQLSchema): void {
  const descriptions: Record<string, string> = {
    Query: 'Lookups. They change nothing and may be repeated.',
    Mutation: 'Calls that move money. Expected failures are members of the result, not GraphQL errors.',
    Subscription:
      'Live updates, over WebSocket (graphql-transport-ws) at /graphql or as server-sent events at /graphql/stream.',
  };
  for (const rootType of rootTypesOf(schema)) rootType.description = descriptions[rootType.name];
}

/** Removes type-graphql's field resolvers, because graphql-js's default resolver is faster. Root fields keep theirs. */
function removeFieldResolvers(schema: GraphQLSchema): void {
  const rootTypes = rootTypesOf(schema);
  for (const objectType of Object.values(schema.getTypeMap()).filter(isObjectType)) {
    if (rootTypes.includes(objectType) || isIntrospectionType(objectType)) continue;
    for (const field of Object.values(objectType.getFields())) field.resolve = undefined;
  }
}

/** Resolves unions and interfaces to the class name of the value. type-graphql's resolver is slower: it is async. */
function resolveTypesByClassName(schema: GraphQLSchema): void {
  for (const abstractType of Object.values(schema.getTypeMap()).filter(isAbstractType))
    abstractType.resolveType = ({ constructor }: object) => constructor.name;
}
