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

const SHORTEST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/** Only a test that hangs reaches it, even on a slow machine. Shorter in scripts/deliberate-bugs.mjs. */
const MAX_WAIT_MS = Number(process.env['TEST_MAX_WAIT_MS'] ?? 300_000);

/**
 * Polls `read` until `isGood` holds, and returns the value. Throws after `ms` with the last value.
 * A pause is four times as long as the read before it, so that polls leave most of a core to what they wait for.
 */
export async function until<T>(
  read: () => T | Promise<T>,
  isGood: (value: T) => boolean = Boolean,
  ms = MAX_WAIT_MS,
): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const startedAt = performance.now();
    const value = await read();
    if (isGood(value)) return value;
    const endedAt = performance.now();
    if (endedAt > deadline) throw new Error(`Not reached within ${ms} ms: ${JSON.stringify(value)}`);
    const pauseMs = Math.min(Math.max(4 * (endedAt - startedAt), SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
