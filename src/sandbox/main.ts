import 'reflect-metadata';
import process from 'node:process';
import { pino } from 'pino';
import { readStandaloneSandboxConfig } from '../config';
import { describeStartupError } from '../app/startup-error';
import { startSandbox } from './server';

/** Runs the sandbox without a gateway, until SIGTERM or SIGINT. Exits with code 1 if the start fails. */
export async function main(): Promise<void> {
  try {
    const { sandbox: settings, service: credentials, logLevel } = readStandaloneSandboxConfig();
    if (!settings) throw new Error('Bug in the gateway: the configuration has no settings of the sandbox.');
    const sandbox = await startSandbox({ ...settings, credentials, logger: pino({ level: logLevel }) });
    process.stdout.write(`The sandbox is listening on ${sandbox.url}\n`);
    const stop = (): void => void sandbox.close().then(() => process.exit(0));
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  } catch (error) {
    process.stderr.write(`${describeStartupError(error)}\n`);
    process.exit(1);
  }
}
