import { Random } from '../chaos/random';

export class SeededRandom extends Random {
  /** Returns a generator whose numbers do not depend on later uses of this generator. */
  fork(): SeededRandom {
    return new SeededRandom(this.between(0, 2 ** 32 - 1));
  }

  bytes(size: number): Uint8Array {
    return Uint8Array.from({ length: size }, () => this.between(0, 255));
  }

  uuid(): string {
    const bytes = this.bytes(16);
    bytes[6] = 0x40 | ((bytes[6] ?? 0) & 0x0f);
    bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
    return Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
