import process from 'node:process';
import { EXIT } from './context';
import { SERVERS, isServer } from './servers';
import { Terminal } from './terminal';

/** The program: what was typed is in the arguments of the process. */
export async function main(): Promise<void> {
  const [first = '', ...more] = process.argv.slice(2);
  // A server starts sooner without the command line parser.
  if (isServer(first) && more.length === 0) await SERVERS[first]();
  else await runTyped();
}

async function runTyped(): Promise<void> {
  const { runCommand } = await import('./program.js');
  const terminal = new Terminal(process.stdout, process.stderr);
  const streams = [process.stdout, process.stderr];
  // Who read the output may have enough of it (`| head`): the work goes on, so that the exit code is true.
  const unread = (error: NodeJS.ErrnoException): void => {
    if (error.code !== 'EPIPE') throw error;
  };
  const interrupted = (): void => {
    terminal.endProgress();
    process.exit(EXIT.interrupted);
  };
  streams.forEach((stream) => stream.on('error', unread));
  process.on('SIGINT', interrupted);
  const letGo = (): void => {
    streams.forEach((stream) => stream.off('error', unread));
    process.off('SIGINT', interrupted);
  };
  const code = await runCommand(process.argv.slice(2), { terminal, env: undefined }, letGo);
  if (code === null) return;
  // Writing to a pipe is asynchronous: what its reader has not taken yet would be lost.
  await Promise.all(streams.map((stream) => new Promise((resolve) => stream.write('', resolve))));
  process.exit(code);
}
