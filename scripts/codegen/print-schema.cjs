// Prints the schema that the gateway serves, @oneOf included. codegen's own printer works on a copy.
const { printSchema } = require('graphql');
const schema = require('./schema.cjs');

const plugin = () => `${printSchema(schema())}\n`;

// The export has this form so that an `import` of this file finds its name.
module.exports = { plugin };
