import { Program, type ProgramOptions } from '../support/program';
import type { Store } from '../support/stores';
import { pause, type Random, type Tally } from './random';

/** Several gateways on one journal, which are killed, suspended and restarted at random. */
export class Gateways {
  /** The last output of gateways that did not stop gracefully. */
  readonly failedShutdowns: string[] = [];
  #running: (Program | undefined)[] = [];

  constructor(
    private readonly options: ProgramOptions,
    private readonly store: Store,
    private readonly random: Random,
    private readonly randomFaults: Tally,
  ) {}

  async start(count: number): Promise<void> {
    // One at a time: the first may have to compile.
    for (let place = 0; place < count; place += 1) this.#running[place] = await Program.start(this.options);
  }

  async any(): Promise<Program> {
    for (;;) {
      const running = this.#running.filter((program) => program !== undefined);
      if (running.length > 0) return this.random.one(running);
      await pause(20);
    }
  }

  /** Causes a random fault: kills, restarts or suspends a gateway, or disconnects the journal. */
  async randomFault(): Promise<void> {
    const place = this.random.between(0, this.#running.length - 1);
    await this.random.weighted<() => Promise<void>>([
      [65, () => this.#kill(place)],
      [15, () => this.#restart(place)],
      [10, () => this.#freeze(place)],
      [10, () => this.#loseJournal()],
    ])();
  }

  async close(): Promise<void> {
    const running = this.#running.splice(0);
    await Promise.all(running.map(async (program) => program?.kill()));
  }

  async #kill(place: number): Promise<void> {
    const program = this.#take(place, 'kill -9');
    await program?.kill();
    await pause(this.random.between(0, 500));
    this.#running[place] = await Program.start(this.options);
  }

  async #restart(place: number): Promise<void> {
    const program = this.#take(place, 'SIGTERM');
    program?.signal('SIGTERM');
    const code = await program?.exited;
    if (code !== 0) this.failedShutdowns.push(`exit code ${code}: ${program?.output().slice(-1500)}`);
    this.#running[place] = await Program.start(this.options);
  }

  #take(place: number, randomFault: string): Program | undefined {
    const program = this.#running[place];
    this.#running[place] = undefined;
    this.randomFaults.add(randomFault);
    return program;
  }

  /** Suspends a gateway, often for longer than a lease, so that other gateways take over. */
  async #freeze(place: number): Promise<void> {
    const program = this.#running[place];
    this.randomFaults.add('frozen');
    program?.signal('SIGSTOP');
    await pause(this.random.between(1000, 6000));
    program?.signal('SIGCONT');
  }

  async #loseJournal(): Promise<void> {
    this.randomFaults.add('journal lost');
    const { kind, hold, rows } = this.store;
    if (kind === 'PostgreSQL') {
      await rows(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      return;
    }
    const unlock = await hold();
    await pause(this.random.between(100, 1200));
    await unlock();
  }
}
