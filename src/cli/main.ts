import process from 'node:process';
import { EXIT_CODE } from './context';
import { Terminal } from './terminal';

/** The commands that run until SIGTERM or SIGINT and then exit the process themselves. */
const RUN_SERVER_BY_COMMAND = new Map([
  ['start', async () => (await import('../server.js')).main()],
  ['sandbox', async () => (await import('../sandbox/main.js')).main()],
]);

/** Runs the command line of this process. Called by bin/paygraph.mjs. */
export async function main(): Promise<void> {
  const args = process.argv.slice(2);
  const [name = '', ...otherArgs] = args.filter((arg) => arg !== '--');
  const runServer = RUN_SERVER_BY_COMMAND.get(name);
  // Do not load the command line parser to start a server: it would delay the start, and servers have no options.
  if (runServer && otherArgs.length === 0) return runServer();
  const { runCommand } = await import('./program.js');
  const terminal = new Terminal(process.stdout, process.stderr);
  const outputStreams = [process.stdout, process.stderr];
  // Ignore EPIPE: if the reader of a pipe, such as `head`, stops early, the exit code stays that of the command.
  for (const stream of outputStreams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  process.on('SIGINT', () => {
    terminal.endProgress();
    process.exit(EXIT_CODE.interrupted);
  });
  const exitCode = await runCommand(args, { terminal, env: undefined });
  // Wait for pending output, because writes to a pipe are asynchronous and process.exit() discards them.
  await Promise.all(outputStreams.map((stream) => new Promise((resolve) => stream.write('', resolve))));
  process.exit(exitCode);
}
