import type { Environment } from './environment';
import { startInstance, type Instance } from './instance';
import { Machine } from './machine';
import { networkOf } from './network';
import { INCIDENTS, MINUTE, SECOND, type Incident } from './profile';

export class Cluster {
  readonly #slots: { wall: { offsetMs: number }; instance: Instance | undefined }[];

  constructor(private readonly environment: Environment) {
    const { random, profile } = environment.faults;
    const maxOffsetMs = profile.rates.wall_clock_step === undefined ? 50 : 2 * MINUTE;
    this.#slots = Array.from({ length: profile.instances }, () => ({
      wall: { offsetMs: random.between(-maxOffsetMs, maxOffsetMs) },
      instance: undefined,
    }));
    this.#slots.forEach((_, place) => this.#start(place));
  }

  any(): Instance | undefined {
    const alive = this.#slots.flatMap(({ instance }) => instance ?? []);
    return alive.length > 0 ? this.environment.faults.random.one(alive) : undefined;
  }

  #start(place: number): void {
    const { world } = this.environment;
    const slot = this.#slots[place];
    if (!slot || slot.instance) return;
    const machine = new Machine(`instance ${place}`, world, slot.wall);
    slot.instance = startInstance(machine, this.environment, networkOf(this.environment, machine));
    world.trace(`instance ${place} starts`);
  }

  kill(place: number): void {
    const { world, faults } = this.environment;
    const slot = this.#slots[place];
    if (!slot?.instance) return;
    world.trace(`instance ${place} dies`);
    slot.instance.machine.isAlive = false;
    slot.instance = undefined;
    world.at(faults.random.between(100, 15 * SECOND), () => this.#start(place));
  }

  scheduleIncidents(): void {
    const { world, faults } = this.environment;
    // Less than a second, and at no regular times, so that an incident hits each step of a create.
    world.at(faults.random.between(20, 500), () => {
      if (faults.isOver) return;
      const incident = faults.random.chance(0.5) ? faults.choose(INCIDENTS) : undefined;
      if (incident) this.#happen(incident);
      this.scheduleIncidents();
    });
  }

  #happen(incident: Incident): void {
    const { world, faults, database } = this.environment;
    const { random, profile } = faults;
    const place = random.between(0, profile.instances - 1);
    const machine = this.#slots[place]?.instance?.machine;
    faults.count(incident);
    switch (incident) {
      case 'kill':
        return this.kill(place);
      case 'pause':
        return machine?.pause(random.between(100, profile.pauseMs), false);
      case 'freeze':
        return machine?.pause(random.between(100, profile.pauseMs), true);
      case 'slow_loop': {
        if (!machine) return;
        machine.lagMs = random.between(5, 400);
        return world.at(random.between(1, 10) * SECOND, () => void (machine.lagMs = 0));
      }
      case 'wall_clock_step':
        return machine?.stepWallClock(random.between(-10 * MINUTE, 10 * MINUTE));
      case 'journal_clock_step':
        return database.stepClock(random.between(-30 * SECOND, 30 * SECOND));
      case 'journal_stall':
        return database.stall(random.between(100, random.one([1000, 8000])));
      case 'journal_crash':
        return database.crash(random.between(100, 3000));
      case 'disk_full':
        database.isDiskFull = true;
        return world.at(random.between(500, 8000), () => void (database.isDiskFull = false));
      case 'failover':
        return database.failOver(random.between(0, 1500), random.between(200, 2000));
      case 'restore':
        return database.failOver(random.between(1, 60) * SECOND, random.between(200, 5000));
    }
  }

  /** Ends all faults of machines and database, and starts the dead instances. Returns when every machine is awake. */
  heal(): number {
    const { database, world } = this.environment;
    database.heal();
    this.#slots.forEach(({ instance }, place) => {
      if (instance) instance.machine.lagMs = 0;
      else this.#start(place);
    });
    return Math.max(world.now, ...this.#slots.map(({ instance }) => instance?.machine.pausedUntil ?? 0));
  }
}
