// Prints what a subgraph answers to _service { sdl }. The schema is the public one: the setting adds no types of ours.
const schema = require('./schema.cjs');

const plugin = () => {
  const { subgraphSdl } = require('../../dist/schema/subgraph-sdl.js');
  return subgraphSdl(schema());
};

module.exports = { plugin };
