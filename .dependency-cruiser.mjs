/**
 * Which folders of src may import which (docs/architecture.md): app → http → resolvers → core → datasources → schema →
 * shared; the others beside them. Type-only imports count.
 */
const MAY_IMPORT = {
  shared: [],
  config: ['shared'],
  redaction: ['shared'],
  auth: ['shared'],
  schema: ['shared', 'redaction'],
  datasources: ['shared', 'redaction', 'schema'],
  core: ['shared', 'redaction', 'schema', 'datasources', 'config/types'],
  observability: ['shared', 'redaction', 'config/types'],
  resolvers: ['shared', 'redaction', 'schema', 'datasources', 'core', 'auth', 'observability/audit'],
  http: [
    'shared',
    'redaction',
    'schema',
    'resolvers',
    'auth',
    'config/types',
    'core/changes/cursor',
    // The errors that are translated for callers.
    'datasources/journal/changes',
    'datasources/payment-service/service-error',
  ],
  // The sandbox shares the definitions of the methods with the gateway, and neither signer nor mapper.
  sandbox: ['shared', 'schema/methods'],
  cli: [
    'shared',
    'redaction',
    'schema',
    'datasources',
    'resolvers',
    'auth',
    'config',
    'observability',
    'http/persisted',
    // The cursors of the record of changes.
    'core/changes/cursor',
  ],
  app: ['.*'],
};

/** Entry points, which start what others may not import. */
const ENTRY_POINTS = '^src/(server|sandbox/main|cli/main)\\.ts$';

const layers = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports`,
  comment: `src/${folder} may import: ${allowed.join(', ') || 'nothing else of src'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: ENTRY_POINTS },
  to: { path: '^src/', pathNot: `^src/(${[folder, ...allowed].join('|')})(/|\\.ts$|$)` },
}));

export default {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-loose-files',
      comment: 'Nothing but server.ts stands in src itself.',
      severity: 'error',
      from: { path: '^src/[^/]+\\.ts$', pathNot: '^src/server\\.ts$' },
      to: {},
    },
    ...layers,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    includeOnly: '^src/',
  },
};
