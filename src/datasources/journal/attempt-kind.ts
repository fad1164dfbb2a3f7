export const ATTEMPT_KINDS = ['payment', 'payout'] as const;
export type TransactionKind = (typeof ATTEMPT_KINDS)[number];
