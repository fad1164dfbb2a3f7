import 'reflect-metadata';
import { GraphQLInputObjectType, GraphQLObjectType, isAbstractType, type GraphQLSchema } from 'graphql';
import { buildSchemaSync, type NonEmptyArray, type PubSub } from 'type-graphql';
import { ONE_OF_INPUTS } from './methods/method-types';

/** Builds the public schema from the resolvers, and makes graphql-js enforce the @oneOf inputs. */
export function buildSchema(resolvers: NonEmptyArray<new () => object>): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers,
    // The operations validate: type-graphql's own way answers with the whole input.
    validate: false,
    // Skip an introspection query of 100 ms: Apollo Server asserts at start that the schema is valid.
    skipCheck: true,
    pubSub: NO_TOPICS,
  });
  readPropertiesDirectly(schema);
  nameTypesByClass(schema);
  ONE_OF_INPUTS.forEach((name) => enforceOneOf(schema, name));
  describeRoots(schema);
  return schema;
}

/** type-graphql wants one as soon as there are subscriptions; ours bring their own streams. */
const NO_TOPICS: PubSub = {
  publish: () => undefined,
  subscribe: () => {
    throw new Error('There are no topics.');
  },
};

function describeRoots(schema: GraphQLSchema): void {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const subscription = schema.getSubscriptionType();
  if (query) query.description = 'Lookups of payments and payouts. They change nothing and may be repeated.';
  if (mutation)
    mutation.description =
      'Calls that move money. Expected failures are members of the result, not GraphQL errors.';
  if (subscription)
    subscription.description =
      'Live updates, over WebSocket (graphql-transport-ws) at /graphql or as server-sent events at /graphql/stream.';
}

/** Outside the root types every field is a property of its object: graphql-js reads those itself, without a wrapper around each. */
function readPropertiesDirectly(schema: GraphQLSchema): void {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  for (const type of Object.values(schema.getTypeMap())) {
    if (!(type instanceof GraphQLObjectType) || roots.includes(type) || type.name.startsWith('__')) continue;
    Object.values(type.getFields()).forEach((field) => {
      field.resolve = undefined;
    });
  }
}

/** An object's class has the name of its type. type-graphql would promise the name, for every object anew. */
function nameTypesByClass(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap()).filter(isAbstractType))
    type.resolveType = ({ constructor }: object) => constructor.name;
}

/** type-graphql cannot say @oneOf: its directive would only decorate. */
function enforceOneOf(schema: GraphQLSchema, name: string): void {
  const type = schema.getType(name);
  if (!(type instanceof GraphQLInputObjectType)) throw new Error(`${name} is not an input type.`);
  const fields = Object.values(type.getFields());
  if (
    fields.length < 2 ||
    fields.some((field) => 'ofType' in field.type || field.defaultValue !== undefined)
  ) {
    throw new Error(`Every field of ${name} must be nullable and without a default: it is a @oneOf input.`);
  }
  type.isOneOf = true;
}
