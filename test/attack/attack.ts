import type { Random } from '../chaos/random';
import type { Target } from './target';

/** What came of an attack. */
export interface Outcome {
  /** How much was tried. */
  tried: number;
  /** What got through, in words. */
  through: string[];
  /** Figures worth telling. */
  note?: string;
}

export interface AttackOptions {
  random: Random;
  /** For libraries that make their own random choices. */
  seed: number;
  /** How long it may try, where it could go on for ever. */
  ms: number;
}

/** Something that is tried against a running gateway. */
export interface Attack {
  name: string;
  /** Its share of the time, where it could go on for ever. */
  share?: number;
  run(target: Target, options: AttackOptions): Promise<Outcome>;
}

/** Counts what is tried, and keeps what gets through. */
export class Tries implements Outcome {
  tried = 0;
  readonly through: string[] = [];

  /** One try, and what is wrong with what came of it. */
  add(name: string, faults: readonly (string | undefined)[]): void {
    this.tried += 1;
    const found = faults.filter((fault) => fault !== undefined);
    if (found.length > 0) this.through.push(`${name}: ${found.join(', ')}`);
  }
}
