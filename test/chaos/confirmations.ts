import type { Json } from '../support/caller';

/** The UTRs of confirms by the labels that stand for them in a history. */
const UTRS = { A: '123456789012', B: '210987654321' } as const;

export type ConfirmationLabel = keyof typeof UTRS;

export const CONFIRMATION_LABELS = Object.keys(UTRS) as ConfirmationLabel[];

export const confirmationOf = (label: ConfirmationLabel): Json => ({ upi: { utr: UTRS[label] } });

/** Returns the label of the confirmation in a request to the service. */
export function labelOf(body: Json): string {
  const text = JSON.stringify(body);
  return CONFIRMATION_LABELS.find((label) => text.includes(UTRS[label])) ?? 'other';
}
