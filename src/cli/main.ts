import process from 'node:process';
import type { ServerCommandName } from './command-definitions';
import { EXIT } from './context';
import { Terminal } from './terminal';

/** The commands that run until SIGTERM or SIGINT and then exit the process themselves. */
const SERVER_COMMANDS: Readonly<Record<ServerCommandName, () => Promise<void>>> = {
  start: async () => (await import('../server.js')).main(),
  sandbox: async () => (await import('../sandbox/main.js')).main(),
};

/** Runs the command line of this process. Called by bin/paygraph.mjs. */
export async function main(): Promise<void> {
  const args = process.argv.slice(2);
  // Run `start` and `sandbox` without options directly: loading the command line parser would delay the start.
  if (args.length === 1 && (args[0] === 'start' || args[0] === 'sandbox')) return SERVER_COMMANDS[args[0]]();
  const { runCommand } = await import('./program.js');
  const terminal = new Terminal(process.stdout, process.stderr);
  const streams = [process.stdout, process.stderr];
  // Ignore EPIPE: if the reader of a pipe, such as `head`, stops early, the exit code stays that of the command.
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
  };
  const onInterrupt = (): void => {
    terminal.endProgress();
    process.exit(EXIT.interrupted);
  };
  streams.forEach((stream) => stream.on('error', onError));
  process.on('SIGINT', onInterrupt);
  const result = await runCommand(args, { terminal, env: undefined });
  if (typeof result === 'string') {
    streams.forEach((stream) => stream.off('error', onError));
    process.off('SIGINT', onInterrupt);
    return SERVER_COMMANDS[result]();
  }
  // Wait for pending output, because writes to a pipe are asynchronous and process.exit() discards them.
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.write('', resolve))));
  process.exit(result);
}
