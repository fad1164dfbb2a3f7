import { Program, type ProgramOptions } from '../support/program';
import type { Network } from './network';
import { pause, type Random } from './random';

interface GatewaysOptions {
  start(place: number): ProgramOptions;
  network: Pick<Network, 'changes'>;
  random: Random;
  onFault(name: string): void;
}

/** Time in ms after which a gateway that does not start is an error: longer than any partition. */
const START_LIMIT_MS = 60_000;

export class Gateways {
  readonly failedShutdowns: string[] = [];
  readonly #running: (Program | undefined)[] = [];
  #isClosed = false;

  constructor(private readonly options: GatewaysOptions) {}

  async start(count: number): Promise<void> {
    // One at a time: the first may have to compile.
    for (let place = 0; place < count; place += 1) await this.#start(place);
  }

  async any(): Promise<Program> {
    for (;;) {
      const running = this.#running.filter((program) => program !== undefined);
      if (running.length > 0) return this.options.random.one(running);
      await pause(20);
    }
  }

  async randomFault(): Promise<void> {
    const { random } = this.options;
    const place = random.between(0, this.#running.length - 1);
    await random.weighted<() => Promise<void>>([
      [55, () => this.kill(place)],
      [15, () => this.#restart(place)],
      [30, () => this.#suspend(place)],
    ])();
  }

  async kill(place: number, maxPauseMs = 500): Promise<void> {
    const program = this.#take(place, 'SIGKILL');
    await program?.kill();
    await pause(this.options.random.between(0, maxPauseMs));
    await this.#start(place);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#running.splice(0).map(async (program) => program?.kill()));
  }

  async #start(place: number): Promise<void> {
    const until = performance.now() + START_LIMIT_MS;
    while (!this.#isClosed) {
      try {
        this.#running[place] = await Program.start(this.options.start(place));
        return;
      } catch (error) {
        if (performance.now() > until) throw error;
        await pause(200);
      }
    }
  }

  async #restart(place: number): Promise<void> {
    const { network } = this.options;
    const { changes } = network;
    const program = this.#take(place, 'SIGTERM');
    program?.signal('SIGTERM');
    const code = await program?.exited;
    // A shutdown without database or service may fail.
    const isUndisturbed = changes % 2 === 0 && changes === network.changes;
    if (code !== 0 && isUndisturbed)
      this.failedShutdowns.push(`exit code ${code}: ${program?.output().slice(-1500)}`);
    await this.#start(place);
  }

  #take(place: number, fault: string): Program | undefined {
    const program = this.#running[place];
    this.#running[place] = undefined;
    this.options.onFault(fault);
    return program;
  }

  /** Suspends a gateway, mostly for longer than a lease, so that other gateways take over. */
  async #suspend(place: number): Promise<void> {
    const program = this.#running[place];
    this.options.onFault('SIGSTOP');
    program?.signal('SIGSTOP');
    await pause(this.options.random.between(3000, 6000));
    program?.signal('SIGCONT');
  }
}
