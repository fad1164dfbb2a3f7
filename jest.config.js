/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  setupFiles: ['reflect-metadata'],
  transform: {
    // Packages that ship ES modules alone. Not by ts-jest: it has one set of options, and these are for our own classes.
    '^.+\\.[cm]?js$': '<rootDir>/test/support/es-modules.cjs',
    // The compiler options are the project's own.
    '^.+\\.ts$': [
      'ts-jest',
      {
        tsconfig: {
          sourceMap: true,
          inlineSourceMap: true,
          module: 'commonjs',
          moduleResolution: 'node10',
          ignoreDeprecations: '6.0',
          target: 'ES2024',
          experimentalDecorators: true,
          useDefineForClassFields: false,
          esModuleInterop: true,
          isolatedModules: true,
          resolveJsonModule: true,
        },
        diagnostics: false,
      },
    ],
  },
  // What is loaded only when it is wanted, by the name that its file has when it is compiled.
  moduleNameMapper: {
    '^\\./tracing/start-tracing\\.js$': '<rootDir>/src/tracing/start-tracing.ts',
    '^(\\./commands/[\\w-]+)\\.js$': '$1',
  },
  transformIgnorePatterns: [
    '/node_modules/(?!(qr|cockatiel|commander|jose|eventsource|eventsource-parser|@opentelemetry/otlp-exporter-base)/)',
  ],
  // The tests' own gateways, services, databases and browsers want cores too.
  maxWorkers: 2,
  testTimeout: 60000,
  // Tests of outages leave sockets behind that only the operating system ends.
  forceExit: true,
};
