// graphql-yoga on node:http, operations compiled by @envelop/graphql-jit.
import { createServer } from 'node:http';
import { useGraphQlJit } from '@envelop/graphql-jit';
import { createSchema, createYoga } from 'graphql-yoga';
import { resolvers, typeDefs } from './schema.mjs';
import { settings } from './settings.mjs';

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  plugins: [useGraphQlJit()],
  logging: false,
  graphiql: false,
  landingPage: false,
  cors: false,
  multipart: false,
});
createServer(yoga).listen(settings.port, '127.0.0.1', () =>
  console.log(`graphql-yoga is listening on port ${settings.port}`),
);
