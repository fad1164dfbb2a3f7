import { isUuid, normalizeDecimal } from '../../../schema/scalars';
import { isObject, wireText, type WireObject } from '../../../shared/wire-object';
import { redactResponse, type SensitiveValues } from '../../../redaction/service-response';
import { extractErrorMessage } from './upstream-error-message';
import { ServiceError } from '../service-error';
import { readJsonObject, RequestFailure, type RawResponse } from '../http/http-exchange';

/** Fields of the request that a response must match to be believed. */
export interface ExpectedFields extends SensitiveValues {
  channel?: string;
  transactionId?: string;
  externalId?: string;
  amount?: { currency: string; value: string };
}

/** Result of a create or confirm. */
export type MutationOutcome<T> =
  | { kind: 'accepted'; response: T }
  | { kind: 'refused'; httpStatus: number; message: string }
  /** The service may have carried it out. */
  | { kind: 'unknown' };

const isSameText = (actual: unknown, expected: string | undefined): boolean =>
  actual === undefined || actual === null || expected === undefined || actual === expected;

const isSameId = (actual: unknown, expected: string | undefined): boolean =>
  isSameText(typeof actual === 'string' ? actual.toLowerCase() : actual, expected?.toLowerCase());

function isSameAmount(actual: unknown, expected: ExpectedFields['amount']): boolean {
  if (actual === undefined || actual === null || expected === undefined) return true;
  if (!isObject(actual)) return false;
  const value = wireText(actual['value']);
  return (
    actual['currency'] === expected.currency && value !== null && normalizeDecimal(value) === expected.value
  );
}

/** Whether a response has an id and a status and matches the request. Missing fields match. */
export function matchesRequest(json: WireObject, expected: ExpectedFields): boolean {
  const id = json['transaction_id'];
  const status = json['status'];
  return (
    typeof id === 'string' &&
    isUuid(id) &&
    typeof status === 'string' &&
    status !== '' &&
    isSameId(id, expected.transactionId) &&
    isSameId(json['channel'], expected.channel) &&
    isSameText(json['external_id'], expected.externalId) &&
    isSameAmount(json['amount'], expected.amount)
  );
}

/** Redacts a response that matches the request; fields that were compared stay unchanged. */
function redactResponseFields(json: WireObject, expected: ExpectedFields): WireObject {
  const verified = [
    'transaction_id',
    'channel',
    ...(expected.externalId === undefined ? [] : ['external_id']),
  ];
  return redactResponse(json, expected, verified);
}

/** Retry-After in ms; undefined unless it is a number of seconds. */
function retryAfterMs({ headers }: RawResponse): number | undefined {
  const text = headers['retry-after'];
  return typeof text === 'string' && /^\d{1,5}$/.test(text) ? Number(text) * 1000 : undefined;
}

const unavailable = (raw: RawResponse): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service is unavailable. Repeat the call unchanged later.',
    retryAfterMs(raw),
  );

const unreachable = (): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service cannot be reached; this call sent nothing. Repeat it unchanged.',
  );

/** A circuit breaker is open, or too many requests are queued. */
export const notTried = (): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service is not responding; this call sent nothing. Repeat it unchanged.',
    1000,
    true,
  );

const authFailed = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    "The payment service rejected the gateway's credentials or clock; this call changed nothing. Tell the operator.",
  );

const invalid = (): ServiceError =>
  new ServiceError(
    'RESPONSE_INVALID',
    "The payment service's response to a lookup is invalid or contradicts the request; the transaction may exist. Tell the operator.",
  );

/** Statuses after which the service may have acted: timeout, conflict, too early. */
const OPEN_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Reads the response to a create or confirm. Throws when the service certainly did nothing and the input is not the cause. */
export function parseMutationResponse(
  raw: RawResponse,
  expected: ExpectedFields,
): MutationOutcome<WireObject> {
  const { status } = raw;
  if (status === 200 || status === 201) {
    const json = readJsonObject(raw);
    return json && matchesRequest(json, expected)
      ? { kind: 'accepted', response: redactResponseFields(json, expected) }
      : { kind: 'unknown' };
  }
  if (status === 401) throw authFailed();
  if (status === 429) throw unavailable(raw);
  if (status >= 400 && status < 500 && !OPEN_STATUSES.has(status)) {
    return { kind: 'refused', httpStatus: status, message: extractErrorMessage(raw, expected) };
  }
  return { kind: 'unknown' };
}

/** The service's response for a transaction that does not exist. */
export interface NotFoundResponse {
  status: number;
  /** Names that the JSON object always has; empty when any object will do. */
  fields: readonly string[];
}

/** Whether a "not found" response is the service's own. That of a proxy proves nothing about transactions. */
export function isOwnNotFound(raw: RawResponse, { status, fields }: NotFoundResponse): boolean {
  if (raw.status !== status) return false;
  const json = readJsonObject(raw);
  return json !== undefined && fields.every((name) => Object.hasOwn(json, name));
}

/** Reads the response to a lookup; null when there is no such transaction. Throws ServiceErrors. */
export function readLookupResponse(
  raw: RawResponse,
  expected: ExpectedFields,
  notFoundStatus: number,
): WireObject | null {
  const { status } = raw;
  if (status === 200) {
    const json = readJsonObject(raw);
    if (json && matchesRequest(json, expected)) return redactResponseFields(json, expected);
    throw invalid();
  }
  if (status === notFoundStatus) return null;
  if (status === 401 || status === 403) throw authFailed();
  if (status === 408 || status === 425 || status === 429 || status >= 500) throw unavailable(raw);
  if (status >= 400) throw new ServiceError('LOOKUP_REFUSED', extractErrorMessage(raw, expected));
  throw invalid();
}

/** Result of a create or confirm without a response. Throws when nothing was sent. */
export function toMutationOutcome(failure: unknown): { kind: 'unknown' } {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (!failure.nothingSent) return { kind: 'unknown' };
  throw failure.reason === 'refused' ? notTried() : unreachable();
}

/** Error of a lookup without a response. */
export function toLookupError(failure: unknown): ServiceError {
  if (!(failure instanceof RequestFailure)) throw failure;
  if (failure.reason === 'timeout')
    return new ServiceError(
      'TIMEOUT',
      'The payment service did not respond to a lookup in time. Repeat the call unchanged.',
    );
  if (failure.reason === 'refused') return notTried();
  return failure.reason === 'too-large' ? invalid() : unreachable();
}
