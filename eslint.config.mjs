import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/**
 * The arrows of the house: http → resolvers → operations → datasources, and all may read schema. `may` names the
 * rooms that a room's files may import from; anything else is an error.
 */
const ROOMS = {
  schema: [],
  datasources: ['schema'],
  operations: ['schema', 'datasources'],
  resolvers: ['schema', 'operations', 'datasources', 'access', 'audit'],
  access: [],
  // Of schema only what finds card numbers and tokens.
  audit: ['schema/card-numbers'],
  http: ['schema', 'resolvers', 'datasources', 'access', 'audit'],
  // Spans: what others tell it of themselves, it needs not know them.
  tracing: [],
  // Processes, and what they say to each other; server.ts says what a worker does.
  workers: [],
  // Told of what happens in the other rooms by those who put the parts together.
  metrics: [],
  // The operator's commands; the doctor looks at whatever has settings.
  cli: ['schema', 'resolvers', 'datasources', 'access', 'audit', 'http'],
  // The service's double: it shares the table of its own side of every method, and nothing of the client's.
  sandbox: ['schema/methods'],
};

/** Files that stand beside the rooms, and the rooms that may read them. */
const BESIDE = {
  secret: ['datasources', 'access', 'tracing'],
  'json-text': ['datasources', 'access', 'http', 'cli'],
  'watched-file': ['datasources', 'access', 'http', 'cli'],
  settings: ['cli'],
  'settings-table': [],
  'watching-settings': [],
  'tracing-settings': [],
  'metrics-settings': [],
  'explorer-settings': [],
  'setting-values': [],
  loopback: ['http'],
  descriptors: ['cli'],
  config: ['cli'],
  'config-types': [],
  greeting: [],
  gateway: [],
  'service-connection': [],
  'journal-connection': [],
  'web-server': [],
  'web-metrics': [],
  server: [],
  siblings: ['datasources', 'http', 'workers'],
  'start-config': [],
  'start-fault': ['workers'],
};

/** What rooms may import of the room schema where they may not import all of it. */
const PARTS_OF_SCHEMA = {
  // The registry and the table of behaviours; not the rooms themselves.
  sandbox: 'methods$|methods/sandbox-behaviour$',
  audit: 'card-numbers$|shown-text$',
};

/** What a room's files must not import, as patterns of relative paths. */
function forbidden(room) {
  const rooms = Object.keys(ROOMS).filter((other) => other !== room && !ROOMS[room].includes(other));
  const patterns = rooms.map((other) => `(\\.\\./)+${other}(/.*)?`);
  if (room in PARTS_OF_SCHEMA) {
    const index = patterns.indexOf('(\\.\\./)+schema(/.*)?');
    patterns[index] = `(\\.\\./)+schema(/(?!${PARTS_OF_SCHEMA[room]}).*)?`;
  }
  const files = Object.keys(BESIDE).filter((file) => !BESIDE[file].includes(room));
  return [...patterns, ...files.map((file) => `(\\.\\./)+${file}`)].map((pattern) => ({
    regex: `^${pattern}$`,
    message: `src/${room} may not import this: see the arrows in eslint.config.mjs.`,
  }));
}

/** Packages that only some rooms may know. */
const OUTSIDE = {
  operations: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  datasources: ['graphql', 'type-graphql', 'fastify', '@apollo/*', '@as-integrations/*'],
  resolvers: ['fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  access: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  audit: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  schema: ['fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  sandbox: ['graphql', 'type-graphql', 'undici', 'class-validator', '@apollo/*', '@as-integrations/*'],
  http: ['undici', 'class-validator'],
  workers: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  tracing: ['graphql', 'type-graphql', 'undici', 'class-validator', '@apollo/*', '@as-integrations/*'],
  metrics: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  cli: ['type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
};

const arrows = Object.keys(ROOMS).map((room) => ({
  files: [`src/${room}/**/*.ts`],
  // The sandbox as a program of its own reads the settings as server.ts does.
  ignores: ['src/sandbox/main.ts'],
  rules: {
    'no-restricted-imports': [
      'error',
      { patterns: [...forbidden(room), { group: OUTSIDE[room], message: `Not in src/${room}.` }] },
    ],
  },
}));

export default tseslint.config(
  { ignores: ['dist/**', 'dist-*/**', 'data/**', 'test/generated/**', 'coverage/**', 'client/index.*'] },
  eslint.configs.recommended,
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        TextDecoderStream: 'readonly',
        URL: 'readonly',
        module: 'writable',
        require: 'readonly',
      },
    },
  },
  {
    files: ['**/*.{ts,tsx}'],
    extends: [...tseslint.configs.strict],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unsafe-assignment': 'error',
      '@typescript-eslint/no-unsafe-call': 'error',
      '@typescript-eslint/no-unsafe-member-access': 'error',
      '@typescript-eslint/no-unsafe-return': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // A payment or an input is a class with decorators, also where it adds no field of its own.
      '@typescript-eslint/no-extraneous-class': 'off',
      '@typescript-eslint/no-confusing-void-expression': 'off',
      'no-control-regex': 'off',
      'no-console': 'error',
      'max-lines': ['error', { max: 260, skipBlankLines: true }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true }],
      'max-params': ['error', 4],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read in src/config.ts only.' },
      ],
    },
  },
  ...arrows,
  {
    files: ['explorer/**/*.{ts,tsx}'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^(\\.\\./)+src/',
              message: 'The explorer runs in browsers: it knows the schema alone.',
            },
          ],
        },
      ],
    },
  },
  { files: ['src/config.ts', 'examples/**'], rules: { 'no-restricted-properties': 'off' } },
  {
    files: ['test/**/*.ts'],
    rules: {
      'max-lines-per-function': 'off',
      'max-lines': 'off',
      'no-restricted-properties': 'off',
      'no-console': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      // jest's matchers (expect.any and the like) have the type any.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
    },
  },
);
