// Compiles ES modules of packages to CommonJS for jest. Separate from the compilation of our own code, whose options
// (fields assigned after super()) break packages whose constructors call super() within an expression, such as jose.
const { transformSync } = require('@swc/core');

module.exports = {
  process: (source, filename) =>
    transformSync(source, {
      filename,
      swcrc: false,
      jsc: { target: 'es2024', parser: { syntax: 'ecmascript' } },
      module: { type: 'commonjs' },
      sourceMaps: 'inline',
    }),
};
