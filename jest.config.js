/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  setupFiles: ['reflect-metadata'],
  transform: {
    // The compiler options are the project's own; JavaScript is transformed only for packages that ship ES modules alone.
    '^.+\\.(ts|js|mjs)$': [
      'ts-jest',
      {
        tsconfig: {
          allowJs: true,
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
  transformIgnorePatterns: ['/node_modules/(?!(qr|cockatiel|jose)/)'],
  // Half of the cores: the tests' own gateways, services, databases and browsers want the rest.
  maxWorkers: '50%',
  testTimeout: 60000,
  // Tests of outages leave sockets behind that only the operating system ends.
  forceExit: true,
};
