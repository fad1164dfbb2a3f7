let current: Promise<void> | undefined;

/**
 * Resolves when the event loop has taken in all that has arrived by now. Whoever waits for it goes on together: each step
 * is then done for all of them in a row, which on the whole costs half of what it costs to take one after another through
 * all steps, as the code of a step is near the processor then (docs/decisions/0014-batching-by-event-loop-turn.md). It waits for no timer: what
 * has come alone goes on at once.
 */
export const nextEventLoopTurn = (): Promise<void> =>
  (current ??= new Promise((resolve) => {
    setImmediate(() => {
      current = undefined;
      resolve();
    });
  }));
