import { systemRuntime, type Runtime } from './runtime';

export { setTimeout as sleep } from 'node:timers/promises';

export class TimeoutError extends Error {
  constructor() {
    super('The time limit was exceeded.');
    this.name = 'TimeoutError';
  }
}

/** Resolves or rejects like `work`, or rejects with a TimeoutError after `timeoutMs`. Does not cancel `work`. */
export async function withTimeout<T>(
  timeoutMs: number,
  work: Promise<T>,
  runtime: Pick<Runtime, 'after'> = systemRuntime,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = runtime.after(Math.max(0, timeoutMs), () => reject(new TimeoutError()));
  try {
    return await Promise.race([work, promise]);
  } finally {
    timer.cancel();
  }
}
