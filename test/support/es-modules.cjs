// Makes ES modules of packages fit for jest. ts-jest would make them with the options of our own classes, whose fields
// are set after super(): in jose, whose constructors call super() within an expression, every error would then break.
const { transpileModule } = require('typescript');

const compilerOptions = {
  allowJs: true,
  module: 'commonjs',
  target: 'ES2024',
  esModuleInterop: true,
  inlineSourceMap: true,
};

module.exports = {
  process: (source, fileName) => ({
    code: transpileModule(source, { fileName, compilerOptions }).outputText,
  }),
};
