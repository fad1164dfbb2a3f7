let nextTurn: Promise<void> | undefined;

/**
 * Resolves after the event loop has processed all pending input. Requests that await it run the same step one after the
 * other, which halves their cost by better use of CPU caches (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export const nextEventLoopTurn = (): Promise<void> =>
  (nextTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      nextTurn = undefined;
      resolve();
    });
  }));
