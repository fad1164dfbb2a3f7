import type { PayoutFieldsFragment } from '@paygraph/client';
import type { Line } from './lines.ts';
import type { Outcome } from './pay-out.ts';

/** The result of one line in the report. */
export type Verdict = 'paid' | 'under way' | 'declined' | 'refused' | 'unknown';

export interface Entry {
  line: Line;
  verdict: Verdict;
  /** Details; may be empty. */
  detail: string;
}

/** Exit code for each verdict; the highest one applies. 2 is for an invalid list or invalid settings. */
const EXIT_CODES: Record<Verdict, number> = { paid: 0, 'under way': 0, declined: 1, refused: 1, unknown: 3 };

/** @param payoutById the newest states of payouts, by transaction id */
export function entryOf(line: Line, outcome: Outcome, payoutById: Map<string, PayoutFieldsFragment>): Entry {
  if (outcome.kind !== 'created') return { line, verdict: outcome.kind, detail: outcome.reason };
  const { transactionId } = outcome.payout;
  const { status, rawStatus, error } = payoutById.get(transactionId) ?? outcome.payout;
  const replayNote = outcome.replayed ? ', created before' : '';
  const detail = `${transactionId}${replayNote}`;
  if (status === 'COMPLETED') return { line, verdict: 'paid', detail };
  if (status === 'FAILED')
    return { line, verdict: 'declined', detail: `${detail}: ${error?.reason ?? error?.code ?? 'no reason'}` };
  return { line, verdict: 'under way', detail: `${detail} (${rawStatus})` };
}

export const exitCodeOf = (entries: Entry[]): number =>
  Math.max(0, ...entries.map(({ verdict }) => EXIT_CODES[verdict]));

/** Returns a line for each payout, then the number of payouts by verdict, and what to do. */
export function reportOf(entries: Entry[]): string {
  const textLines = entries.map(
    ({ line, verdict, detail }) => `${verdict.padEnd(9)}  ${line.reference}  ${detail}`,
  );
  const count = (wanted: Verdict): number => entries.filter(({ verdict }) => verdict === wanted).length;
  const counts = (Object.keys(EXIT_CODES) as Verdict[]).flatMap((verdict) =>
    count(verdict) > 0 ? [`${count(verdict)} ${verdict}`] : [],
  );
  const advice = [
    ...(count('unknown') > 0
      ? ['Run it again with the same list: unknown payouts are retried, and never paid twice.']
      : []),
    ...(count('declined') > 0
      ? ['A declined payout cannot be retried: pay it out under another reference.']
      : []),
    ...(count('refused') > 0 ? ['Correct refused payouts, and run it again with the same references.'] : []),
  ];
  return [...textLines, '', `${entries.length} payouts: ${counts.join(', ') || 'none'}.`, ...advice, ''].join(
    '\n',
  );
}
