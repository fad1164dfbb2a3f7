import type { Attempt } from '../../datasources/journal/journal';
import { NO_ATTEMPT, findAttempt, type Session } from './session';
import type { FileLine } from './settle-file';
import type { SettleRequest } from './settle-request';

/**
 * State of one settle request. `ready`: it can be settled. `already_settled`: it was settled the same way before.
 * `left_unknown`: the file decides nothing about it.
 */
export type SettleState = 'ready' | 'settled' | 'proposed' | 'already_settled' | 'left_unknown' | 'refused';

/** One request, checked against the journal. */
export interface PlannedSettle {
  /** The line of the file that asks for it; null where it comes from no file. */
  line: number | null;
  /** The attempt as it was named. */
  name: string;
  request: SettleRequest | null;
  /** As it stands in the journal; null where it was not found. */
  attempt: Attempt | null;
  state: SettleState;
  /** Why it was refused; null otherwise. */
  message: string | null;
}

/** The request compared with the journal. */
type Judged = Pick<PlannedSettle, 'attempt' | 'state' | 'message'>;

const refused = (attempt: Attempt | null, message: string): Judged => ({
  attempt,
  state: 'refused',
  message,
});

/** Checks a request against the journal as it is now. */
export async function judge(session: Session, request: SettleRequest): Promise<Judged> {
  const attempt = await findAttempt(session, request.attempt);
  if (!attempt) return refused(null, NO_ATTEMPT);
  if (isSettledAs(attempt, request)) return { attempt, state: 'already_settled', message: null };
  if (attempt.outcome !== 'unknown')
    return refused(attempt, `Its outcome is ${attempt.outcome}: only an unknown one can be settled.`);
  const { journal, service } = session;
  const { transactionId } = request;
  const holder = transactionId && (await journal.findByTransaction(service, attempt.kind, transactionId));
  if (holder) return refused(attempt, 'Another attempt has created that transaction.');
  return { attempt, state: 'ready', message: null };
}

/** Whether an attempt has the outcome that a request asks for. */
export const isSettledAs = (attempt: Attempt, { outcome, transactionId }: SettleRequest): boolean =>
  attempt.outcome === outcome && attempt.transactionId === transactionId;

/** Checks the lines of a file, also against each other. */
export async function planLines(
  session: Session,
  lines: readonly FileLine[],
  onProgress: (done: number) => void,
): Promise<PlannedSettle[]> {
  const planned: PlannedSettle[] = [];
  const named = new Map<string, number>();
  for (const { line, name, key, request } of lines) {
    onProgress(planned.length);
    const about = { line, name, request: typeof request === 'string' ? null : request };
    if (request === null) planned.push({ ...about, ...LEFT_UNKNOWN });
    else if (typeof request === 'string') planned.push({ ...about, ...refused(null, request) });
    else {
      const judged = sameAttempt(await judge(session, request), key);
      planned.push({ ...about, ...onlyOnce(judged, { line, request, named }) });
    }
  }
  return planned;
}

const LEFT_UNKNOWN: Judged = { attempt: null, state: 'left_unknown', message: null };

/** Refuses a line whose idempotency key is not that of the attempt that its id names. */
function sameAttempt(judged: Judged, key: string | null): Judged {
  const { attempt } = judged;
  if (!attempt || key === null) return judged;
  // csvLine() exports a key that looks like a formula with an apostrophe before it.
  const isSame = [attempt.key, `'${attempt.key}`].some((known) => known.trim() === key);
  return isSame ? judged : refused(attempt, 'Its id and its idempotency key name different attempts.');
}

interface NamedBefore {
  line: number;
  request: SettleRequest;
  /** The lines by the attempts and the transactions that they name. */
  named: Map<string, number>;
}

/** Refuses a line that names the attempt or the transaction of an earlier line. */
function onlyOnce(judged: Judged, { line, request: { transactionId }, named }: NamedBefore): Judged {
  const { attempt } = judged;
  if (!attempt) return judged;
  const names = [`attempt ${attempt.id}`, ...(transactionId ? [`${attempt.kind} ${transactionId}`] : [])];
  const before = names.map((name) => named.get(name)).find((found) => found !== undefined);
  for (const name of names) if (!named.has(name)) named.set(name, line);
  return before === undefined
    ? judged
    : refused(attempt, `Line ${before} names the same attempt or transaction.`);
}

/** Checks one request that is in no file. */
export async function planOne(session: Session, request: SettleRequest): Promise<PlannedSettle> {
  return { line: null, name: request.attempt, request, ...(await judge(session, request)) };
}
