import 'reflect-metadata';
import process from 'node:process';
import type { Logger } from 'pino';
import { systemClock } from './clock';
import { ConfigError, readConfig, type Config } from './config';
import { startGateway, type Gateway, type OpenJournal } from './gateway';
import { greeting } from './greeting';
import { createLog } from './log';
import { startEmbeddedSandbox } from './sandbox/embedded';
import type { Sandbox } from './sandbox/server';

/**
 * The program: reads the settings, starts the parts, stops them on a signal.
 * @param open opens the journal of an address; for tests, which have a more patient one
 */
export async function main(open?: OpenJournal): Promise<void> {
  try {
    await run(readConfig(), open);
  } catch (error) {
    process.stderr.write(`${startFault(error)}\n`);
    process.exit(1);
  }
}

async function run(config: Config, open?: OpenJournal): Promise<void> {
  const log = createLog(config.logLevel);
  config.warnings.forEach((warning) => log.warn(warning));
  const sandbox = config.sandbox && (await startEmbeddedSandbox(config.sandbox, config.service, log));
  const service = sandbox ? { ...config.service, baseUrl: sandbox.url } : config.service;
  const gateway = await startGateway({ ...config, service }, log, systemClock, open);
  stopOnSignal({ gateway, sandbox, graceMs: config.shutdownGraceMs, log });
  log.info({ url: gateway.url, service: sandbox ? 'embedded sandbox' : service.baseUrl }, 'listening');
  if (sandbox) process.stdout.write(greeting(gateway.url, sandbox.url));
}

interface Running {
  gateway: Gateway;
  sandbox: Sandbox | null;
  graceMs: number;
  log: Logger;
}

/** The first signal lets work in flight end; the grace running out, or a second signal, does not. */
function stopOnSignal({ gateway, sandbox, graceMs, log }: Running): void {
  let stopping = false;
  const giveUp = (): void => {
    gateway.abandon();
    process.exit(1);
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return giveUp();
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(giveUp, graceMs).unref();
    await gateway.close();
    await sandbox?.close();
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(giveUp));
  }
}

/** What is wrong at start, in words for the operator; never a value of a setting. */
function startFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const { code, port } = Object.assign({ code: '', port: 0 }, error);
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use: set PORT or SANDBOX_PORT to another, or to 0 for any free one.`;
  return error instanceof Error ? (error.stack ?? error.message) : 'The gateway could not start.';
}
