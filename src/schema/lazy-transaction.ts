/**
 * Function that looks up the value of a field `payment` or `payout`. graphql-js calls it only if the field is selected.
 * Null if there is nothing to look up.
 */
export type TransactionLoader<T> = (() => Promise<T | null>) | null;
