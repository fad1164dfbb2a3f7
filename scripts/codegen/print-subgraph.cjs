// Prints the response of a subgraph to _service { sdl }, made of the public schema: SUBGRAPH adds no types of ours.
const schema = require('./schema.cjs');

const plugin = () => {
  const { subgraphSdl } = require('../../dist/schema/subgraph-sdl.js');
  return subgraphSdl(schema());
};

module.exports = { plugin };
