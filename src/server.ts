import 'reflect-metadata';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { systemClock } from './shared/clock';
import { DEV_JWKS_FILE, DEV_JWKS_PATH } from './shared/dev-issuer';
import { isOpen, type Config } from './config';
import { startGateway, type Gateway, type OpenJournal } from './app/gateway';
import { startupBanner } from './app/startup-banner';
import { createLog } from './shared/logger';
import { startEmbeddedSandbox } from './sandbox/embedded';
import type { Sandbox } from './sandbox/server';
import { readStartConfig } from './app/startup-check';
import { describeStartupError } from './app/startup-error';

/**
 * The program: reads the settings, starts the gateway and stops it on SIGTERM or SIGINT.
 * @param open opens the journal; for tests
 */
export async function main(open?: OpenJournal): Promise<void> {
  try {
    await run(readStartConfig(), open);
  } catch (error) {
    process.stderr.write(`${describeStartupError(error)}\n`);
    process.exit(1);
  }
}

/** The public key of `paygraph dev-token`, served by the sandbox. */
const DEV_JWKS = { file: DEV_JWKS_FILE, path: DEV_JWKS_PATH };

async function run(config: Config, open?: OpenJournal): Promise<void> {
  const log = createLog(config.logLevel);
  // Ignore EPIPE on stdout, for example when piped to `head`.
  process.stdout.on('error', () => undefined);
  config.warnings.forEach((warning) => log.warn(warning));
  const sandbox =
    config.sandbox &&
    (await startEmbeddedSandbox({ ...config.sandbox, jwks: DEV_JWKS }, config.service, log));
  const gateway = await startGateway(atSandbox(config, sandbox), log, systemClock, { open });
  const { shutdownDelayMs: delayMs, shutdownGraceMs: graceMs } = config;
  stopOnSignal({ gateway, sandbox, delayMs, graceMs, log });
  const service = sandbox ? 'embedded sandbox' : config.service.baseUrl;
  log.info(
    { url: gateway.url, ...(gateway.metricsUrl && { metricsUrl: gateway.metricsUrl }), service },
    'listening',
  );
  log.flush();
  if (!sandbox) return;
  const banner = {
    gatewayUrl: gateway.url,
    sandboxUrl: sandbox.url,
    hasExplorer: config.explorer,
    needsKey: !isOpen(config.access),
  };
  process.stdout.write(startupBanner(banner));
}

const atSandbox = (config: Config, sandbox: { url: string } | null): Config =>
  sandbox ? { ...config, service: { ...config.service, baseUrl: sandbox.url } } : config;

interface Running {
  gateway: Pick<Gateway, 'drain' | 'close' | 'abandon'>;
  sandbox: Sandbox | null;
  delayMs: number;
  graceMs: number;
  log: Logger;
}

/**
 * The first signal drains the gateway for the delay, then closes it and waits for work in flight. The process exits with code 1 at
 * the end of the grace period, or at a second signal.
 */
function stopOnSignal({ gateway, sandbox, delayMs, graceMs, log }: Running): void {
  let stopping = false;
  const forceExit = (): void => {
    gateway.abandon();
    process.exit(1);
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return forceExit();
    stopping = true;
    log.info({ signal, delayMs }, 'stopping');
    if (delayMs > 0) {
      gateway.drain();
      await sleep(delayMs);
    }
    setTimeout(forceExit, graceMs).unref();
    await gateway.close();
    await sandbox?.close();
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(forceExit));
  }
}
