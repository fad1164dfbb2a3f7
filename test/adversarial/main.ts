import { once } from 'node:events';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { CHANNEL, Caller } from '../support/caller';
import { AUTHORIZED } from '../support/credentials';
import { FakePaymentService } from '../support/payment-service/fake-payment-service';
import { Program } from '../support/program';
import { openStore } from '../support/stores';
import { postText } from '../support/wire';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

/** Minimum useful throughput during a flood, as a fraction of the peak throughput. */
const MIN_SHARE = 0.8;
/** Requests offered during a flood, as a multiple of the peak throughput. */
const OVERLOAD_FACTOR = 10;
const CALLERS = 64;
const FAST_RESPONSE_MS = 100;
const TIMEOUT_MS = 10_000;
const HEALTH_PAUSE_MS = 10;

/** The figures of a flood. `useful`: number of responses with data within the timeout. */
interface FloodFigures {
  useful: number;
  seconds: number;
}

interface FloodOptions {
  ms: number;
  /** Time at the start whose responses are not counted, in ms. */
  warmUpMs: number;
  /** Requests per second, however many are in flight. */
  rate?: number;
  /** Instead of `rate`: number of callers, each of which waits for a response before its next request. */
  callers?: number;
}

const lookup = (externalId: string): string =>
  `{ payment(channel: "${CHANNEL}", externalId: "${externalId}") { __typename } }`;

/** Sends lookups to a gateway repeatedly, from a thread of its own, which replaces `########` by a number. */
async function flood(base: string, options: FloodOptions): Promise<FloodFigures> {
  const { host, hostname, port } = new URL(base);
  const headers = [`Host: ${host}`, `Authorization: ${AUTHORIZED.authorization}`];
  const request = postText(JSON.stringify({ query: lookup('flood-########') }), headers);
  const thread = new Worker(path.join(__dirname, 'flood-worker.mjs'));
  thread.postMessage({ host: hostname, port: Number(port), request, timeoutMs: TIMEOUT_MS, ...options });
  const [figures] = (await once(thread, 'message')) as [FloodFigures];
  await thread.terminate();
  return figures;
}

/** Waits until five responses in a row are fast, because work of an earlier flood may still be in progress. */
async function untilResponsive(caller: Caller): Promise<void> {
  for (let quick = 0; quick < 5;) {
    const startedAt = performance.now();
    await caller.request(lookup(`calm-${startedAt}`)).catch(() => undefined);
    quick = performance.now() - startedAt < FAST_RESPONSE_MS ? quick + 1 : 0;
  }
}

const perSecond = ({ useful, seconds }: FloodFigures): number => useful / seconds;
const mean = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

/** Offers ten times the capacity. Baselines and floods alternate, so that other load on the machine affects both. */
async function overload(base: string, ms: number): Promise<string[]> {
  const baseline = async (share: number): Promise<number> => {
    await untilResponsive(new Caller(base));
    return perSecond(await flood(base, { ms: ms * share, warmUpMs: ms * share * 0.4, callers: CALLERS }));
  };
  // Warm-up: code of a new process is not compiled yet.
  await baseline(0.2);
  const peaks = [await baseline(0.12)];
  const useful: number[] = [];
  for (let round = 0; round < 2; round += 1) {
    const rate = mean(peaks) * OVERLOAD_FACTOR;
    const figures = await flood(base, { ms: ms * 0.22, warmUpMs: ms * 0.07, rate });
    writeLine(`flood: ${JSON.stringify(figures)}`);
    useful.push(perSecond(figures));
    peaks.push(await baseline(0.12));
  }
  const share = mean(useful) / mean(peaks);
  const result = `useful throughput was ${Math.round(share * 100)} % of the peak (${Math.round(mean(peaks))}/s)`;
  writeLine(result);
  return share < MIN_SHARE ? [result] : [];
}

/** Polls /healthz until `signal` is aborted. Resolves with the failures. */
async function watchHealth(base: string, signal: AbortSignal): Promise<string[]> {
  let [worstMs, failures] = [0, 0];
  while (!signal.aborted) {
    const startedAt = performance.now();
    const response = await fetch(`${base}/healthz`).catch(() => undefined);
    await response?.arrayBuffer();
    worstMs = Math.max(worstMs, performance.now() - startedAt);
    if (response?.status !== 200) failures += 1;
    await pause(HEALTH_PAUSE_MS);
  }
  writeLine(`slowest /healthz: ${Math.round(worstMs)} ms`);
  return failures > 0 ? [`/healthz failed ${failures} times`] : [];
}

/** Floods a gateway in its own process, configured as in production; resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '50' } } });
  const [service, store] = await Promise.all([FakePaymentService.start(), openStore('SQLite')]);
  const auditLog = path.resolve(`data/attack-${process.pid}.log`);
  const env = {
    AUDIT_LOG_FILE: auditLog,
    RATE_LIMIT_PER_MINUTE: '0',
    SERVICE_TIMEOUT_MS: '10000',
    MAX_EVENT_LOOP_LAG_MS: '1000',
  };
  const program = await Program.start({ serviceUrl: service.url, databaseUrl: store.url, env });
  const base = program.url.replace(/\/graphql$/, '');
  try {
    const ended = new AbortController();
    const health = watchHealth(base, ended.signal);
    const breaches = await overload(base, (Number(values.seconds) * 1000) / 2);
    ended.abort();
    breaches.push(...(await health));
    program.signal('SIGTERM');
    const code = await program.exited;
    if (code !== 0) breaches.push(`exit code ${code}: ${program.output().slice(-1000)}`);
    for (const breach of breaches) writeLine(`SUCCEEDED: ${breach}`);
    if (breaches.length === 0) writeLine('The attack did not succeed.');
    return breaches.length === 0 ? 0 : 1;
  } finally {
    await program.kill();
    await service.close();
    await store.drop();
    rmSync(auditLog, { force: true });
  }
}
