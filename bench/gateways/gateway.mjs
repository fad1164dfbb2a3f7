// Starts a measured gateway on its core, waits for its first response, and stops it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { sleep } from '../subscriptions/clock.mjs';
import { Connection, requestText } from './connection.mjs';
import { cpuOf, onGatewayCore, rssOf, treeOf } from './machine.mjs';

const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 10_000;
const RETRY_MS = 3;

/** Running gateways, killed when this program ends in any way. */
const running = new Set();
process.on('exit', () => running.forEach((pid) => process.kill(-pid, 'SIGKILL')));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** Whether the gateway already responds to a minimal request with success. */
async function answers(port, text) {
  let connection;
  try {
    connection = await Connection.open(port);
    const { status } = await connection.ask(text);
    return status < 300;
  } catch {
    return false;
  } finally {
    connection?.close();
  }
}

const environmentOf = (env) => ({ PATH: process.env.PATH, HOME: process.env.HOME, ...env });

/** Starts a gateway; resolves at its first successful response. */
export async function startGateway(entry, serviceUrl, parent) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(path.join(parent, 'gateway-'));
  const port = await freePort();
  const { command, args, env, cwd } = await entry.start({ port, serviceUrl, folder });
  const logFile = path.join(folder, 'output.log');
  const log = openSync(logFile, 'w');
  const startedAt = performance.now();
  const child = spawn(...onGatewayCore(command, args), {
    cwd,
    env: environmentOf(env),
    stdio: ['ignore', log, log],
    // The gateway has its own process group, so that it is stopped with its child processes.
    detached: true,
  });
  closeSync(log);
  running.add(child.pid);
  const ended = once(child, 'exit').finally(() => running.delete(child.pid));
  const text = requestText(entry.requests.tiny());
  while (!(await answers(port, text))) {
    if (child.exitCode !== null || performance.now() - startedAt > START_TIMEOUT_MS) {
      throw new Error(`${entry.name} does not respond: ${readFileSync(logFile, 'utf8').slice(-2000)}`);
    }
    await sleep(RETRY_MS);
  }
  const startMs = performance.now() - startedAt;
  return {
    entry,
    port,
    startMs,
    cpuMs: () => cpuOf(treeOf(child.pid)),
    rss: () => rssOf(treeOf(child.pid)),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      process.kill(-child.pid, 'SIGTERM');
      const stopped = await Promise.race([ended, setTimeout(STOP_TIMEOUT_MS, null, { ref: false })]);
      if (!stopped) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}
