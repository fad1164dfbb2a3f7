let pendingTurn: Promise<void> | undefined;

/**
 * Resolves after the event loop has processed all pending input. All callers in one turn get the same promise, so the
 * requests that wait for it continue in one batch. A batch uses CPU caches better
 * (docs/decisions/0014-batching-by-event-loop-turn.md).
 */
export const nextEventLoopTurn = (): Promise<void> =>
  (pendingTurn ??= new Promise((resolve) => {
    setImmediate(() => {
      pendingTurn = undefined;
      resolve();
    });
  }));
