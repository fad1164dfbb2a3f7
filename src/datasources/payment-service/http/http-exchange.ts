import type { Dispatcher } from 'undici';
import { decodeUtf8, parseStrictJson } from '../../../shared/json-text';
import type { Timer } from '../../../shared/clock';
import type { Runtime } from '../../../shared/runtime';
import { isObject, type WireObject } from '../../../shared/wire-object';

/** A complete response of the service. */
export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Parses the body as I-JSON; undefined if the content type is not JSON, or if the body is compressed or invalid. */
export function readJson({ headers, body }: RawResponse): unknown {
  const contentType = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/.test(contentType) || encoding !== 'identity')
    return undefined;
  try {
    return parseStrictJson(decodeUtf8(body));
  } catch {
    return undefined;
  }
}

/** Parses the body as a JSON object; undefined if it is anything else. */
export function readJsonObject(rawResponse: RawResponse): WireObject | undefined {
  const value = readJson(rawResponse);
  return isObject(value) ? value : undefined;
}

/** Error of a request that ended without a complete response. */
export class RequestFailure extends Error {
  constructor(
    /**
     * The result of the request in metrics:
     * - `timeout`: the deadline passed, or too little time was left to start
     * - `too_large`: the response exceeds MAX_RESPONSE_BYTES
     * - `broken`: the connection failed, or the gateway is shutting down
     * - `rejected_locally`: the gateway did not try to send the request, for example because a circuit breaker is open
     */
    readonly reason: 'timeout' | 'too_large' | 'broken' | 'rejected_locally',
    /** Whether it is certain that no byte was sent. If so, the service cannot have acted on the request. */
    readonly nothingSent: boolean,
    /** Error code for logs, for example DEADLINE or ECONNREFUSED. */
    readonly code: string,
  ) {
    super(`Request to the payment service failed (${code}).`);
    this.name = 'RequestFailure';
  }
}

/** Maximum size of a response body. All documented responses are smaller. */
const MAX_RESPONSE_BYTES = 256 * 1024;

/**
 * Returns the time in ms that must be left of a time limit when a request starts. With less time, the request would
 * probably time out.
 */
export const minMsLeftToStart = (timeoutMs: number): number => Math.min(1000, timeoutMs / 4);

export type DispatchController = Pick<Dispatcher.DispatchController, 'abort'>;

/** One HTTP request and its response, with one deadline. undici or HttpConnections.post() calls the on...() methods. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #deferredResponse = Promise.withResolvers<RawResponse>();
  readonly #deadlineTimer: Timer;
  /** Latest time to start the request, in ms by the monotonic clock. */
  readonly #latestStart: number;
  readonly #bodyChunks: Buffer[] = [];
  #controller: DispatchController | undefined;
  #failure: RequestFailure | undefined;
  #receivedBytes = 0;
  #responseStatus = 0;
  #responseHeaders: RawResponse['headers'] = {};

  constructor(
    timeoutMs: number,
    private readonly runtime: Runtime,
  ) {
    this.#deadlineTimer = runtime.after(timeoutMs, () => this.#fail('timeout', 'DEADLINE'));
    this.#latestStart = runtime.monotonic() + timeoutMs - minMsLeftToStart(timeoutMs);
  }

  get response(): Promise<RawResponse> {
    return this.#deferredResponse.promise;
  }

  /** Calls `dispatch`, unless too little time is left. Resolves with the response, or rejects with a RequestFailure. */
  start(dispatch: () => void): Promise<RawResponse> {
    this.#failIfTooLate();
    if (!this.#failure) dispatch();
    return this.response;
  }

  /** Fails the exchange as `rejected_locally`, unless it failed before. Call this if the request will not be sent. */
  failUnsent(error: unknown): void {
    this.#fail('rejected_locally', error instanceof Error ? error.name : 'REFUSED');
  }

  /** Called before the first byte is written. Aborts the request if the exchange has failed or the deadline is near. */
  onRequestStart(controller: DispatchController): void {
    this.#failIfTooLate();
    if (this.#failure) controller.abort(this.#failure);
    else this.#controller = controller;
  }

  /** Fails the exchange if too little time is left. Reads the clock, because in a busy process the timer is late. */
  #failIfTooLate(): void {
    if (this.runtime.monotonic() > this.#latestStart) this.#fail('timeout', 'DEADLINE');
  }

  /** Called for the final response. Before that, undici also calls it for each informational response (1xx). */
  onResponseStart(_controller: DispatchController, status: number, headers: RawResponse['headers']): void {
    this.#responseStatus = status;
    this.#responseHeaders = headers;
  }

  onResponseData(_controller: DispatchController, chunk: Buffer): void {
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > MAX_RESPONSE_BYTES) this.#fail('too_large', 'ANSWER_TOO_LARGE');
    else this.#bodyChunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#failure) return;
    this.#deadlineTimer.cancel();
    const [first, second] = this.#bodyChunks;
    // Most responses have one chunk, which needs no copy.
    const body = first && !second ? first : Buffer.concat(this.#bodyChunks);
    const response = { status: this.#responseStatus, headers: this.#responseHeaders, body };
    void this.runtime.nextTurn().then(() => this.#deferredResponse.resolve(response));
  }

  onResponseError(_controller: DispatchController | undefined, error: Error): void {
    this.#fail('broken', 'code' in error ? String(error.code) : error.name);
  }

  #fail(reason: RequestFailure['reason'], code: string): void {
    if (this.#failure) return;
    this.#deadlineTimer.cancel();
    this.#failure = new RequestFailure(reason, this.#controller === undefined, code);
    this.#controller?.abort(this.#failure);
    this.#deferredResponse.reject(this.#failure);
  }
}
