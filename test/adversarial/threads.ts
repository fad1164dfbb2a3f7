import { once } from 'node:events';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

export interface FloodFigures {
  /** Responses with data in time. */
  useful: number;
  /** Responses that allow a retry. */
  refused: number;
  /** Callers that timed out. */
  gaveUp: number;
  /** Closed connections, and all other responses. */
  failed: number;
  /** Requests for which no connection was free. */
  notSent: number;
  sent: number;
  /** Longest duration of a useful response. */
  slowestMs: number;
  seconds: number;
}

export interface FloodOptions {
  request: string;
  ms: number;
  /** Not counted. */
  warmUpMs: number;
  /** Requests per second, however many are in flight; or the number of callers that wait for each response. */
  rate?: number;
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
  thread.postMessage({ host, port: Number(port), patienceMs: TIMEOUT_MS, ...options });
  return nextMessage<FloodFigures>(thread).finally(() => thread.terminate());
}

/** Polls the health of a gateway until it is closed. `seen` is what it observed since the last call. */
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
