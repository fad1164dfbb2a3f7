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
  /** How long a caller waits. */
  patienceMs: number;
  /** Questions a second, however many are open; or so many callers that wait for each answer. */
  rate?: number;
  callers?: number;
}

const inThread = (file: string, workerData?: object): Worker =>
  new Worker(path.resolve('test/attack', file), { workerData });

/** Asks the gateway the same again and again, from a thread of its own. */
export async function flood(url: string, options: FloodOptions): Promise<FloodFigures> {
  const { hostname: host, port } = new URL(url);
  const thread = inThread('flood-worker.mjs');
  try {
    thread.postMessage({ host, port: Number(port), ...options });
    const [figures] = (await once(thread, 'message')) as [FloodFigures];
    return figures;
  } finally {
    await thread.terminate();
  }
}

export interface HealthFigures {
  /** The longest that an answer took. */
  worstMs: number;
  asked: number;
  failures: number;
}

/** Watches the health of a gateway from outside. */
export class HealthWatch {
  readonly #thread: Worker;

  private constructor(thread: Worker) {
    this.#thread = thread;
  }

  /** Resolves when the first answer is there. */
  static async start(url: string): Promise<HealthWatch> {
    const thread = inThread('health-watch.mjs', { url });
    await once(thread, 'message');
    return new HealthWatch(thread);
  }

  /** What was seen since it was last asked. */
  async seen(): Promise<HealthFigures> {
    this.#thread.postMessage('seen');
    const [figures] = (await once(this.#thread, 'message')) as [HealthFigures];
    return figures;
  }

  async close(): Promise<void> {
    await this.#thread.terminate();
  }
}
