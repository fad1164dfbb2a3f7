import type { SensitiveValues } from '../../redaction/service-response';
import type { WireObject } from '../../shared/wire-object';
import {
  isNotFoundFromService,
  rejectedLocallyError,
  parseMutationResponse,
  readLookupResponse,
  toLookupError,
  outcomeOfFailure,
  type ExpectedFields,
  type MutationOutcome,
  type NotFoundCriteria,
} from './mapping/responses';
import type { BulkheadName } from './http/resilience';
import { LookupRetrier } from './http/retry-budget';
import type { Runtime } from '../../shared/runtime';
import {
  LABEL_BY_METHOD_AND_PATH,
  classifyError,
  classifyStatus,
  type RequestObserver,
  type RequestResult,
} from './request-observer';
import type { RawResponse } from './http/http-exchange';
import { dateHeaderMs, type ApiCall, type SendOptions, type ServiceTransport } from './http/transport';

/**
 * The transaction to look up. The values in `secrets` are redacted in the response. If the response contradicts one of
 * the other fields, the lookup fails (`RESPONSE_INVALID`).
 */
export type LookupKey = { channel: string } & Pick<
  ExpectedFields,
  'transactionId' | 'externalId' | 'amount' | 'secrets'
>;

interface LookupResponse {
  /** The transaction in the response; null if the response is "not found". */
  transaction: WireObject | null;
  /** Whether the response is certainly from the service, not from a proxy. Always true if `transaction` is set. */
  isFromService: boolean;
  /** Date header of the response in ms since 1970; undefined if missing or invalid. */
  dateHeaderMs: number | undefined;
}

/** A slot in a bulkhead (concurrency limit), reserved for a create before it is written to the journal. */
export interface ReservedSlot {
  release(): void;
  /** Deadline for the complete response, in ms by the monotonic clock. */
  deadline: number;
  /**
   * Time of the reservation in ms since 1970. The create is signed with this timestamp. If the create is sent too late,
   * the service therefore rejects it.
   */
  signatureTime: number;
}

/** Reserves a slot for each create. Payments and payouts have a bulkhead (concurrency limit) each. */
export interface BulkheadSlots {
  /** Whether the caller would get a slot immediately. */
  hasFreeSlot(callerId: string): boolean;
  /**
   * Waits for a free slot. Throws a ServiceError (`UNAVAILABLE`) if none becomes free in time, the queue is full, or a
   * circuit breaker is half open. While one is open, reserve() succeeds, but the send then fails or is the probe.
   */
  reserve(channel: string, callerId: string): Promise<ReservedSlot>;
  /** Lower bound of the service's current time in ms since 1970; null if unknown. */
  serviceTimeLowerBound(): number | null;
}

export interface PostOptions {
  /** The slot that was reserved for the request. If omitted, the request waits for a slot. */
  slot?: ReservedSlot;
  /** Caller whose concurrency limit also applies while the request waits for a slot. */
  callerId?: string;
  /** Called before a retry after a 401. If it resolves to false, the request is not retried. */
  mayRetryAfter401?: (() => Promise<boolean>) | undefined;
}

/** Client of the payment service: sends lookups, creates and confirms, and checks and redacts the responses. */
export class ServiceClient {
  readonly runtime: Runtime;
  readonly #lookupRetrier: LookupRetrier;

  constructor(
    private readonly transport: ServiceTransport,
    private readonly notFoundCriteria: NotFoundCriteria,
    /** Returns the gateway's own secrets, which are redacted in responses. */
    private readonly getGatewaySecrets: () => Pick<SensitiveValues, 'credentials' | 'isCallbackToken'>,
    private readonly observer: RequestObserver,
  ) {
    this.runtime = transport.runtime;
    this.#lookupRetrier = new LookupRetrier(this.runtime, () => observer.onRetry());
  }

  /** Looks a transaction up, with at most three tries within one deadline. Throws a ServiceError on failure. */
  lookUp(apiPath: string, lookupKey: LookupKey): Promise<LookupResponse> {
    const call = { channel: lookupKey.channel, apiPath, queryString: lookupQueryString(lookupKey) };
    const parseResponse = (rawResponse: RawResponse): LookupResponse => {
      const json = readLookupResponse(
        rawResponse,
        { ...lookupKey, ...this.getGatewaySecrets() },
        this.notFoundCriteria.status,
      );
      if (json) this.transport.recordDateHeader(rawResponse);
      const isFromService = json !== null || isNotFoundFromService(rawResponse, this.notFoundCriteria);
      return { transaction: json, isFromService, dateHeaderMs: dateHeaderMs(rawResponse) };
    };
    return this.#lookupRetrier.run(this.transport.timeoutMs, (timeoutMs) =>
      this.#send(call, { bulkheadName: 'lookups', timeoutMs }).then(parseResponse, (sendError: unknown) => {
        throw toLookupError(sendError);
      }),
    );
  }

  /** Sends a create or confirm. Retries it only after a 401. Throws a ServiceError only if the service did nothing. */
  postOnce(
    bulkheadName: BulkheadName,
    call: { channel: string; apiPath: string; body: string },
    expected: ExpectedFields,
    { slot, callerId, mayRetryAfter401 }: PostOptions = {},
  ): Promise<MutationOutcome<WireObject>> {
    const expectedWithSecrets = { ...expected, ...this.getGatewaySecrets() };
    const responsePromise = this.#send(call, {
      bulkheadName: slot ? null : bulkheadName,
      callerId,
      timeoutMs: slot && slot.deadline - this.runtime.monotonic(),
      signatureTime: slot?.signatureTime,
      mayRetryAfter401,
    });
    return responsePromise.then((rawResponse) => {
      const outcome = parseMutationResponse(rawResponse, expectedWithSecrets);
      if (outcome.kind === 'accepted') this.transport.recordDateHeader(rawResponse);
      return outcome;
    }, outcomeOfFailure);
  }

  bulkheadSlots(apiPath: string, bulkheadName: BulkheadName): BulkheadSlots {
    const { transport, runtime } = this;
    return {
      hasFreeSlot: (callerId) => transport.policy.hasFreeSlot(bulkheadName, callerId),
      serviceTimeLowerBound: () => transport.serviceTimeLowerBound() ?? null,
      reserve: async (channel, callerId) => {
        const startedAt = runtime.monotonic();
        try {
          return await transport.reserve(bulkheadName, callerId);
        } catch (reserveError) {
          this.#report({ channel, apiPath, body: '' }, startedAt, classifyError(reserveError));
          throw rejectedLocallyError();
        }
      },
    };
  }

  #send(call: ApiCall, options: SendOptions): Promise<RawResponse> {
    const startedAt = this.runtime.monotonic();
    return this.transport.send(call, options).then(
      (rawResponse) => {
        this.#report(call, startedAt, classifyStatus(rawResponse.status, this.notFoundCriteria.status));
        return rawResponse;
      },
      (sendError: unknown) => {
        this.#report(call, startedAt, classifyError(sendError));
        throw sendError;
      },
    );
  }

  #report(call: ApiCall, startedAt: number, { resultLabel, ...logFields }: RequestResult): void {
    const durationMs = this.runtime.monotonic() - startedAt;
    const methodAndPath = `${'queryString' in call ? 'GET' : 'POST'} ${call.apiPath}`;
    this.observer.onEnd(LABEL_BY_METHOD_AND_PATH[methodAndPath] ?? 'other', resultLabel, durationMs);
    if (resultLabel === 'ok' || resultLabel === 'not_found') return;
    const isCredentialsError = resultLabel === 'unauthorized' || resultLabel === 'no_credentials';
    const channelField = isCredentialsError ? { channel: call.channel } : {};
    const ms = Math.round(durationMs);
    this.observer.onFailure({ call: methodAndPath, ...logFields, ...channelField, ms });
  }
}

/** Returns the query string of a lookup, which is signed and sent unchanged. */
export function lookupQueryString({ channel, transactionId, externalId }: LookupKey): string {
  const parts = [`channel=${encodeURIComponent(channel)}`];
  if (transactionId !== undefined) parts.push(`transaction_id=${encodeURIComponent(transactionId)}`);
  if (externalId !== undefined) parts.push(`external_id=${encodeURIComponent(externalId)}`);
  return parts.join('&');
}
