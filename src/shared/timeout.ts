export { setTimeout as sleep } from 'node:timers/promises';

export class TimeoutError extends Error {
  constructor() {
    super('The time limit was exceeded.');
    this.name = 'TimeoutError';
  }
}

/** Rejects with TimeoutError after `ms`; the work itself goes on. */
export async function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TimeoutError()), Math.max(0, ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
