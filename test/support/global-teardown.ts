import { dropDatabases } from './stores';

export default async function tearDown(): Promise<void> {
  const { PAYGRAPH_TEST_RUN: run, PAYGRAPH_TEST_NO_POSTGRES: noPostgres } = process.env;
  if (run === String(process.pid) && !noPostgres) await dropDatabases();
}
