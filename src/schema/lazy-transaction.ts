/** The lookup of a field `payment` or `payout`, called if the field is selected. Null: there is nothing to look up. */
export type LazyTransaction<T> = (() => Promise<T | null>) | null;
