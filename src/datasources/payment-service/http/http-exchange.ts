import type { Dispatcher } from 'undici';
import { decodeUtf8, parseJson } from '../../../shared/json-text';
import { nextEventLoopTurn } from '../../../shared/next-turn';
import { isObject, type WireObject } from '../../../shared/wire-object';

/** A complete response of the service. */
export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** The JSON value of a response; undefined when content type, encoding or text are invalid. */
export function readJson({ headers, body }: RawResponse): unknown {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/.test(type) || encoding !== 'identity') return undefined;
  try {
    return parseJson(decodeUtf8(body) ?? '');
  } catch {
    return undefined;
  }
}

/** The JSON object of a response; undefined when there is none. */
export function readJsonObject(raw: RawResponse): WireObject | undefined {
  const value = readJson(raw);
  return isObject(value) ? value : undefined;
}

/** A request that ended without a response. */
export class RequestFailure extends Error {
  constructor(
    /** `refused`: the gateway did not send it. */
    readonly reason: 'timeout' | 'too-large' | 'broken' | 'refused',
    /** Whether certainly no byte was sent, so that the service cannot have acted on it. */
    readonly nothingSent: boolean,
    /** For logs: ECONNREFUSED, UND_ERR_SOCKET, … */
    readonly code: string,
  ) {
    super(`Request to the payment service failed (${code}).`);
    this.name = 'RequestFailure';
  }
}

/** More than any documented response. */
const MAX_RESPONSE_BYTES = 256 * 1024;

const MAX_REMAINING_MS = 1000;

/** Least time in ms to start a request with; a later one could not complete before its deadline. */
export const minRemainingMs = (timeoutMs: number): number => Math.min(MAX_REMAINING_MS, timeoutMs / 4);

export type Controller = Pick<Dispatcher.DispatchController, 'abort'>;

/** A request and its response under one deadline; a handler for undici and for UnpooledClient. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly response: Promise<RawResponse>;
  readonly #timer: NodeJS.Timeout;
  /** Latest time to start. */
  readonly #startUntil: number;
  readonly #chunks: Buffer[] = [];
  #resolve!: (response: RawResponse) => void;
  #reject!: (failure: RequestFailure) => void;
  #controller: Controller | undefined;
  #failure: RequestFailure | undefined;
  #size = 0;
  #status = 0;
  #headers: RawResponse['headers'] = {};

  constructor(timeoutMs: number) {
    this.response = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.#fail('timeout', 'DEADLINE'), timeoutMs);
    this.#startUntil = performance.now() + timeoutMs - minRemainingMs(timeoutMs);
  }

  /** Dispatches the request unless too little time is left. */
  start(dispatch: () => void): Promise<RawResponse> {
    this.#checkTime();
    if (!this.#failure) dispatch();
    return this.response;
  }

  /** Ends an exchange that was never dispatched; does nothing to one that has ended. */
  refuse(error: unknown): void {
    this.#fail('refused', error instanceof Error ? error.name : 'REFUSED');
  }

  /** Called before the first byte is written: an exchange that failed in the meantime sends nothing. */
  onRequestStart(controller: Controller): void {
    this.#checkTime();
    if (this.#failure) controller.abort(this.#failure);
    else this.#controller = controller;
  }

  /** Also fails an exchange whose timer is due but has not run yet. */
  #checkTime(): void {
    if (performance.now() > this.#startUntil) this.#fail('timeout', 'DEADLINE');
  }

  /** Called again after informational responses (1xx). */
  onResponseStart(_controller: Controller, status: number, headers: RawResponse['headers']): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MAX_RESPONSE_BYTES) this.#fail('too-large', 'ANSWER_TOO_LARGE');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#failure) return;
    clearTimeout(this.#timer);
    const [first, second] = this.#chunks;
    // Most responses are one chunk.
    const body = first && !second ? first : Buffer.concat(this.#chunks);
    const response = { status: this.#status, headers: this.#headers, body };
    void nextEventLoopTurn().then(() => this.#resolve(response));
  }

  onResponseError(_controller: Controller | undefined, error: Error): void {
    this.#fail('broken', 'code' in error ? String(error.code) : error.name);
  }

  #fail(reason: RequestFailure['reason'], code: string): void {
    if (this.#failure) return;
    clearTimeout(this.#timer);
    this.#failure = new RequestFailure(reason, this.#controller === undefined, code);
    this.#controller?.abort(this.#failure);
    this.#reject(this.#failure);
  }
}
