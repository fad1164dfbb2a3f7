export interface Latch {
  opened: Promise<void>;
  open(): void;
  arrive(): void;
}

/** Returns a latch whose promise resolves on `open`, or after `count` arrivals. */
export function latch(count = Infinity): Latch {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  let arrivals = 0;
  return {
    opened: promise,
    open: () => resolve(undefined),
    arrive: () => {
      arrivals += 1;
      if (arrivals >= count) resolve(undefined);
    },
  };
}

/** Polls `read` every `everyMs` until `isGood` holds, and returns the value. Throws after `ms` with the last value. */
export async function until<T>(
  read: () => T | Promise<T>,
  isGood: (value: T) => boolean = Boolean,
  ms = 25_000,
  everyMs = 10,
): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (isGood(value)) return value;
    if (performance.now() > deadline)
      throw new Error(`Not reached within ${ms} ms: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
