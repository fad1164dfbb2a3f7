import type { Report } from '../siblings';

/** How long a worker has for its report; one that is that late is shown as it was when it last reported. */
const PATIENCE_MS = 1000;

interface ReportsOptions<W> {
  /** Asks a worker for its report. */
  ask(worker: W, id: number): void;
  /** What several processes have counted in all. */
  countedBy(reports: readonly Report[]): Promise<Report>;
}

interface Asked<W> {
  waitingFor: Set<W>;
  done(): void;
}

/**
 * What the workers report of themselves, gathered for the one that is asked. Of a worker that has ended what it had counted
 * is kept: sums that fall would look like a gateway that has begun anew, and be counted twice.
 */
export class Reports<W> {
  readonly #options: ReportsOptions<W>;
  readonly #last = new Map<W, Report>();
  readonly #asked = new Map<number, Asked<W>>();
  #ended: Promise<Report> = Promise.resolve([]);
  #ids = 0;

  constructor(options: ReportsOptions<W>) {
    this.#options = options;
  }

  /** Takes the report of one worker, and resolves with those of the others. Never rejects. */
  async exchange(from: W, own: Report, others: readonly W[]): Promise<readonly Report[]> {
    this.#last.set(from, own);
    await this.#gather(others);
    const ended = await this.#ended;
    return [...others.flatMap((worker) => [this.#last.get(worker) ?? []]), ended];
  }

  /** A worker reports what it was asked for. */
  take(worker: W, id: number, report: Report): void {
    this.#last.set(worker, report);
    this.#noMore(id, worker);
  }

  /** A worker has ended. */
  ended(worker: W): void {
    for (const id of [...this.#asked.keys()]) this.#noMore(id, worker);
    const last = this.#last.get(worker);
    this.#last.delete(worker);
    if (!last) return;
    this.#ended = this.#ended.then((before) => this.#options.countedBy([before, last]).catch(() => before));
  }

  #gather(workers: readonly W[]): Promise<void> {
    return new Promise((resolve) => {
      if (workers.length === 0) return resolve();
      const id = (this.#ids += 1);
      const patience = setTimeout(() => this.#asked.get(id)?.done(), PATIENCE_MS);
      const done = (): void => {
        clearTimeout(patience);
        this.#asked.delete(id);
        resolve();
      };
      this.#asked.set(id, { waitingFor: new Set(workers), done });
      for (const worker of workers) this.#options.ask(worker, id);
    });
  }

  #noMore(id: number, worker: W): void {
    const asked = this.#asked.get(id);
    asked?.waitingFor.delete(worker);
    if (asked?.waitingFor.size === 0) asked.done();
  }
}
