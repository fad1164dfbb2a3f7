// Generates hive-supergraph.graphql from openapi.json, as mesh-compose does. Run after a change of openapi.json:
//   node hive-compose.mjs && npx prettier --write hive-supergraph.graphql
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { composeSubgraphs } from '@graphql-mesh/fusion-composition';
import { loadOpenAPISubgraph } from '@omnigraph/openapi';

const quiet = {
  debug() {},
  info() {},
  warn: console.warn,
  error: console.error,
  log() {},
  child: () => quiet,
};
const load = loadOpenAPISubgraph('payments', {
  source: './openapi.json',
  // The gateway reads the variable from the environment at every request.
  endpoint: '{env.SERVICE_BASE_URL}',
});
const { name, schema$ } = load({ cwd: import.meta.dirname, logger: quiet, fetch });
const { supergraphSdl } = composeSubgraphs([{ name, schema: await schema$ }]);
writeFileSync(path.join(import.meta.dirname, 'hive-supergraph.graphql'), supergraphSdl);
