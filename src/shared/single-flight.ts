/** Returns a function that runs `work`. A call while `work` is in flight gets the result of that run. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let inFlight: Promise<T> | undefined;
  return () => (inFlight ??= work().finally(() => (inFlight = undefined)));
}
