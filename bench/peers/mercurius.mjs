// mercurius on Fastify; operations are compiled at their first use.
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { resolvers, typeDefs } from './schema.mjs';
import { settings } from './settings.mjs';

const app = Fastify({ logger: false });
await app.register(mercurius, { schema: typeDefs, resolvers, jit: 1, graphiql: false });
await app.listen({ port: settings.port, host: '127.0.0.1' });
console.log(`mercurius is listening on port ${settings.port}`);
