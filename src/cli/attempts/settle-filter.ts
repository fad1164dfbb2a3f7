import { isUuid } from '../../schema/scalars';
import { UsageError, type Context } from '../context';
import { unknownAttempts, type Session } from './session';
import type { PlannedSettle } from './settle-plan';

/** The options that select attempts, as they were typed. */
export interface FilterOptions {
  all?: boolean;
  olderThan?: string;
  kind?: string;
  channel?: string;
}

/** Which unknown attempts are settled as not sent. */
export interface Filter {
  olderThanMs: number;
  kind: string | undefined;
  channel: string | undefined;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Throws a UsageError where an option is missing or wrong. */
export function readFilter({ olderThan = '', kind, channel }: FilterOptions): Filter {
  const [, count, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(olderThan) ?? [];
  if (count === undefined)
    throw new UsageError('--all needs --older-than: minutes, hours or days, such as 90m, 2h or 3d.');
  if (kind !== undefined && kind !== 'payment' && kind !== 'payout')
    throw new UsageError('--kind: expected payment or payout.');
  if (channel !== undefined && !isUuid(channel)) throw new UsageError('--channel: expected a UUID.');
  return { olderThanMs: Number(count) * (UNITS[unit] ?? 0), kind, channel: channel?.toLowerCase() };
}

/** Attempts selected by a filter, to be settled as not sent. Settling as succeeded needs a transaction id for each, so a file. */
export async function filterRequests(
  context: Context,
  session: Session,
  filter: Filter,
): Promise<PlannedSettle[]> {
  const { olderThanMs, kind, channel } = filter;
  const before = Date.now() - olderThanMs;
  const selected = (await unknownAttempts(context, session)).filter(
    (attempt) =>
      attempt.startedAt < before &&
      (kind === undefined || attempt.kind === kind) &&
      (channel === undefined || attempt.channel.toLowerCase() === channel),
  );
  return selected.map((attempt) => ({
    line: null,
    name: attempt.id,
    request: { attempt: attempt.id, outcome: 'not_sent', transactionId: null, status: null },
    attempt,
    state: 'ready',
    message: null,
  }));
}
