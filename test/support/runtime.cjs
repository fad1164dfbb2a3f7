// The decorators of src need it.
require('reflect-metadata');
const { createRequire } = require('node:module');
const path = require('node:path');
const { default: Runtime } = require('jest-runtime');
const { compiledFile } = require('./compiled-file.cjs');

const isFile = (name) => /^[./]/.test(name);
const isOfJest = (name) => name.startsWith('@jest/');

/**
 * Loads the modules of test/ anew for each test file, as jest does. A worker loads packages and the modules of src only
 * once, the latter from dist: loading and optimizing them for each test file took about 30 % of the CPU time of a run.
 */
module.exports = class extends Runtime {
  requireModuleOrMock(from, name) {
    const file = isFile(name) ? compiledFile(path.resolve(path.dirname(from), name)) : name;
    if (file === undefined || isOfJest(name)) return super.requireModuleOrMock(from, name);
    return createRequire(from)(file);
  }
};
