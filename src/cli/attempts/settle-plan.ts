import type { Attempt } from '../../datasources/journal/journal';
import { readStatus } from '../../redaction/text';
import { isUuid } from '../../schema/scalars';
import { UsageError } from '../context';
import { NO_ATTEMPT, type Session } from './session';

/** A request to settle one attempt. */
export type SettleRequest = {
  /** The attempt's id or its idempotency key. */
  attempt: string;
} & (
  | { outcome: 'not_sent'; transactionId: null; status: null }
  /** `status`: the status word of the service. */
  | { outcome: 'succeeded'; transactionId: string; status: string }
);

interface RequestFields {
  attempt: string;
  outcome: string;
  transactionId?: string | null | undefined;
  status: string | null;
}

/** Validates a request. @throws UsageError */
export function readRequest({ attempt, outcome, transactionId, status }: RequestFields): SettleRequest {
  if (attempt === '') throw new UsageError('An attempt is named by its id or its idempotency key.');
  if (outcome === 'not_sent') {
    if (transactionId) throw new UsageError('not_sent has no transaction id.');
    return { attempt, outcome, transactionId: null, status: null };
  }
  if (outcome !== 'succeeded') throw new UsageError('The outcome has to be not_sent or succeeded.');
  if (!transactionId) throw new UsageError('succeeded requires a transaction id.');
  if (!isUuid(transactionId)) throw new UsageError('The transaction id has to be a UUID.');
  if (!status || readStatus(status) !== status)
    throw new UsageError('The status has to be a status word of the service.');
  return { attempt, outcome, transactionId: transactionId.toLowerCase(), status };
}

/**
 * `ready`: can be settled. `already_settled`: has this outcome already. `left_unknown`: the file does not decide about it.
 * `refused`: cannot be settled.
 */
export type SettleState = 'ready' | 'settled' | 'proposed' | 'already_settled' | 'left_unknown' | 'refused';

/** A request with its attempt in the journal. */
export interface PlannedSettle {
  /** The line of the file; null without a file. */
  line: number | null;
  /** The attempt as it was named. */
  name: string;
  request: SettleRequest | null;
  /** Null where it was not found. */
  attempt: Attempt | null;
  state: SettleState;
  /** Why it was refused; null otherwise. */
  message: string | null;
}

export const refuse = (planned: PlannedSettle, message: string): PlannedSettle => ({
  ...planned,
  state: 'refused',
  message,
});

/** Whether an attempt has the outcome of a request. */
export const isSettledAs = (attempt: Attempt, { outcome, transactionId }: SettleRequest): boolean =>
  attempt.outcome === outcome && attempt.transactionId === transactionId;

/** Compares a request with the journal. */
export async function planOne(
  session: Session,
  request: SettleRequest,
  line: number | null = null,
): Promise<PlannedSettle> {
  const attempt = await session.find(request.attempt);
  const planned: PlannedSettle = {
    line,
    name: request.attempt,
    request,
    attempt,
    state: 'ready',
    message: null,
  };
  if (!attempt) return refuse(planned, NO_ATTEMPT);
  if (isSettledAs(attempt, request)) return { ...planned, state: 'already_settled' };
  if (attempt.outcome !== 'unknown')
    return refuse(planned, `Its outcome is ${attempt.outcome}; only an unknown one can be settled.`);
  const { journal, service } = session;
  const { transactionId } = request;
  const other = transactionId && (await journal.findByTransaction(service, attempt.kind, transactionId));
  return other ? refuse(planned, 'Another attempt has created this transaction.') : planned;
}

/** One line of a file. Without request and error the line leaves its attempt unknown. */
export interface FileLine {
  line: number;
  /** The id or idempotency key of the attempt, as in the file. */
  name: string;
  /** The idempotency key where the line has both; it must be that of the attempt. */
  key: string | null;
  request: SettleRequest | null;
  /** Why the line is malformed. */
  error: string | null;
}

/** Compares the lines of a file with the journal and with each other. */
export async function planLines(session: Session, lines: readonly FileLine[]): Promise<PlannedSettle[]> {
  const planned: PlannedSettle[] = [];
  const seen = new Map<string, number>();
  for (const { line, name, key, request, error } of lines) {
    session.context.terminal.progress(`Checking ${planned.length} of ${lines.length} …`);
    if (request) {
      planned.push(refuseConflict(await planOne(session, request, line), key, seen));
      continue;
    }
    const state = error === null ? 'left_unknown' : 'refused';
    planned.push({ line, name, request, attempt: null, state, message: error });
  }
  return planned;
}

/**
 * Refuses a line whose id and key belong to different attempts, or that has the attempt or transaction of an earlier line.
 * @param seen lines by attempt and transaction
 */
function refuseConflict(
  planned: PlannedSettle,
  key: string | null,
  seen: Map<string, number>,
): PlannedSettle {
  const { attempt, request, line } = planned;
  if (!attempt || line === null) return planned;
  const names = [`attempt ${attempt.id}`];
  if (request?.transactionId) names.push(`${attempt.kind} ${request.transactionId}`);
  const earlier = names.map((name) => seen.get(name)).find((found) => found !== undefined);
  for (const name of names) if (!seen.has(name)) seen.set(name, line);
  if (earlier !== undefined) return refuse(planned, `Line ${earlier} has the same attempt or transaction.`);
  // csvLine() writes an apostrophe before a key that resembles a formula.
  const isSame = key === null || [attempt.key, `'${attempt.key}`].some((known) => known.trim() === key);
  return isSame ? planned : refuse(planned, 'Its id and its idempotency key belong to different attempts.');
}
