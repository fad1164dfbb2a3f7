// Prints the schema that the gateway serves, @oneOf included. codegen's own printer works on a copy.
const { printSchema } = require('graphql');
const schema = require('./schema.cjs');

const plugin = () => `${printSchema(schema())}\n`;

// Assigned in this form so that an `import` of this file finds the name.
module.exports = { plugin };
