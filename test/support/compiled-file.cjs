const path = require('node:path');

const ROOT = path.resolve(__dirname, '../..');
const SRC = path.join(ROOT, 'src/');

/** Returns the path in dist of a TypeScript module of src, with or without its extension; undefined for other files. */
exports.compiledFile = (file) =>
  file.startsWith(SRC) ? path.join(ROOT, 'dist', file.slice(SRC.length).replace(/[.]ts$/, '')) : undefined;
