/** A promise that a test resolves by hand. */
export interface Gate {
  opened: Promise<void>;
  open(): void;
  /** Counts an arrival. */
  arrive(): void;
}

/** A gate; with `count` it opens by itself after that many arrivals. */
export function gate(count = Infinity): Gate {
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

/** Polls `read` every `everyMs` until its value satisfies `isGood`, and returns it. Throws after `ms`, naming the last value. */
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
