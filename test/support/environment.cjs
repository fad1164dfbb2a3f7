const { flushCompileCache } = require('node:module');
const vm = require('node:vm');
const { ModuleMocker } = require('jest-mock');

/** Stands for the main context of the process, where jest expects a context of the module vm. */
const MAIN_CONTEXT = Symbol('main context');

const { compileFunction } = vm;
vm.compileFunction = (code, parameters, { parsingContext, ...options } = {}) =>
  compileFunction(
    code,
    parameters,
    parsingContext === MAIN_CONTEXT ? options : { ...options, parsingContext },
  );

/**
 * Runs test files in the main context of the worker. In a context of its own, each test file would have other classes
 * than the modules that runtime.cjs shares, and an Error of one would not be an Error of the other.
 */
module.exports = class MainContextEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  fakeTimers = null;
  fakeTimersModern = null;

  getVmContext() {
    return MAIN_CONTEXT;
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  async setup() {
    // Jest sets 100, which is slow, because here it also holds for the errors of the program.
    Error.stackTraceLimit = 10;
  }

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    // At the exit of a worker, the first flush takes longer than jest waits.
    flushCompileCache();
  }
};
