import type { Operations } from '../../src/core';
import type { Database } from './database';
import type { Faults } from './faults';
import { startInstance } from './instance';
import { Machine } from './machine';
import { Network } from './network';
import { INCIDENTS, MINUTE, SECOND, type Incident } from './profile';
import type { SimulatedService } from './service';
import type { World } from './world';

export interface Instance {
  machine: Machine;
  operations: Operations;
}

interface ClusterOptions {
  world: World;
  faults: Faults;
  database: Database;
  service: SimulatedService;
  network: Omit<ConstructorParameters<typeof Network>[0], 'world' | 'faults' | 'service'>;
}

/** The instances of the gateway, and what happens to their machines and to the database. */
export class Cluster {
  readonly #slots: { wall: { offsetMs: number }; instance: Instance | undefined }[];

  constructor(private readonly options: ClusterOptions) {
    const { faults } = options;
    const { instances, rates } = faults.profile;
    const mayStep = rates.wall_clock_step !== undefined;
    this.#slots = Array.from({ length: instances }, () => ({
      wall: {
        offsetMs: mayStep ? faults.random.between(-2 * MINUTE, 2 * MINUTE) : faults.random.between(-50, 50),
      },
      instance: undefined,
    }));
    this.#slots.forEach((_, place) => this.#start(place));
  }

  /** Returns an instance that is alive; undefined if none is. */
  any(): Instance | undefined {
    const alive = this.#slots.flatMap(({ instance }) => instance ?? []);
    return alive.length > 0 ? this.options.faults.random.one(alive) : undefined;
  }

  #start(place: number): void {
    const { world, faults, database, service, network } = this.options;
    const slot = this.#slots[place];
    if (!slot || slot.instance) return;
    const machine = new Machine(`instance ${place}`, world, slot.wall);
    const connections = new Network({ world, faults, service, ...network }, machine);
    const { profile } = faults;
    const operations = startInstance(machine, { database, network: connections, profile });
    world.trace(`instance ${place} starts`);
    slot.instance = { machine, operations };
  }

  /** Kills a process. Another one starts after a while. */
  kill(place: number): void {
    const { world, faults } = this.options;
    const slot = this.#slots[place];
    if (!slot?.instance) return;
    world.trace(`instance ${place} dies`);
    slot.instance.machine.isAlive = false;
    slot.instance = undefined;
    world.at(faults.random.between(100, 15 * SECOND), () => this.#start(place));
  }

  /** Makes incidents happen until the faults are over. */
  scheduleIncidents(): void {
    const { world, faults } = this.options;
    // Less than a second, and at no regular times, so that an incident hits each step of a create.
    world.at(faults.random.between(20, 500), () => {
      if (faults.isOver) return;
      const incident = faults.random.chance(0.5) ? faults.choose(INCIDENTS) : undefined;
      if (incident) this.#happen(incident);
      this.scheduleIncidents();
    });
  }

  #happen(incident: Incident): void {
    const { world, faults, database } = this.options;
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
    const { database, world } = this.options;
    database.heal();
    this.#slots.forEach(({ instance }, place) => {
      if (instance) instance.machine.lagMs = 0;
      else this.#start(place);
    });
    return Math.max(world.now, ...this.#slots.map(({ instance }) => instance?.machine.pausedUntil ?? 0));
  }
}
