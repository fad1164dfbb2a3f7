/** Value of a field for a payment or payout; null if there is none. graphql-js calls the function if it is selected. */
export type TransactionLookup<T> = (() => Promise<T | null>) | null;
