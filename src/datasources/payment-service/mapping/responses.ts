import { normalizeDecimal } from '../../../schema/scalars';
import { isUuid } from '../../../shared/uuid';
import { isObject, scalarToText, type WireObject } from '../../../shared/wire-object';
import { redactResponse, type SensitiveValues } from '../../../redaction/service-response';
import { extractErrorMessage } from './upstream-error-message';
import { refusedByGatewayError, ServiceError } from '../service-error';
import { readJsonObject, RequestFailure, type RawResponse } from '../http/http-exchange';

/** Amount that a create requests. `value` is a decimal number. */
export type RequestAmount = Record<'currency' | 'value', string>;

/**
 * Values of the request that are compared with the response. A valid response has a transaction id and a status. Its
 * other fields equal these values or are missing. The inherited fields are not compared: their values are redacted in
 * the response.
 */
export interface ExpectedFields extends SensitiveValues {
  channel?: string;
  transactionId?: string;
  externalId?: string;
  amount?: RequestAmount;
}

/** Result of a create or confirm. */
export type MutationOutcome<T> =
  | { kind: 'accepted'; transaction: T }
  /** The service responded with a 4xx status and did nothing. `message` has no secrets, so callers may see it. */
  | { kind: 'refused'; httpStatus: number; message: string }
  /** The service may or may not have carried out the create or confirm. */
  | { kind: 'unknown' };

/** Applies `map` to the response of an accepted create or confirm. Returns other outcomes unchanged. */
export const mapAccepted = <A, B>(outcome: MutationOutcome<A>, map: (json: A) => B): MutationOutcome<B> =>
  outcome.kind === 'accepted' ? { kind: 'accepted', transaction: map(outcome.transaction) } : outcome;

const textMatchesOrIsMissing = (actual: unknown, expected: string | undefined): boolean =>
  actual === undefined || actual === null || expected === undefined || actual === expected;

const idMatchesOrIsMissing = (actual: unknown, expected: string | undefined): boolean =>
  textMatchesOrIsMissing(typeof actual === 'string' ? actual.toLowerCase() : actual, expected?.toLowerCase());

function amountMatchesOrIsMissing(actual: unknown, expected: ExpectedFields['amount']): boolean {
  if (actual === undefined || actual === null || expected === undefined) return true;
  if (!isObject(actual)) return false;
  const value = scalarToText(actual['value']);
  return (
    actual['currency'] === expected.currency && value !== null && normalizeDecimal(value) === expected.value
  );
}

function matchesRequest(json: WireObject, expected: ExpectedFields): boolean {
  const transactionId = json['transaction_id'];
  const status = json['status'];
  return (
    typeof transactionId === 'string' &&
    isUuid(transactionId) &&
    typeof status === 'string' &&
    status !== '' &&
    idMatchesOrIsMissing(transactionId, expected.transactionId) &&
    idMatchesOrIsMissing(json['channel'], expected.channel) &&
    textMatchesOrIsMissing(json['external_id'], expected.externalId) &&
    amountMatchesOrIsMissing(json['amount'], expected.amount)
  );
}

/** Returns the JSON of a response, redacted; undefined if it is no JSON object or does not match the request. */
function readMatchingJson(rawResponse: RawResponse, expected: ExpectedFields): WireObject | undefined {
  const json = readJsonObject(rawResponse);
  if (!json || !matchesRequest(json, expected)) return undefined;
  // These fields need no redaction: a transaction id is a UUID, and the others equal the expected values or are null.
  const verifiedFieldNames = [
    'transaction_id',
    'channel',
    ...(expected.externalId === undefined ? [] : ['external_id']),
  ];
  return redactResponse(json, expected, verifiedFieldNames);
}

function unavailableError({ headers }: RawResponse): ServiceError {
  const retryAfter = headers['retry-after'];
  const retryAfterMs =
    typeof retryAfter === 'string' && /^\d{1,5}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  const message = 'The payment service is unavailable. Repeat the call unchanged later.';
  return new ServiceError('UNAVAILABLE', message, retryAfterMs);
}

const unreachableError = (): ServiceError =>
  new ServiceError(
    'UNAVAILABLE',
    'The payment service cannot be reached; this call changed nothing. Repeat it unchanged.',
  );

/**
 * Returns the error for a request that the gateway did not send, because a circuit breaker is open or half open, the
 * queue is full, or no slot became free in time.
 */
export const rejectedLocallyError = (): ServiceError =>
  refusedByGatewayError(
    'The payment service is not responding; this call sent nothing. Repeat it unchanged.',
  );

const authFailedError = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    "The payment service rejected the gateway's credentials or clock; this call changed nothing. Tell the operator.",
  );

const invalidResponseError = (): ServiceError =>
  new ServiceError(
    'RESPONSE_INVALID',
    "The payment service's response to a lookup is invalid or contradicts the request; the transaction may exist. Tell the operator.",
  );

/** 4xx statuses after which the service may have carried out a create or confirm: timeout, conflict, too early. */
const UNKNOWN_OUTCOME_4XX_STATUSES: ReadonlySet<number> = new Set([408, 409, 425]);

/** Reads the response to a create or confirm. Throws a ServiceError after a 401 or 429: the service did nothing. */
export function parseMutationResponse(
  rawResponse: RawResponse,
  expected: ExpectedFields,
): MutationOutcome<WireObject> {
  const { status } = rawResponse;
  if (status === 200 || status === 201) {
    const json = readMatchingJson(rawResponse, expected);
    return json ? { kind: 'accepted', transaction: json } : { kind: 'unknown' };
  }
  if (status === 401) throw authFailedError();
  if (status === 429) throw unavailableError(rawResponse);
  if (status >= 400 && status < 500 && !UNKNOWN_OUTCOME_4XX_STATUSES.has(status)) {
    return { kind: 'refused', httpStatus: status, message: extractErrorMessage(rawResponse, expected) };
  }
  return { kind: 'unknown' };
}

/** Status and fields by which the service's own response to a lookup of a missing transaction is recognised. */
export interface NotFoundCriteria {
  status: number;
  /** Names of fields that the JSON object in the response always has. If the list is empty, any JSON object matches. */
  fieldNames: readonly string[];
}

/**
 * Whether a "not found" response is certainly from the service, not from a proxy: it has the status in
 * `notFoundCriteria`, and its body is a JSON object with all `fieldNames`.
 */
export function isNotFoundFromService(rawResponse: RawResponse, notFoundCriteria: NotFoundCriteria): boolean {
  if (rawResponse.status !== notFoundCriteria.status) return false;
  const json = readJsonObject(rawResponse);
  return (
    json !== undefined && notFoundCriteria.fieldNames.every((fieldName) => Object.hasOwn(json, fieldName))
  );
}

/** Reads the response to a lookup. Returns null if its status is `notFoundStatus`. Throws a ServiceError on failure. */
export function readLookupResponse(
  rawResponse: RawResponse,
  expected: ExpectedFields,
  notFoundStatus: number,
): WireObject | null {
  const { status } = rawResponse;
  if (status === 200) {
    const json = readMatchingJson(rawResponse, expected);
    if (json) return json;
    throw invalidResponseError();
  }
  if (status === notFoundStatus) return null;
  if (status === 401 || status === 403) throw authFailedError();
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    throw unavailableError(rawResponse);
  if (status >= 400) throw new ServiceError('LOOKUP_REFUSED', extractErrorMessage(rawResponse, expected));
  throw invalidResponseError();
}

/**
 * Returns the outcome of a create or confirm that got no complete response. Throws a ServiceError if the service
 * certainly did nothing. Rethrows a `sendError` that is no RequestFailure.
 */
export function outcomeOfFailure(sendError: unknown): { kind: 'unknown' } {
  if (!(sendError instanceof RequestFailure)) throw sendError;
  if (!sendError.nothingSent) return { kind: 'unknown' };
  throw sendError.reason === 'rejected_locally' ? rejectedLocallyError() : unreachableError();
}

/** Returns the error for a lookup that got no complete response. Rethrows a `sendError` that is no RequestFailure. */
export function toLookupError(sendError: unknown): ServiceError {
  if (!(sendError instanceof RequestFailure)) throw sendError;
  if (sendError.reason === 'timeout')
    return new ServiceError(
      'TIMEOUT',
      'The payment service did not respond to a lookup in time. Repeat the call unchanged.',
    );
  if (sendError.reason === 'rejected_locally') return rejectedLocallyError();
  return sendError.reason === 'too_large' ? invalidResponseError() : unreachableError();
}
