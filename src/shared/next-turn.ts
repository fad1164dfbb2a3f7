let nextTurn: Promise<void> | undefined;

/**
 * Resolves after the event loop has processed all pending input. Waiting requests then run the same step one after the
 * other. Better use of CPU caches saves up to half the CPU time (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export const nextEventLoopTurn = (): Promise<void> =>
  (nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    });
  }));
