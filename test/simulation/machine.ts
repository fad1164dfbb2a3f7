import type { Clock, Timer } from '../../src/shared/clock';
import type { Runtime } from '../../src/shared/runtime';
import type { Random } from '../chaos/random';
import type { World } from './world';

/** A process of the gateway on a machine with its own clocks. None of its code runs after it has died. */
export class Machine {
  isAlive = true;
  /** Simulated time until which the process does nothing: it is suspended, or its event loop is busy. */
  pausedUntil = 0;
  lagMs = 0;
  readonly random: Random;
  readonly runtime: Runtime;
  readonly clock: Clock;
  readonly #bootedAt: number;
  /** Total time in ms for which suspensions stopped the monotonic clock. */
  #frozenMs = 0;

  /** @param wall the clock of the machine, which outlives the process */
  constructor(
    readonly name: string,
    private readonly world: World,
    private readonly wall: { offsetMs: number },
  ) {
    this.random = world.random.fork();
    this.#bootedAt = world.now - this.random.between(0, 1_000_000);
    const { random } = this;
    const monotonic = (): number => this.world.now - this.#bootedAt - this.#frozenMs;
    const after = (ms: number, run: () => void): Timer => this.#after(ms, run);
    this.clock = { now: () => Math.floor(world.now + wall.offsetMs), monotonic, after };
    this.runtime = {
      monotonic,
      after,
      sleep: (ms) => new Promise((resolve) => void this.#after(ms, resolve)),
      nextTurn: () => new Promise((resolve) => this.deliver(0, resolve)),
      random: () => random.next(),
      randomUUID: () => random.uuid(),
    };
  }

  stepWallClock(ms: number): void {
    this.wall.offsetMs += ms;
  }

  /** Suspends the process. `isFrozen`: the monotonic clock stops too, as when a virtual machine is suspended. */
  pause(ms: number, isFrozen: boolean): void {
    const awakeAt = Math.max(this.pausedUntil, this.world.now);
    this.pausedUntil = Math.max(awakeAt, this.world.now + ms);
    // Overlapping suspensions do not count twice.
    if (isFrozen) this.#frozenMs += this.pausedUntil - awakeAt;
  }

  /** Runs the completion of I/O after `ms`, unless it is cancelled or the process has died by then. */
  deliver(ms: number, run: () => void, isCancelled = (): boolean => false): void {
    const lag = this.lagMs > 0 ? this.random.between(0, this.lagMs) : 0;
    const isOver = (): boolean => !this.isAlive || isCancelled();
    const runWhenAwake = (): void => {
      const pausedMs = this.pausedUntil - this.world.now;
      if (pausedMs > 0) this.world.at(pausedMs, runWhenAwake, isOver);
      else run();
    };
    this.world.at(ms + lag, runWhenAwake, isOver);
  }

  #after(ms: number, run: () => void): Timer {
    let isCancelled = false;
    const dueAt = this.runtime.monotonic() + ms;
    const fire = (): void => {
      // A stopped monotonic clock delays the timer for as long as it stood still.
      const leftMs = dueAt - this.runtime.monotonic();
      if (leftMs > 0.001) this.deliver(leftMs, fire, () => isCancelled);
      else run();
    };
    this.deliver(ms, fire, () => isCancelled);
    return { cancel: () => void (isCancelled = true) };
  }
}
