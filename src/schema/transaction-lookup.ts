/** A field that looks up a payment or payout. graphql-js calls it only if the field is selected. */
export type TransactionLookup<T> = (() => Promise<T | null>) | null;
