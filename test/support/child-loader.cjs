// Runs a TypeScript module of the tests as a process of its own: node child-loader.cjs <module> <arguments>
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { transformSync } = require('@swc/core');

const options = {
  swcrc: false,
  jsc: { target: 'es2024', parser: { syntax: 'typescript', decorators: true } },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

require.extensions['.ts'] = (loaded, file) => {
  loaded._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file);
};
require(path.resolve(process.argv[2]));
