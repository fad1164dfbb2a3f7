import type { Worker } from 'node:cluster';
import process from 'node:process';
import type { Report, Siblings, SiblingTopics } from '../siblings';
import { startFault } from '../start-fault';
import type { Said, ToPrimary, ToWorker, WorkerStart } from './messages';

/** What a worker does, as far as it has to be stopped. */
export interface Work {
  /** Where it listens. */
  url: string;
  /** How long work may take to end when there is no primary to say so, in milliseconds. */
  graceMs: number;
  /** Fails readiness and asks clients to go elsewhere. */
  drain(): void;
  /** Takes no more work and resolves when what is under way has ended. */
  close(): Promise<void>;
}

/**
 * One of several processes that answer on a port: does what the primary says, and ends when that is gone.
 * @param begin starts the work; what goes wrong there is told to the primary
 */
export function runAsWorker(
  worker: Worker,
  begin: (start: WorkerStart, siblings: Siblings) => Promise<Work>,
): void {
  const siblings = new PrimaryLine(worker);
  let work: Work | undefined;
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    const closed = work ? work.close() : Promise.resolve();
    closed.then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  const start = async (given: WorkerStart): Promise<void> => {
    try {
      work = await begin(given, siblings);
      siblings.tell({ kind: 'listening', url: work.url });
    } catch (error) {
      siblings.tell({ kind: 'fault', why: startFault(error) }, () => process.exit(1));
    }
  };
  // A terminal, or a supervisor, signals all processes at once: when this one ends is for the primary to say.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => undefined);
  worker.on('message', (message: ToWorker) => {
    if (message.kind === 'start') void start(message.start);
    else if (message.kind === 'drain') work?.drain();
    else if (message.kind === 'stop') end();
    else siblings.take(message);
  });
  worker.on('disconnect', () => {
    // The primary has died. Left as it is, node:cluster would end this process in the middle of its work.
    worker.exitedAfterDisconnect = true;
    setTimeout(() => process.exit(1), work?.graceMs ?? 0).unref();
    end();
  });
  siblings.tell({ kind: 'ready' });
}

/** How long the primary may take to gather what the others report. */
const EXCHANGE_MS = 5000;

type Listeners = { [T in keyof SiblingTopics]?: (content: SiblingTopics[T]) => void };

/** The line to the primary, and through it to the siblings. */
class PrimaryLine implements Siblings {
  othersWatch = false;
  readonly #worker: Worker;
  readonly #listeners: Listeners = {};
  readonly #exchanges = new Map<number, (reports: readonly Report[]) => void>();
  #exchanged = 0;
  #makeReport: () => Promise<Report> = () => Promise.resolve([]);

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  say<T extends keyof SiblingTopics>(topic: T, content: SiblingTopics[T]): void {
    this.tell({ kind: 'say', said: { topic, content } as Said });
  }

  hear<T extends keyof SiblingTopics>(topic: T, heard: (content: SiblingTopics[T]) => void): void {
    this.#listeners[topic] = heard as Listeners[T];
  }

  reportWith(make: () => Promise<Report>): void {
    this.#makeReport = make;
  }

  exchangeReports(own: Report): Promise<readonly Report[]> {
    return new Promise((resolve) => {
      const id = (this.#exchanged += 1);
      // The primary answers in less, or is no more.
      const patience = setTimeout(() => done([]), EXCHANGE_MS).unref();
      const done = (reports: readonly Report[]): void => {
        clearTimeout(patience);
        this.#exchanges.delete(id);
        resolve(reports);
      };
      this.#exchanges.set(id, done);
      this.tell({ kind: 'exchange', id, report: own });
    });
  }

  watch(something: boolean): void {
    this.tell({ kind: 'watch', something });
  }

  /** Where the primary is gone nothing is told. @param then called when it has been told, or could not be */
  tell(message: ToPrimary, then: () => void = () => undefined): void {
    // With a callback a message that cannot be sent is no unhandled error.
    this.#worker.process.send?.(message, then);
  }

  take(message: Exclude<ToWorker, { kind: 'start' | 'drain' | 'stop' }>): void {
    if (message.kind === 'othersWatch') this.othersWatch = message.others;
    else if (message.kind === 'report') this.#report(message.id);
    else if (message.kind === 'reports') this.#exchanges.get(message.id)?.(message.reports);
    else if (message.said.topic === 'changes') this.#listeners.changes?.(message.said.content);
    else this.#listeners.points?.(message.said.content);
  }

  #report(id: number): void {
    this.#makeReport().then(
      (report) => this.tell({ kind: 'report', id, report }),
      () => undefined,
    );
  }
}
