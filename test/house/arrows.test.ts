import { spawnSync } from 'node:child_process';
import path from 'node:path';

/** An import that a room must not have, and a file of that room. */
const FORBIDDEN: [file: string, imports: string][] = [
  ['src/sandbox/signature.ts', '../datasources/service/signature'],
  ['src/sandbox/signature.ts', '../schema/scalars'],
  ['src/sandbox/signature.ts', '../schema/methods/card'],
  ['src/sandbox/signature.ts', '../config'],
  ['src/datasources/service/client.ts', '../../sandbox/signature'],
  ['src/datasources/service/client.ts', '../../operations/payment-operations'],
  ['src/datasources/service/client.ts', 'graphql'],
  ['src/operations/payment-operations.ts', '../resolvers/context'],
  ['src/operations/payment-operations.ts', '../http/app'],
  ['src/operations/payment-operations.ts', 'graphql'],
  ['src/operations/payment-operations.ts', 'undici'],
  ['src/resolvers/context.ts', '../http/app'],
  ['src/resolvers/context.ts', '../sandbox/server'],
  ['src/schema/payment.ts', '../datasources/service/client'],
  ['src/schema/payment.ts', '../secret'],
  ['src/schema/methods/card.ts', '../../operations/payment-operations'],
  ['src/http/app.ts', '../operations/payment-operations'],
  ['src/http/app.ts', '../config'],
  ['src/access/caller.ts', '../http/refusal'],
  ['src/access/caller.ts', 'graphql'],
  ['src/audit/entry.ts', '../schema/payment'],
  ['src/audit/entry.ts', '../config'],
  ['src/workers/primary.ts', '../config'],
  ['src/workers/primary.ts', '../operations'],
  ['src/operations/index.ts', '../workers/worker'],
  ['src/operations/index.ts', '../tracing/spans'],
  ['src/http/app.ts', '../tracing/spans'],
  ['src/tracing/requests.ts', '../http/app'],
  ['src/tracing/attempts.ts', '../datasources/journal/journal'],
  ['src/metrics/metrics.ts', '../operations'],
  ['src/metrics/metrics.ts', '../config'],
  ['src/operations/index.ts', '../metrics/metrics'],
  ['src/http/metrics-route.ts', '../metrics/metrics'],
  ['src/cli/program.ts', '../sandbox/server'],
  ['src/http/app.ts', '../cli/program'],
  ['explorer/fetcher.ts', '../src/http/app'],
];

const ALLOWED: [file: string, imports: string][] = [
  ['src/sandbox/server.ts', '../schema/methods/sandbox-behaviour'],
  ['src/datasources/service/signature.ts', '../../secret'],
  ['src/operations/payment-operations.ts', '../datasources/service/payments'],
  ['src/http/app.ts', '../resolvers/context'],
  ['src/resolvers/root-fields.ts', '../access/caller'],
  ['src/audit/entry.ts', '../schema/card-numbers'],
  ['src/workers/primary.ts', '../start-fault'],
  ['src/http/rate-limit.ts', '../siblings'],
  ['src/tracing/exporter.ts', '../secret'],
  ['src/cli/program.ts', '../config'],
];

const READS_ENVIRONMENT: [file: string, imports: string] = ['src/gateway.ts', 'environment'];

type Messages = (string | null)[];

/** ESLint loads its configuration as an ES module, which jest's own module system cannot: so it runs beside jest. */
function lintAll(): Messages[] {
  const cases = [...FORBIDDEN, ...ALLOWED, READS_ENVIRONMENT].map(([file, imports]) => ({
    file,
    text:
      imports === 'environment'
        ? "import process from 'node:process';\nexport const home = process.env;\n"
        : `import '${imports}';\n`,
  }));
  const done = spawnSync(process.execPath, [path.join(__dirname, 'lint-texts.mjs')], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  });
  if (done.status !== 0) throw new Error(done.stderr);
  return JSON.parse(done.stdout) as Messages[];
}

let results: Messages[];

beforeAll(() => {
  results = lintAll();
});

test.each(FORBIDDEN.map((pair, place) => [...pair, place] as const))(
  'lint refuses that %s imports %s',
  (_file, _imports, place) => {
    expect(results[place]).toContain('no-restricted-imports');
  },
);

test.each(ALLOWED.map((pair, place) => [...pair, FORBIDDEN.length + place] as const))(
  'lint allows that %s imports %s',
  (_file, _imports, place) => {
    expect(results[place]).not.toContain('no-restricted-imports');
  },
);

test('lint refuses to read the environment outside the settings', () => {
  expect(results.at(-1)).toContain('no-restricted-properties');
});
