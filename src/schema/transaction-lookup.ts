/** Field that looks up a payment or payout; null if there is none. graphql-js calls it only if selected. */
export type TransactionLookup<T> = (() => Promise<T | null>) | null;
