import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

/** What came of a flood, without its warm-up. */
export interface FloodFigures {
  /** Answers with data, in time. */
  useful: number;
  /** Refused, with leave to ask again. */
  refused: number;
  /** Callers that waited too long. */
  gaveUp: number;
  /** Connections that ended, and any other answer. */
  failed: number;
  /** Questions for which there was no connection left. */
  notSent: number;
  sent: number;
  /** The slowest useful answer. */
  slowestMs: number;
  seconds: number;
}

export interface FloodOptions {
  /** The whole request, as it is written. */
  request: string;
  ms: number;
  /** So much of it is not counted. */
  warmUpMs: number;
  /** Questions a second, however many are open; or so many callers that wait for each answer. */
  rate?: number;
  callers?: number;
}

/** How long a caller waits. */
const PATIENCE_MS = 10_000;

const inThread = (file: string, workerData?: object): Worker =>
  new Worker(path.resolve('test/adversarial', file), { workerData });

async function told<T>(thread: Worker): Promise<T> {
  const [message] = (await once(thread, 'message')) as [T];
  return message;
}

/** Asks the gateway the same again and again, from a thread of its own. */
export async function flood(url: string, options: FloodOptions): Promise<FloodFigures> {
  const { hostname: host, port } = new URL(url);
  const thread = inThread('flood-worker.mjs');
  thread.postMessage({ host, port: Number(port), patienceMs: PATIENCE_MS, ...options });
  return told<FloodFigures>(thread).finally(() => thread.terminate());
}

/** Asks a gateway for its health until it is closed. `seen` is what it saw since it was last asked. */
export async function watchHealth(url: string) {
  const thread = inThread('health-watch.mjs', { url });
  await told(thread);
  return {
    seen: () => {
      thread.postMessage('seen');
      return told<{ worstMs: number; failures: number }>(thread);
    },
    close: () => thread.terminate(),
  };
}
