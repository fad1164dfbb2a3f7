let current: Promise<void> | undefined;

/**
 * Resolves after the event loop has processed all pending input. Requests that wait for it then run each step in a row, which
 * halves their cost by better use of CPU caches (docs/decisions/0014-batching-by-event-loop-turn.md). No timer is involved.
 */
export const nextEventLoopTurn = (): Promise<void> =>
  (current ??= new Promise((resolve) => {
    setImmediate(() => {
      current = undefined;
      resolve();
    });
  }));
