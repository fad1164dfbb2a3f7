import cluster, { type Worker } from 'node:cluster';
import { performance } from 'node:perf_hooks';
import type { Logger } from 'pino';
import type { Report } from '../siblings';
import { StartFault } from '../start-fault';
import type { ToPrimary, ToWorker, WorkerStart } from './messages';
import { Reports } from './reports';

/** A worker that ends is replaced after this pause; each one more that ends doubles it, up to the last. */
const FIRST_PAUSE_MS = 100;
const LAST_PAUSE_MS = 30_000;
/** After a worker that has listened for so long the pause is the first one again. */
const HELD_MS = 60_000;

interface WorkersOptions {
  count: number;
  start: WorkerStart;
  log: Logger;
  /** What several workers have counted in all. */
  countedBy(reports: readonly Report[]): Promise<Report>;
}

interface Running {
  worker: Worker;
  /** When it began to listen, by the clock of `performance`; null before. */
  listeningSince: number | null;
  watches: boolean;
  /** Whether it ended in order; never rejects. */
  ended: Promise<boolean>;
}

/** The processes that answer on the port: begun, replaced when they end, told of each other, stopped. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #running = new Set<Running>();
  readonly #reports: Reports<Running>;
  #url = '';
  /** Whether all have listened, and are replaced from then on. */
  #isUp = false;
  #isDraining = false;
  #isStopping = false;
  /** So many ended since one last held. */
  #ended = 0;
  readonly #pauses = new Set<NodeJS.Timeout>();

  private constructor(options: WorkersOptions) {
    this.#options = options;
    this.#reports = new Reports({
      ask: ({ worker }, id) => tell(worker, { kind: 'report', id }),
      countedBy: options.countedBy,
    });
  }

  /**
   * Resolves when all listen. Rejects with a StartFault, in the worker's own words, when one of them cannot; then none
   * is left.
   */
  static async start(options: WorkersOptions): Promise<Workers> {
    const workers = new Workers(options);
    try {
      // One first: it makes the tables of the journal, and what is wrong for all is found, and told, once.
      await workers.#begin();
      await Promise.all(Array.from({ length: options.count - 1 }, () => workers.#begin()));
    } catch (error) {
      workers.abandon();
      throw error;
    }
    workers.#isUp = true;
    return workers;
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#url;
  }

  /** Has all of them fail readiness and ask clients to go elsewhere. */
  drain(): void {
    this.#isDraining = true;
    for (const { worker } of this.#running) tell(worker, { kind: 'drain' });
  }

  /** Stops all in order; rejects where one could not end so, after all have ended. */
  async close(): Promise<void> {
    this.#isStopping = true;
    this.#pauses.forEach(clearTimeout);
    const running = [...this.#running];
    running.forEach(({ worker }) => tell(worker, { kind: 'stop' }));
    const inOrder = await Promise.all(running.map(({ ended }) => ended));
    if (inOrder.includes(false)) throw new Error('A worker did not end in order.');
  }

  /** Ends all at once. */
  abandon(): void {
    this.#isStopping = true;
    this.#pauses.forEach(clearTimeout);
    this.#running.forEach(({ worker }) => worker.process.kill('SIGKILL'));
  }

  /** Begins one, and resolves when it listens. */
  #begin(): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const worker = cluster.fork();
    const ended = Promise.withResolvers<boolean>();
    const each: Running = { worker, listeningSince: null, watches: false, ended: ended.promise };
    this.#running.add(each);
    worker.on('message', (message: ToPrimary) => {
      if (message.kind === 'fault') reject(new StartFault(message.why));
      else if (message.kind === 'listening') resolve(undefined);
      this.#take(each, message);
    });
    onEnd(worker, (how) => {
      this.#running.delete(each);
      this.#reports.ended(each);
      // One that has not begun to listen has nothing to end in order.
      ended.resolve(how.code === 0 || each.listeningSince === null);
      reject(new StartFault(`A worker ended before it listened (${how.signal ?? `exit code ${how.code}`}).`));
      this.#tellWhetherOthersWatch();
      this.#replace(each, how);
    });
    return promise;
  }

  #take(from: Running, message: ToPrimary): void {
    const { log, start } = this.#options;
    switch (message.kind) {
      case 'ready':
        return tell(from.worker, this.#isStopping ? { kind: 'stop' } : { kind: 'start', start });
      case 'listening':
        from.listeningSince = performance.now();
        this.#url = message.url;
        log.info({ worker: from.worker.process.pid }, 'a worker listens');
        if (this.#isDraining) tell(from.worker, { kind: 'drain' });
        return this.#tellWhetherOthersWatch();
      case 'watch':
        from.watches = message.something;
        return this.#tellWhetherOthersWatch();
      case 'say':
        return this.#othersOf(from).forEach(({ worker }) =>
          tell(worker, { kind: 'said', said: message.said }),
        );
      case 'report':
        return this.#reports.take(from, message.id, message.report);
      case 'exchange':
        return this.#exchange(from, message.id, message.report);
      case 'fault':
        if (this.#isUp) log.error({ why: message.why }, 'a worker could not start');
    }
  }

  #exchange(from: Running, id: number, own: Report): void {
    void this.#reports
      .exchange(from, own, this.#othersOf(from))
      .then((reports) => tell(from.worker, { kind: 'reports', id, reports }));
  }

  #othersOf(one: Running): Running[] {
    return [...this.#running].filter((other) => other !== one && other.listeningSince !== null);
  }

  #tellWhetherOthersWatch(): void {
    for (const each of this.#running) {
      const others = this.#othersOf(each).some(({ watches }) => watches);
      if (each.listeningSince !== null) tell(each.worker, { kind: 'othersWatch', others });
    }
  }

  #replace({ worker, listeningSince }: Running, how: End): void {
    if (this.#isStopping || !this.#isUp) return;
    if (listeningSince !== null && performance.now() - listeningSince >= HELD_MS) this.#ended = 0;
    const pauseMs = Math.min(LAST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#ended);
    this.#ended += 1;
    this.#options.log.error(
      { worker: worker.process.pid, ...how, pauseMs },
      'a worker has ended and is replaced',
    );
    // Not a timer of the gateway's clock: where no worker is left, this one alone keeps the process alive.
    const pause = setTimeout(() => {
      this.#pauses.delete(pause);
      // Why it did not listen has been told; its end is what it is replaced for.
      this.#begin().catch(() => undefined);
    }, pauseMs);
    this.#pauses.add(pause);
  }
}

/** How a worker ended. */
interface End {
  code: number | null;
  signal: string | null;
}

/** Tells once how a worker ended, after all that it said before. */
function onEnd(worker: Worker, told: (how: End) => void): void {
  worker.once('exit', (code: number | null, signal: string | null) => {
    const tellHow = (): void => told({ code, signal });
    if (worker.isConnected()) worker.once('disconnect', tellHow);
    else tellHow();
  });
  worker.on('error', () => {
    // The system has no room for another process. Whatever else goes wrong with a worker ends it, and that is told.
    if (worker.process.pid === undefined) told({ code: null, signal: null });
  });
}

/** A worker that has just ended hears nothing, and its end is told elsewhere. */
function tell(worker: Worker, message: ToWorker): void {
  worker.process.send?.(message, () => undefined);
}
