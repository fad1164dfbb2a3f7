/** Looked up once, because globals are slow in the context in which jest runs a test. */
const { floor, imul } = Math;

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 (inclusive) to 1 (exclusive), computed by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns a generator whose numbers do not depend on later uses of this generator. */
  fork(): Random {
    return new Random(this.between(0, 2 ** 32 - 1));
  }

  between(first: number, last: number): number {
    return first + floor(this.next() * (last - first + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  one<T>(of: readonly T[]): T {
    return of[floor(this.next() * of.length)] as T;
  }

  weighted<T>(of: readonly (readonly [weight: number, what: T])[]): T {
    const all = of.reduce((sum, [weight]) => sum + weight, 0);
    let left = this.next() * all;
    const found = of.find(([weight]) => (left -= weight) < 0) ?? of[of.length - 1];
    return (found as readonly [number, T])[1];
  }

  uuid(): string {
    const bytes = Buffer.from(Array.from({ length: 16 }, () => this.between(0, 255)));
    bytes[6] = 0x40 | (bytes[6]! & 0x0f);
    bytes[8] = 0x80 | (bytes[8]! & 0x3f);
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export class Tally extends Map<string, number> {
  add(name: string, count = 1): void {
    this.set(name, (this.get(name) ?? 0) + count);
  }

  override toString(): string {
    const sorted = [...this].sort(([, a], [, b]) => b - a);
    return sorted.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
  }
}
