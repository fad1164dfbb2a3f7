// Runs a TypeScript module of the tests as a process of its own: node child-loader.cjs <module> <arguments>
// Modules of src are loaded from dist.
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync } = require('@swc/core');
const { compiledFile } = require('./compiled-file.cjs');

const options = {
  swcrc: false,
  jsc: { target: 'es2024', parser: { syntax: 'typescript', decorators: true } },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

require.extensions['.ts'] = (loaded, file) => {
  const compiled = compiledFile(file);
  if (compiled) loaded.exports = require(compiled);
  else loaded._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file);
};
require(path.resolve(process.argv[2]));
