import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

export interface FloodFigures {
  /** Number of responses with data within the timeout. */
  useful: number;
  /** Number of responses with status 429 or 503. */
  refused: number;
  /** Number of requests that got no response within the timeout. */
  timedOut: number;
  /** Number of connections that closed early, and of all other responses. */
  failed: number;
  /** Number of requests for which no connection was free. */
  notSent: number;
  sent: number;
  /** Longest duration of a useful response. */
  slowestMs: number;
  seconds: number;
}

export interface FloodOptions {
  request: string;
  ms: number;
  /** Time at the start whose responses are not counted, in ms. */
  warmUpMs: number;
  /** Requests per second, however many are in flight. */
  rate?: number;
  /** Instead of `rate`: number of callers, each of which waits for a response before its next request. */
  callers?: number;
}

const TIMEOUT_MS = 10_000;

const inThread = (file: string, workerData?: object): Worker =>
  new Worker(path.resolve('test/adversarial', file), { workerData });

async function nextMessage<T>(thread: Worker): Promise<T> {
  const [message] = (await once(thread, 'message')) as [T];
  return message;
}

/** Sends the same request to a gateway repeatedly, from a thread of its own. */
export async function flood(url: string, options: FloodOptions): Promise<FloodFigures> {
  const { hostname: host, port } = new URL(url);
  const thread = inThread('flood-worker.mjs');
  thread.postMessage({ host, port: Number(port), timeoutMs: TIMEOUT_MS, ...options });
  return nextMessage<FloodFigures>(thread).finally(() => thread.terminate());
}

/** Polls /healthz until `close` is called. `seen` resolves with what was observed since its last call. */
export async function watchHealth(url: string) {
  const thread = inThread('health-watch.mjs', { url });
  await nextMessage(thread);
  return {
    seen: () => {
      thread.postMessage('seen');
      return nextMessage<{ worstMs: number; failures: number }>(thread);
    },
    close: () => thread.terminate(),
  };
}
