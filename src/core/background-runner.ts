/** What is done in the background. */
export interface BackgroundWork {
  /** What it is called; one of a few. */
  name: string;
  /** The id of the attempt that it is about, where it is about one. */
  attempt?: string;
}

/** Carries out what belongs to no request, for whoever traces it; it ends as the work does. */
export type BackgroundRunner = <T>(what: BackgroundWork, work: () => Promise<T>) => Promise<T>;

/** Where nobody traces it. */
export const runUntraced: BackgroundRunner = (_what, work) => work();
