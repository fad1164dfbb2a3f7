import type { Attempt } from '../../datasources/journal/journal';
import { readTransactionStatus } from '../../redaction/text';
import { isUuid } from '../../shared/uuid';
import { UsageError } from '../context';
import { ATTEMPT_NOT_FOUND_MESSAGE, type CliSession } from './session';

/** An operator's request to record the outcome of an attempt. `idOrKey`: id or idempotency key of the attempt. */
export type SettleRequest = { idOrKey: string } & (
  | { outcome: 'not_sent'; transactionId: null; status: null }
  /** `status`: the transaction's status in the words of the payment service, such as `processing`. */
  | { outcome: 'succeeded'; transactionId: string; status: string }
);

interface SettleRequestFields {
  idOrKey: string;
  outcome: string;
  transactionId?: string | null | undefined;
  status: string | null;
}

/** Validates the fields of a settle request. @throws UsageError if a field is missing or invalid */
export function toSettleRequest(fields: SettleRequestFields): SettleRequest {
  const { idOrKey, outcome, transactionId, status } = fields;
  if (idOrKey === '') throw new UsageError('No attempt is given: specify its id or its idempotency key.');
  if (outcome === 'not_sent') {
    if (transactionId) throw new UsageError('The outcome "not_sent" must not have a transaction id.');
    return { idOrKey, outcome, transactionId: null, status: null };
  }
  if (outcome !== 'succeeded') throw new UsageError('The outcome has to be not_sent or succeeded.');
  if (!transactionId) throw new UsageError('The outcome "succeeded" requires a transaction id.');
  if (!isUuid(transactionId)) throw new UsageError('The transaction id has to be a UUID.');
  if (!status || readTransactionStatus(status) !== status)
    throw new UsageError('The status has to be a status word of the service, such as processing.');
  return { idOrKey, outcome, transactionId: transactionId.toLowerCase(), status };
}

/**
 * State of a request to settle an attempt:
 * - `ready`: the attempt can be settled.
 * - `settled`: the command has recorded the outcome.
 * - `proposed`: the command has stored a proposal, which another user has to approve.
 * - `already_settled`: the attempt already had the requested outcome.
 * - `left_unknown`: the line of the file requests no outcome.
 * - `refused`: the line is malformed, or the outcome cannot be recorded.
 */
export type SettleState = 'ready' | 'settled' | 'proposed' | 'already_settled' | 'left_unknown' | 'refused';

/** A request to settle an attempt, the attempt in the journal, and the state of the request. */
export interface PlannedSettle {
  /** The line number in the file, from 1; null if the request is not from a file. */
  lineNumber: number | null;
  /** The id or idempotency key that names the attempt; may be empty if the line of the file is malformed. */
  idOrKey: string;
  /** The request; null if the line of the file requests no outcome or is malformed. */
  request: SettleRequest | null;
  /** The attempt in the journal. Null if there is none, or if it was not looked up because `request` is null. */
  attempt: Attempt | null;
  state: SettleState;
  /** Why the request is refused; null unless `state` is `refused`. */
  refusal: string | null;
}

/** Returns the request in state `refused`. @param refusalReason why the request is refused */
export function asRefused(plannedSettle: PlannedSettle, refusalReason: string): PlannedSettle {
  return { ...plannedSettle, state: 'refused', refusal: refusalReason };
}

/** Whether an attempt already has the outcome and the transaction id that a request asks for. */
export const isSettledAs = (attempt: Attempt, { outcome, transactionId }: SettleRequest): boolean =>
  attempt.outcome === outcome && attempt.transactionId === transactionId;

/** Reads the attempt of a request from the journal. Sets the state to `ready`, `already_settled` or `refused`. */
export async function planSettle(
  cliSession: CliSession,
  request: SettleRequest,
  lineNumber: number | null = null,
): Promise<PlannedSettle> {
  const attempt = await cliSession.findAttempt(request.idOrKey);
  const { idOrKey, transactionId } = request;
  const plannedSettle: PlannedSettle = {
    lineNumber,
    idOrKey,
    request,
    attempt,
    state: 'ready',
    refusal: null,
  };
  if (!attempt) return asRefused(plannedSettle, ATTEMPT_NOT_FOUND_MESSAGE);
  if (isSettledAs(attempt, request)) return { ...plannedSettle, state: 'already_settled' };
  if (attempt.outcome !== 'unknown')
    return asRefused(
      plannedSettle,
      `The attempt has the outcome ${attempt.outcome}: only an attempt of unknown outcome can be settled.`,
    );
  const { journal, serviceName } = cliSession;
  if (!transactionId) return plannedSettle;
  const creatingAttempt = await journal.findByTransaction(serviceName, attempt.kind, transactionId);
  if (!creatingAttempt) return plannedSettle;
  return asRefused(
    plannedSettle,
    `Attempt ${creatingAttempt.id} created this transaction: check the transaction id.`,
  );
}

/**
 * A line of the file for `settle --file`, before its attempt is read from the journal. If the line has both an id and
 * an idempotency key, `idOrKey` is the id, and `expectedKey` is the key, which must be the key of this attempt.
 * Otherwise, `idOrKey` is the one that the line has, and `expectedKey` is null.
 */
export type SettleFileLine = PlannedSettle & { lineNumber: number; expectedKey: string | null };

/**
 * Compares each line of a file with its attempt in the journal and with earlier lines. Returns the lines in order, with
 * `state: 'refused'` if the outcome cannot be recorded.
 */
export async function planSettleFile(
  cliSession: CliSession,
  fileLines: readonly SettleFileLine[],
): Promise<PlannedSettle[]> {
  const plannedSettles: PlannedSettle[] = [];
  const firstLineByLabel = new Map<string, number>();
  for (const fileLine of fileLines) {
    cliSession.terminal.showProgress(`Checking ${plannedSettles.length + 1} of ${fileLines.length} …`);
    const { lineNumber, request } = fileLine;
    const plannedSettle = request ? await planSettle(cliSession, request, lineNumber) : fileLine;
    plannedSettles.push(asRefusedIfConflicting(plannedSettle, fileLine, firstLineByLabel));
  }
  return plannedSettles;
}

/**
 * Refuses a line if its id and key belong to different attempts, or if an earlier line has the same attempt or
 * transaction.
 * @param firstLineByLabel maps each attempt and each transaction in the earlier lines to the number of the first line
 * that has it. The function adds those of the present line.
 */
function asRefusedIfConflicting(
  plannedSettle: PlannedSettle,
  { lineNumber, expectedKey }: SettleFileLine,
  firstLineByLabel: Map<string, number>,
): PlannedSettle {
  const { attempt, request } = plannedSettle;
  if (!attempt) return plannedSettle;
  const labels = [`attempt ${attempt.id}`];
  if (request?.transactionId) labels.push(`${attempt.kind} ${request.transactionId}`);
  const earlierLabel = labels.find((label) => firstLineByLabel.has(label));
  const earlierLineNumber = firstLineByLabel.get(earlierLabel ?? '');
  for (const label of labels) if (!firstLineByLabel.has(label)) firstLineByLabel.set(label, lineNumber);
  if (earlierLineNumber !== undefined)
    return asRefused(plannedSettle, `Line ${earlierLineNumber} has the same attempt or transaction.`);
  // Accept the key with an apostrophe, too, because attemptsCsv() puts one before a key that looks like a formula.
  if ([null, attempt.key.trim(), `'${attempt.key}`.trim()].includes(expectedKey)) return plannedSettle;
  return asRefused(plannedSettle, 'The attempt with this id has another idempotency key.');
}
