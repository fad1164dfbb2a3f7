export { setTimeout as sleep } from 'node:timers/promises';

export class TimeoutError extends Error {
  constructor() {
    super('The time limit was exceeded.');
    this.name = 'TimeoutError';
  }
}

/** Awaits work. Rejects with a TimeoutError after `ms`; the work itself continues. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError()), Math.max(0, ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
