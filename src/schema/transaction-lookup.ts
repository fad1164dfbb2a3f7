/**
 * Value of a GraphQL field that looks up a payment or payout. graphql-js calls the function only if the field is
 * selected. Null if there is no transaction.
 */
export type TransactionLookup<T> = (() => Promise<T | null>) | null;
