// Returns the public schema, built as the gateway builds it. Used by codegen's loader and plugins.
require('reflect-metadata');
const { build, isFresh } = require('../build.mjs');

if (!isFresh() && !build()) throw new Error('The sources do not compile.');

module.exports = () => {
  const { buildGatewaySchema } = require('../../dist/resolvers/index.js');
  return buildGatewaySchema();
};
