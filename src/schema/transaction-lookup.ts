/** Lookup of a payment or payout for a GraphQL field, run only if the field is selected. Null without a transaction. */
export type TransactionLookup<T> = (() => Promise<T | null>) | null;
