/** The time ran out; what was waited for may still happen. */
export class DeadlineExceeded extends Error {
  constructor() {
    super('The time ran out.');
    this.name = 'DeadlineExceeded';
  }
}

/** Waits for something, but not longer. */
export function withTimeout<T>(ms: number, waited: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineExceeded()), Math.max(0, ms));
    waited.then(
      (value) => {
        clearTimeout(timer);
        resolve(value);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}

/** Waits. */
export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
