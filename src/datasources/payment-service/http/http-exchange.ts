import type { Dispatcher } from 'undici';
import { nextEventLoopTurn } from '../../../shared/next-turn';
import type { ResponseHandler, Controller } from './unpooled-client';

/** An answer of the service, whole: its head and the bytes of its body. */
export interface RawResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * A call that did not end with an answer. `nothingSent`: it is certain that no byte of the request left, so the
 * service cannot have acted on it.
 */
export class RequestFailure extends Error {
  constructor(
    readonly reason: 'timeout' | 'too-large' | 'broken' | 'refused',
    readonly nothingSent: boolean,
    /** The system's word for it, for logs: ECONNREFUSED, UND_ERR_SOCKET, … */
    readonly code: string,
  ) {
    super(`The call to the service failed (${code}).`);
    this.name = 'CallFailure';
  }
}

/** More than any documented answer needs. */
const MAX_ANSWER_BYTES = 256 * 1024;

const MOST_NEEDED_MS = 1000;

/** A request begun with less time left could not be answered before its deadline anyway; by how long a call may take in all. */
export const minRemainingMs = (timeoutMs: number): number => Math.min(MOST_NEEDED_MS, timeoutMs / 4);

/** One request and its answer under one deadline. */
export class Exchange implements Dispatcher.DispatchHandler, ResponseHandler {
  readonly answer: Promise<RawResponse>;
  readonly #timer: NodeJS.Timeout;
  /** The last moment at which it is worth beginning. */
  readonly #beginUntil: number;
  readonly #chunks: Buffer[] = [];
  #resolve!: (answer: RawResponse) => void;
  #reject!: (failure: RequestFailure) => void;
  #controller: Controller | undefined;
  #failure: RequestFailure | undefined;
  #size = 0;
  #status = 0;
  #headers: RawResponse['headers'] = {};

  constructor(timeoutMs: number) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#timer = setTimeout(() => this.#fail('timeout', 'DEADLINE'), timeoutMs);
    this.#beginUntil = performance.now() + timeoutMs - minRemainingMs(timeoutMs);
  }

  /** Dispatches the request, unless its time has run out while it waited for its turn. */
  begin(dispatch: () => void): Promise<RawResponse> {
    this.#checkTime();
    if (!this.#failure) dispatch();
    return this.answer;
  }

  /** Ends an exchange that never got its turn; does nothing to one that has ended. */
  refuse(error: unknown): void {
    this.#fail('refused', error instanceof Error ? error.name : 'REFUSED');
  }

  /** Called when a connection is there, before the first byte is written: an exchange that failed while it waited sends nothing. */
  onRequestStart(controller: Controller): void {
    this.#checkTime();
    if (this.#failure) controller.abort(this.#failure);
    else this.#controller = controller;
  }

  /** Ends an exchange whose turn came too late; also one whose timer is due in this very tick. */
  #checkTime(): void {
    if (performance.now() > this.#beginUntil) this.#fail('timeout', 'DEADLINE');
  }

  onResponseStart(_controller: Controller, status: number, headers: RawResponse['headers']): void {
    // Informational answers (1xx) come before the real one.
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > MAX_ANSWER_BYTES) this.#fail('too-large', 'ANSWER_TOO_LARGE');
    else this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    if (this.#failure) return;
    clearTimeout(this.#timer);
    const [first, second] = this.#chunks;
    // Most answers come in one piece.
    const body = first && !second ? first : Buffer.concat(this.#chunks);
    const answer = { status: this.#status, headers: this.#headers, body };
    void nextEventLoopTurn().then(() => this.#resolve(answer));
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
