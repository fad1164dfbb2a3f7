import eslint from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Packages that a folder of src must not import. Which folders may import which is in .dependency-cruiser.mjs. */
const FORBIDDEN_PACKAGES = {
  core: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  datasources: ['graphql', 'type-graphql', 'fastify', '@apollo/*', '@as-integrations/*'],
  resolvers: ['fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  auth: ['graphql', 'type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  schema: ['fastify', 'undici', '@apollo/*', '@as-integrations/*'],
  sandbox: ['graphql', 'type-graphql', 'undici', 'class-validator', '@apollo/*', '@as-integrations/*'],
  http: ['undici', 'class-validator'],
  observability: ['graphql', 'type-graphql', 'undici', 'class-validator', '@apollo/*', '@as-integrations/*'],
  cli: ['type-graphql', 'fastify', 'undici', '@apollo/*', '@as-integrations/*'],
};

/** Words that once had a private meaning in this project, in any part of a name. */
const PRIVATE_WORDS = ['heard', 'told', 'asked', 'says', 'means', 'hand', 'room', 'arm', 'seat', 'sight'];
const capitalized = PRIVATE_WORDS.map((word) => word[0].toUpperCase() + word.slice(1));
const PRIVATE_NAME = `/(^|_)(${PRIVATE_WORDS.join('|')})s?([A-Z_]|$)|[a-z](${capitalized.join('|')})s?([A-Z_]|$)/`;

const packageRules = Object.entries(FORBIDDEN_PACKAGES).map(([folder, group]) => ({
  files: [`src/${folder}/**/*.ts`],
  rules: {
    'no-restricted-imports': ['error', { patterns: [{ group, message: `Not in src/${folder}.` }] }],
  },
}));

export default tseslint.config(
  { ignores: ['dist/**', 'dist-*/**', 'data/**', 'coverage/**', 'client/index.*'] },
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
        __dirname: 'readonly',
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
      'no-restricted-syntax': [
        'error',
        {
          selector: `:matches(Identifier, PrivateIdentifier)[name=${PRIVATE_NAME}]`,
          message: 'Use the standard term instead.',
        },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Environment variables are read in src/config only.' },
      ],
    },
  },
  ...packageRules,
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
  { files: ['src/config/index.ts', 'examples/**'], rules: { 'no-restricted-properties': 'off' } },
  // One table.
  { files: ['src/config/env-vars.ts'], rules: { 'max-lines': 'off' } },
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
  {
    files: ['test/history/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['../*'], message: 'The checker of histories uses no other code of the project.' },
          ],
        },
      ],
    },
  },
);
