import { Checker } from './checker';
import { Database } from './database';
import { Faults } from './faults';
import type { Profile } from './profile';
import { SimulatedService } from './service';
import { World } from './world';

/** The parts that all machines of a simulation share. */
export class Environment {
  readonly world: World;
  readonly faults: Faults;
  readonly database: Database;
  readonly service: SimulatedService;
  readonly checker: Checker;

  constructor(seed: number, profile: Profile, keepsTrace = false) {
    this.world = new World(seed, keepsTrace);
    this.faults = new Faults(this.world, profile);
    this.database = new Database(this.world, this.faults);
    this.service = new SimulatedService(this.world, this.faults);
    this.checker = new Checker(this.world, this.faults, this.database);
    this.service.onCreate = (entry) => this.checker.onCreate(entry);
  }
}
