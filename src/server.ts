import 'reflect-metadata';
import process from 'node:process';
import type { Logger } from 'pino';
import { systemClock } from './shared/clock';
import { allowsUnauthenticatedCallers, type Config } from './config';
import { startGateway, type Gateway, type OpenJournal } from './app/gateway';
import { startupBanner } from './app/startup-banner';
import { createLog } from './shared/logger';
import { sleep } from './shared/timeout';
import { startSandbox, type Sandbox } from './sandbox/server';
import { readStartConfig } from './app/startup-check';
import { describeStartupError } from './app/startup-error';

/**
 * Reads the settings, starts the gateway, and stops it on SIGTERM or SIGINT. Exits with code 1 if the start fails.
 * @param open opens the journal instead of openJournal(), in tests and benchmarks
 */
export async function main(open?: OpenJournal): Promise<void> {
  try {
    await run(readStartConfig(), open);
  } catch (error) {
    process.stderr.write(`${describeStartupError(error)}\n`);
    process.exit(1);
  }
}

async function run(config: Config, open?: OpenJournal): Promise<void> {
  const log = createLog(config.logLevel);
  // Ignore errors of stdout, such as EPIPE if the output is piped to `head`.
  process.stdout.on('error', () => undefined);
  config.warnings.forEach((warning) => log.warn(warning));
  const options = { credentials: config.service, servesDevJwks: true, logger: log };
  const sandbox = config.sandbox && (await startSandbox({ ...config.sandbox, ...options }));
  const service = sandbox ? { ...config.service, baseUrl: sandbox.url } : config.service;
  const gateway = await startGateway({ ...config, service }, log, systemClock, { open });
  stopOnSignal(gateway, sandbox, config, log);
  const { url, metricsUrl } = gateway;
  const serviceText = sandbox ? 'embedded sandbox' : service.baseUrl;
  log.info({ url, ...(metricsUrl && { metricsUrl }), service: serviceText }, 'listening');
  log.flush();
  if (!sandbox) return;
  const banner = {
    gatewayUrl: url,
    sandboxUrl: sandbox.url,
    hasExplorer: config.explorer,
    requiresCredentials: !allowsUnauthenticatedCallers(config.access),
  };
  process.stdout.write(startupBanner(banner));
}

/**
 * Handles SIGTERM and SIGINT. The first signal drains the gateway for `delayMs`, then closes it and waits for work in
 * flight. The process exits with code 1 if closing fails or takes longer than `graceMs`, or at a second signal.
 */
function stopOnSignal(
  gateway: Gateway,
  sandbox: Sandbox | null,
  { shutdownDelayMs: delayMs, shutdownGraceMs: graceMs }: Config,
  log: Logger,
): void {
  let isStopping = false;
  const forceExit = (): void => {
    gateway.closeAllConnections();
    process.exit(1);
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (isStopping) return forceExit();
    isStopping = true;
    log.info({ signal, delayMs }, 'stopping');
    if (delayMs > 0) {
      gateway.startDraining();
      await sleep(delayMs);
    }
    setTimeout(forceExit, graceMs).unref();
    await gateway.close();
    await sandbox?.close();
    log.info('the gateway has stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(forceExit));
  }
}
