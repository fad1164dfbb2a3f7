/** Returns a function that runs `work`. A call while `work` is in flight gets the result of that run. */
export function singleFlight<T>(work: () => Promise<T>): () => Promise<T> {
  let inFlightResult: Promise<T> | undefined;
  return () => (inFlightResult ??= work().finally(() => (inFlightResult = undefined)));
}
