import { isUuid, normalizeDecimal } from '../../../schema/scalars';
import { isWireObject, wireText, type WireObject } from '../../../shared/wire-object';
import { redactResponse, type SensitiveValues } from '../../../redaction/service-response';
import { readJsonObject } from '../http/json-body';
import { extractErrorMessage } from './upstream-error-message';
import { ServiceError } from '../service-error';
import { RequestFailure, type RawResponse } from '../http/http-exchange';

/** What an answer must agree with to be believed: the question. */
export interface ExpectedFields extends SensitiveValues {
  channel?: string;
  transactionId?: string;
  externalId?: string;
  amount?: { currency: string; value: string };
}

/** What became of a create or a confirm, as far as the service's answer says. */
export type MutationOutcome<T> =
  | { kind: 'accepted'; answer: T }
  | { kind: 'refused'; httpStatus: number; message: string }
  /** The service may have acted: nothing in the answer says that it did not. */
  | { kind: 'unknown' };

const sameText = (said: unknown, asked: string | undefined): boolean =>
  said === undefined || said === null || asked === undefined || said === asked;

const sameId = (said: unknown, asked: string | undefined): boolean =>
  sameText(typeof said === 'string' ? said.toLowerCase() : said, asked?.toLowerCase());

function sameAmount(said: unknown, asked: ExpectedFields['amount']): boolean {
  if (said === undefined || said === null || asked === undefined) return true;
  if (!isWireObject(said)) return false;
  const value = wireText(said['value']);
  return said['currency'] === asked.currency && value !== null && normalizeDecimal(value) === asked.value;
}

/** Whether an answer has what every resource has, and speaks of what was asked. What it leaves out cannot contradict. */
export function matchesRequest(answer: WireObject, asked: ExpectedFields): boolean {
  const id = answer['transaction_id'];
  const status = answer['status'];
  return (
    typeof id === 'string' &&
    isUuid(id) &&
    typeof status === 'string' &&
    status !== '' &&
    sameId(id, asked.transactionId) &&
    sameId(answer['channel'], asked.channel) &&
    sameText(answer['external_id'], asked.externalId) &&
    sameAmount(answer['amount'], asked.amount)
  );
}

/** An answer that agrees, without what must not come back. Ids and what was compared with the question stay as they are. */
function redactResponseFields(answer: WireObject, asked: ExpectedFields): WireObject {
  const verified = ['transaction_id', 'channel', ...(asked.externalId === undefined ? [] : ['external_id'])];
  return redactResponse(answer, asked, verified);
}

/** Retry-After in milliseconds, where it is a number of seconds. */
function retryAfterMs({ headers }: RawResponse): number | undefined {
  const text = headers['retry-after'];
  return typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) * 1000 : undefined;
}

const unavailable = (raw: RawResponse): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service cannot serve this now. Repeat the call unchanged later.',
    retryAfterMs(raw),
  );

const authFailed = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    "The payment service refused the gateway's credentials or clock; this call changed nothing. Tell the operator.",
  );

const invalid = (): ServiceError =>
  new ServiceError(
    'RESPONSE_INVALID',
    "The payment service's answer to a lookup cannot be read or contradicts the request; the transaction may exist all the same. Tell the operator.",
  );

/** Statuses that leave open whether the service acted: timeouts, conflicts, too early. */
const OPEN_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** What the answer to a create or confirm means. Throws where it is certain that the service did not act and the caller cannot mend it. */
export function parseMutationResponse(raw: RawResponse, asked: ExpectedFields): MutationOutcome<WireObject> {
  const { status } = raw;
  if (status === 200 || status === 201) {
    const answer = readJsonObject(raw);
    return answer && matchesRequest(answer, asked)
      ? { kind: 'accepted', answer: redactResponseFields(answer, asked) }
      : { kind: 'unknown' };
  }
  if (status === 401) throw authFailed();
  if (status === 429) throw unavailable(raw);
  if (status >= 400 && status < 500 && !OPEN_STATUSES.has(status)) {
    return { kind: 'refused', httpStatus: status, message: extractErrorMessage(raw, asked) };
  }
  return { kind: 'unknown' };
}

/**
 * Whether an answer with the status for "no such transaction" is the service's own: JSON, with the names that the service
 * is known to write. A proxy, a load balancer or an empty backend says 404 too, and knows nothing of transactions.
 */
export function isOwnNotFound(raw: RawResponse, { status, fields }: NotFoundAnswer): boolean {
  if (raw.status !== status) return false;
  const answer = readJsonObject(raw);
  return answer !== undefined && fields.every((name) => Object.hasOwn(answer, name));
}

/** How the service says that it has no such transaction. */
export interface NotFoundAnswer {
  /** The HTTP status. */
  status: number;
  /** Names that the JSON object has in any case; none: any JSON object will do. */
  fields: readonly string[];
}

/** What the answer to a lookup says; null when the service has no such transaction. */
export function readLookupAnswer(
  raw: RawResponse,
  asked: ExpectedFields,
  notFoundStatus: number,
): WireObject | null {
  const { status } = raw;
  if (status === 200) {
    const answer = readJsonObject(raw);
    if (answer && matchesRequest(answer, asked)) return redactResponseFields(answer, asked);
    throw invalid();
  }
  if (status === notFoundStatus) return null;
  if (status === 401 || status === 403) throw authFailed();
  if (status === 408 || status === 425 || status === 429 || status >= 500) throw unavailable(raw);
  if (status >= 400) throw new ServiceError('LOOKUP_REFUSED', extractErrorMessage(raw, asked));
  throw invalid();
}

/** The service counts as down, or too many calls wait for it; nothing was sent. */
export const notTried = (): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service is not answering now; this call sent nothing. Repeat it unchanged.',
    1000,
    true,
  );

/** What a create or confirm that ended without an answer means. Throws where it is certain that nothing was sent. */
export function readMoneyFailure(failure: unknown): { kind: 'unknown' } {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (!failure.nothingSent) return { kind: 'unknown' };
  if (failure.reason === 'refused') throw notTried();
  throw new ServiceError(
    'UNAVAILABLE',
    'The payment service cannot be reached; this call sent nothing. Repeat it unchanged.',
  );
}

/** What a caller sees when a lookup ends without an answer. */
export function lookupFault(failure: unknown): ServiceError {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (failure.reason === 'timeout')
    return new ServiceError(
      'TIMEOUT',
      'The payment service did not answer a lookup in time. Repeat the call unchanged.',
    );
  if (failure.reason === 'refused') return notTried();
  return failure.reason === 'too-large'
    ? invalid()
    : new ServiceError(
        'UNAVAILABLE',
        'The payment service cannot be reached; this call sent nothing. Repeat it unchanged.',
      );
}
