import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { createScriptTransformer, type TransformationOptions } from '@jest/transform';
import { createTemplate, dropDatabases, probePostgres } from './stores';

type Project = Parameters<typeof createScriptTransformer>[0];

/** The options with which jest compiles a file that is loaded by `require`: they are part of the key of its cache. */
const REQUIRED_FILE: TransformationOptions = {
  collectCoverage: false,
  collectCoverageFrom: [],
  coverageProvider: 'babel',
  isInternalModule: false,
  supportsDynamicImport: false,
  supportsExportNamespaceFrom: false,
  supportsStaticESM: false,
  supportsTopLevelAwait: false,
};

/** Compiles all files into jest's cache. Without it, each worker compiles them if the cache is empty. */
async function compile(project: Project): Promise<void> {
  const transformer = await createScriptTransformer(project);
  for (const file of globSync('{test,client,examples}/**/*.ts', { cwd: project.rootDir }))
    transformer.transform(path.join(project.rootDir, file), REQUIRED_FILE);
}

/** Loads the program, to fill the cache of compiled code. Without it, each worker fills it if it is empty. */
async function loadProgram(rootDir: string): Promise<void> {
  await import(path.join(rootDir, 'dist/server.js'));
  flushCompileCache();
}

/** Compiles, builds `dist`, tests whether PostgreSQL responds, and creates the template of the run's databases. */
export default async function setUp(_: unknown, project: Project): Promise<void> {
  if (process.env['PAYGRAPH_TEST_RUN']) return;
  // Any command of the program builds `dist` if sources are newer.
  const program = path.resolve(__dirname, '../../bin/paygraph.mjs');
  const built = promisify(execFile)(process.execPath, [program, '--help']).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`The build failed: ${stdout}${stderr}`);
    },
  );
  await Promise.all([built, compile(project)]);
  await loadProgram(project.rootDir);
  const noPostgres = await probePostgres();
  process.env['PAYGRAPH_TEST_NO_POSTGRES'] = noPostgres ?? '';
  process.env['PAYGRAPH_TEST_RUN'] = String(process.pid);
  if (noPostgres) return console.warn(`\n${noPostgres}: all tests on PostgreSQL are skipped.`);
  await dropDatabases();
  await createTemplate();
}
