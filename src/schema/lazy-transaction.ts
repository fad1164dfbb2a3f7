/** Looks up the transaction of a field `payment` or `payout`, only if the field is selected. Null if there is none. */
export type LazyTransaction<T> = (() => Promise<T | null>) | null;
