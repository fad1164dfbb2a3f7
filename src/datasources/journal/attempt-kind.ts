export const ATTEMPT_KINDS = ['payment', 'payout'] as const;
export type AttemptKind = (typeof ATTEMPT_KINDS)[number];
