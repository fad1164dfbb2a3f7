import 'reflect-metadata';
import process from 'node:process';
import type { Logger } from 'pino';
import { systemClock } from './shared/clock';
import { allowsUnauthenticatedCallers, type Config } from './config';
import { startGateway, type Gateway, type JournalOpener } from './app/gateway';
import { startupBanner } from './app/startup-banner';
import { createLog } from './shared/logger';
import { sleep } from './shared/timeout';
import { startSandbox, type Sandbox } from './sandbox/server';
import { readStartConfig } from './app/startup-check';
import { describeStartupError } from './app/startup-error';

/**
 * Reads the settings, starts the gateway, and stops it on SIGTERM or SIGINT. Exits with code 1 if the start fails.
 * @param openJournal opens the journal. Default: openJournal() of create-journal.ts. Passed by tests and benchmarks.
 */
export async function main(openJournal?: JournalOpener): Promise<void> {
  try {
    await startServers(readStartConfig(), openJournal);
  } catch (error) {
    process.stderr.write(`${describeStartupError(error)}\n`);
    process.exit(1);
  }
}

async function startServers(config: Config, openJournal?: JournalOpener): Promise<void> {
  const log = createLog(config.logLevel);
  // Ignore errors of stdout, such as EPIPE if the output is piped to `head`.
  process.stdout.on('error', () => undefined);
  config.warnings.forEach((warning) => log.warn(warning));
  const sandboxOptions = { credentials: config.service, servesDevJwks: true, logger: log };
  const sandbox = config.sandbox && (await startSandbox({ ...config.sandbox, ...sandboxOptions }));
  const serviceBaseUrl = sandbox?.url ?? config.service.baseUrl;
  const gatewayConfig = { ...config, service: { ...config.service, baseUrl: serviceBaseUrl } };
  const gateway = await startGateway(gatewayConfig, log, systemClock, { openJournal });
  stopOnSignal(gateway, sandbox, config, log);
  const { url, metricsUrl } = gateway;
  const serviceDescription = sandbox ? 'embedded sandbox' : config.service.baseUrl;
  log.info({ url, ...(metricsUrl && { metricsUrl }), service: serviceDescription }, 'listening');
  log.flush();
  if (!sandbox) return;
  const bannerOptions = {
    gatewayUrl: url,
    sandboxUrl: sandbox.url,
    hasExplorer: config.explorer,
    requiresCredentials: !allowsUnauthenticatedCallers(config.access),
  };
  process.stdout.write(startupBanner(bannerOptions));
}

/**
 * Handles SIGTERM and SIGINT. The first signal drains the gateway for `shutdownDelayMs`, then closes it. The process
 * exits with code 1 if closing fails or takes longer than `shutdownGraceMs`, or at a second signal.
 */
function stopOnSignal(
  gateway: Gateway,
  sandbox: Sandbox | null,
  { shutdownDelayMs, shutdownGraceMs }: Config,
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
    log.info({ signal, delayMs: shutdownDelayMs }, 'stopping');
    if (shutdownDelayMs > 0) {
      gateway.startDraining();
      await sleep(shutdownDelayMs);
    }
    setTimeout(forceExit, shutdownGraceMs).unref();
    await gateway.close();
    await sandbox?.close();
    log.info('the gateway has stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(forceExit));
  }
}
