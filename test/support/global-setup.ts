import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { createTemplate, dropDatabases, probePostgres } from './stores';

/** Builds `dist`, tests whether PostgreSQL responds, and creates the template of the run's databases. */
export default async function setUp(): Promise<void> {
  if (process.env['PAYGRAPH_TEST_RUN']) return;
  // Any command of the program builds `dist` if sources are newer.
  const program = path.resolve(__dirname, '../../bin/paygraph.mjs');
  const { status, stderr } = spawnSync(process.execPath, [program, '--help'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The build failed: ${stderr}`);
  const noPostgres = await probePostgres();
  process.env['PAYGRAPH_TEST_NO_POSTGRES'] = noPostgres ?? '';
  process.env['PAYGRAPH_TEST_RUN'] = String(process.pid);
  if (noPostgres) return console.warn(`\n${noPostgres}: all tests on PostgreSQL are skipped.`);
  await dropDatabases();
  await createTemplate();
}
