const { enableCompileCache } = require('node:module');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// Keeps compiled code between runs, also of the threads and programs that tests start.
process.env.NODE_COMPILE_CACHE ??= path.resolve('node_modules/.cache/compiled');
enableCompileCache?.(process.env.NODE_COMPILE_CACHE);

// As the program sets it, instead of jest's own value: graphql-js skips checks that are slow.
process.env.NODE_ENV = 'production';

// Files of tests are kept in memory where there is room: a slow disk would exceed the journal's time limit.
const MEMORY = '/dev/shm';
const MIN_FREE_BYTES = 2 ** 31;
const freeBytes = () => {
  const { bavail, bsize } = fs.statfsSync(MEMORY);
  return bavail * bsize;
};
if (fs.existsSync(MEMORY) && freeBytes() >= MIN_FREE_BYTES) process.env.TMPDIR ??= MEMORY;

// Modules of src are compiled with them in scripts/run-harness.mjs only: the decorators are theirs.
const compilerOptions = {
  swcrc: false,
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, useDefineForClassFields: false },
  },
  module: { type: 'commonjs' },
  sourceMaps: 'inline',
};

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: './test/support/environment.cjs',
  runtime: '<rootDir>/test/support/runtime.cjs',
  testSequencer: './test/support/sequencer.cjs',
  cacheDirectory: 'node_modules/.cache/jest',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  globalSetup: './test/support/global-setup.ts',
  globalTeardown: './test/support/global-teardown.ts',
  // For files of test, client and examples. Modules of src are loaded from dist.
  transform: { '^.+\\.ts$': ['@swc/jest', compilerOptions] },
  // Three per core, because many tests wait for a process, a timeout or a poll; six use most of the 100 connections that
  // PostgreSQL accepts by default. (As a percentage, 300% would be 300 workers.)
  maxWorkers: Math.min(3 * os.availableParallelism(), 6),
  // A worker keeps part of each file that it has run, up to 1 GB; Node.js allows 2 GB on a small machine.
  workerIdleMemoryLimit: '1GB',
  // Ends only a test that hangs: on a slow machine one test takes up to four minutes.
  testTimeout: 600_000,
};
