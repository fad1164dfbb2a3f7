import 'reflect-metadata';
import process from 'node:process';
import { pino } from 'pino';
import { readSandboxConfig } from '../config';
import { describeStartupError } from '../app/startup-error';
import { startEmbeddedSandbox } from './embedded';

/** The sandbox alone: the service of the spec, without a gateway before it. */
export async function main(): Promise<void> {
  try {
    const { sandbox: settings, service, logLevel } = readSandboxConfig();
    const log = pino({ level: logLevel });
    const port = settings ?? { port: 4001, anyPortIfTaken: true, control: false };
    const sandbox = await startEmbeddedSandbox(port, service, log);
    process.stdout.write(`The sandbox is listening on ${sandbox.url}\n`);
    const stop = (): void => void sandbox.close().then(() => process.exit(0));
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  } catch (error) {
    process.stderr.write(`${describeStartupError(error)}\n`);
    process.exit(1);
  }
}
