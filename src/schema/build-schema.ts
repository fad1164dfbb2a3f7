import 'reflect-metadata';
import { GraphQLInputObjectType, GraphQLObjectType, isAbstractType, type GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { ONE_OF_INPUTS } from './methods/method-types';

/** Builds the public schema from the resolvers, and makes graphql-js enforce the @oneOf inputs. */
export function buildSchema(resolvers: NonEmptyArray<new () => object>): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    // src/core validates: the errors of type-graphql contain the whole input.
    validate: false,
    // Apollo Server asserts at start that the schema is valid; the check here takes 100 ms.
    skipCheck: true,
    pubSub: UNUSED_PUB_SUB,
  });
  readPropertiesDirectly(schema);
  nameTypesByClass(schema);
  ONE_OF_INPUTS.forEach((name) => enforceOneOf(schema, name));
  describeRoots(schema);
  return schema;
}

/** type-graphql requires one for subscriptions; ours return their own iterators. */
const UNUSED_PUB_SUB: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('PubSub is not used.');
  },
};

function describeRoots(schema: GraphQLSchema): void {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const subscription = schema.getSubscriptionType();
  if (query) query.description = 'Lookups. They change nothing and may be repeated.';
  if (mutation)
    mutation.description =
      'Calls that move money. Expected failures are members of the result, not GraphQL errors.';
  if (subscription)
    subscription.description =
      'Live updates, over WebSocket (graphql-transport-ws) at /graphql or as server-sent events at /graphql/stream.';
}

/** Fields of other types than the roots are plain properties: the default resolver is faster than type-graphql's wrapper. */
function readPropertiesDirectly(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(type instanceof GraphQLObjectType) || roots.includes(type) || type.name.startsWith('__')) continue;
    Object.values(type.getFields()).forEach((field) => {
      field.resolve = undefined;
    });
  }
}

/** Classes are named like their GraphQL types. type-graphql's resolveType returns a promise for every object. */
function nameTypesByClass(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isAbstractType))
    type.resolveType = ({ constructor }: object) => constructor.name;
}

/** type-graphql has no @oneOf: its directive would only be printed, not enforced. */
function enforceOneOf(schema: GraphQLSchema, name: string): void {
  const type = schema.getType(name);
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`${name} is not an input type.`);
  const fields = Object.values(type.getFields());
  if (
    fields.length < 2 ||
    fields.some((field) => 'ofType' in field.type || field.defaultValue !== undefined)
  ) {
    throw new Error(`Every field of the @oneOf input ${name} must be nullable and without a default.`);
  }
  type.isOneOf = true;
}
