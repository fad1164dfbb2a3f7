// Runs a TypeScript program of the tests as a process of its own: node load-typescript.cjs <program> <arguments>
const { readFileSync } = require('node:fs');
const ts = require('typescript');

const compilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2024,
  esModuleInterop: true,
  inlineSourceMap: true,
};

require.extensions['.ts'] = (loaded, file) => {
  loaded._compile(ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions }).outputText, file);
};
require(process.argv[2]);
