export const TRANSACTION_KINDS = ['payment', 'payout'] as const;
export type TransactionKind = (typeof TRANSACTION_KINDS)[number];
