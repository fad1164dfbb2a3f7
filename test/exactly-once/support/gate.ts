/** Something to wait for without a clock: opens by hand. */
export interface Gate {
  opened: Promise<unknown>;
  open(): void;
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  return { opened: promise, open: () => resolve(undefined) };
}

/** Asks again and again until the answer will do, and returns it. Gives up, with the last answer in words, after that many milliseconds. */
export async function until<T>(
  ask: () => T | Promise<T>,
  isGood: (answer: T) => boolean,
  ms = 25_000,
): Promise<T> {
  const deadline = performance.now() + ms;
  for (;;) {
    const answer = await ask();
    if (isGood(answer)) return answer;
    if (performance.now() > deadline) throw new Error(`Not so within ${ms} ms: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
