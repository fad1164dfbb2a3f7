import 'reflect-metadata';
import cluster from 'node:cluster';
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { systemClock } from './clock';
import { DEV_JWKS_FILE, DEV_JWKS_PATH } from './access/dev-issuer';
import { isOpen, readConfig, readSettings, type Config } from './config';
import type { Gateway, Means, OpenJournal } from './gateway';
import { greeting } from './greeting';
import { createLog } from './log';
import { startEmbeddedSandbox } from './sandbox/embedded';
import type { Sandbox } from './sandbox/server';
import type { Report, Siblings } from './siblings';
import { readStartConfig } from './start-config';
import { startFault } from './start-fault';
import type { WorkerStart } from './workers/messages';
import { Workers } from './workers/primary';
import { runAsWorker, type Work } from './workers/worker';

/**
 * The program: reads the settings, starts the parts, stops them on a signal. Where it was started as one of several
 * WORKERS it does what the first process says instead.
 * @param open opens the journal of an address; for tests, which have a more patient one
 */
export async function main(open?: OpenJournal): Promise<void> {
  if (cluster.worker) return runAsWorker(cluster.worker, (...given) => beginWork(open, ...given));
  try {
    await run(await readStartConfig(), open);
  } catch (error) {
    process.stderr.write(`${startFault(error)}\n`);
    process.exit(1);
  }
}

/** The public key of `paygraph dev-token`, served where a gateway with the sandbox can read it. */
const DEV_JWKS = { file: DEV_JWKS_FILE, path: DEV_JWKS_PATH };

async function run(config: Config, open?: OpenJournal): Promise<void> {
  const log = createLog(config.logLevel);
  // Who reads what is printed may leave (`| head`): a gateway stays.
  process.stdout.on('error', () => undefined);
  config.warnings.forEach((warning) => log.warn(warning));
  const sandbox =
    config.sandbox &&
    (await startEmbeddedSandbox({ ...config.sandbox, jwks: DEV_JWKS }, config.service, log));
  const gateway =
    config.workers > 1
      ? await Workers.start({ count: config.workers, start: startOf(sandbox), log, countedBy })
      : await begin(atSandbox(config, sandbox), log, { open });
  const { shutdownDelayMs: delayMs, shutdownGraceMs: graceMs } = config;
  stopOnSignal({ gateway, sandbox, delayMs, graceMs, log });
  const service = sandbox ? 'embedded sandbox' : config.service.baseUrl;
  log.info({ url: gateway.url, service, workers: config.workers }, 'listening');
  log.flush();
  if (sandbox) process.stdout.write(greeting(greeted(config, gateway.url, sandbox.url)));
}

const greeted = ({ explorer, access }: Config, gatewayUrl: string, sandboxUrl: string) => ({
  gatewayUrl,
  sandboxUrl,
  hasExplorer: explorer,
  wantsKey: !isOpen(access),
});

/** Loaded when it is started: a process that only starts workers does without it, and is sooner there. */
async function begin(config: Config, log: Logger, means: Means): Promise<Gateway> {
  const { startGateway } = await import('./gateway.js');
  return startGateway(config, log, systemClock, means);
}

/** Loaded when it is needed: when a worker has ended. */
const countedBy = async (reports: readonly Report[]): Promise<Report> =>
  (await import('./metrics/reports.js')).countedBy(reports);

const atSandbox = (config: Config, sandbox: { url: string } | null): Config =>
  sandbox ? { ...config, service: { ...config.service, baseUrl: sandbox.url } } : config;

const startOf = (sandbox: Sandbox | null): WorkerStart => ({
  settings: readSettings(),
  sandbox: sandbox && { url: sandbox.url, id: randomUUID() },
});

async function beginWork(
  open: OpenJournal | undefined,
  { settings, sandbox }: WorkerStart,
  siblings: Siblings,
): Promise<Work> {
  const config = readConfig(settings);
  const log = createLog(config.logLevel);
  const means = { open, siblings, sandboxId: sandbox?.id };
  const gateway = await begin(atSandbox(config, sandbox), log, means);
  return { ...gateway, graceMs: config.shutdownGraceMs };
}

interface Running {
  gateway: Pick<Gateway, 'drain' | 'close' | 'abandon'>;
  sandbox: Sandbox | null;
  delayMs: number;
  graceMs: number;
  log: Logger;
}

/**
 * The first signal drains the gateway for the delay, and then lets work in flight end; the end of the grace period, or a
 * second signal, does not.
 */
function stopOnSignal({ gateway, sandbox, delayMs, graceMs, log }: Running): void {
  let stopping = false;
  const giveUp = (): void => {
    gateway.abandon();
    process.exit(1);
  };
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return giveUp();
    stopping = true;
    log.info({ signal, delayMs }, 'stopping');
    if (delayMs > 0) {
      gateway.drain();
      await sleep(delayMs);
    }
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
