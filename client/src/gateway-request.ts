import { CursorExpired, RequestRefused } from './changes-errors';
import { gatewayError } from './errors';

/** Connection settings for requests to a gateway. */
export interface GatewayConnection {
  /** URL of the GraphQL endpoint, for example https://gateway.example/graphql. */
  url: string;
  /**
   * Headers such as `authorization`, or a function that returns the headers for each request. If the function throws,
   * the request is not retried.
   */
  headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /** Signal that aborts the requests. */
  signal?: AbortSignal;
  /**
   * Maximum time in milliseconds of each wait: for the headers of a response, for the body of a page of changes, and
   * for the next part of the event stream. By default 60,000. Must be longer than the gateway's setting
   * SUBSCRIPTION_PING_SECONDS, because without changes the event stream contains only pings.
   */
  idleTimeoutMs?: number;
  /** Function that sends the requests; by default the global `fetch`. */
  fetch?: typeof fetch;
}

type HeaderValues = Readonly<Record<string, string>>;

/** A GraphQL response. */
export interface GatewayResult {
  data?: unknown;
  errors?: readonly unknown[];
}

/** Failure after which a retry may succeed, such as a lost connection. */
export class RetryableError extends Error {
  /** @param retryAfterMs minimum time before the next request, in milliseconds */
  constructor(
    cause: unknown,
    readonly retryAfterMs: number = 0,
  ) {
    super('The connection to the gateway was interrupted.', { cause });
  }
}

/** Parses the text of a GraphQL response. Returns {} if the text is not JSON. */
export function parseResult(text: string): GatewayResult {
  try {
    return Object(JSON.parse(text)) as GatewayResult;
  } catch {
    return {};
  }
}

/** Throws the error for a failed response: CursorExpired, RetryableError if a retry may succeed, or RequestRefused. */
export function throwResponseError({ errors = [] }: GatewayResult): never {
  const error = gatewayError(errors);
  if (!error) throw new RequestRefused('The response does not come from a gateway: check the URL.', errors);
  const { code, message, retryable, retryAfterMs, oldestCursor } = error;
  if (oldestCursor !== null) throw new CursorExpired(message, oldestCursor);
  if (retryable) throw new RetryableError({ errors }, retryAfterMs ?? 0);
  throw new RequestRefused(`${code}: ${message}`, errors);
}

/** Whether a retry may succeed after a proxy responded with this HTTP status. */
const isTransient = (status: number): boolean => status >= 500 || [408, 425, 429].includes(status);

/**
 * One request to the gateway. The caller must close it. If the connection fails or a wait exceeds `idleTimeoutMs`, the
 * methods send(), readText() and readParts() throw a RetryableError. When `signal` is aborted, they throw
 * `signal.reason`.
 */
export class GatewayRequest {
  readonly #connection: GatewayConnection;
  readonly #controller = new AbortController();
  readonly #onAbort = (): void => this.#controller.abort(this.#connection.signal?.reason);

  constructor(connection: GatewayConnection) {
    this.#connection = connection;
    connection.signal?.addEventListener('abort', this.#onAbort);
  }

  /**
   * Sends an operation to `url` + `path`. Returns a 2xx response of the type `contentType`. For any other response,
   * throws a RetryableError if a proxy reports a transient error, and otherwise the error of throwResponseError().
   */
  async send(
    operation: { query: string; variables: object },
    path: string,
    contentType: string,
  ): Promise<Response> {
    const { url, headers, fetch: sendRequest = fetch } = this.#connection;
    const callerHeaders = typeof headers === 'function' ? await headers() : headers;
    const response = await this.#withIdleTimeout(() =>
      sendRequest(url.replace(/\/?$/, path), {
        method: 'POST',
        headers: { accept: contentType, 'content-type': 'application/json', ...callerHeaders },
        body: JSON.stringify(operation),
        signal: this.#controller.signal,
      }),
    );
    if (response.ok && response.headers.get('content-type')?.includes(contentType)) return response;
    const result = parseResult(await this.readText(response));
    if (!gatewayError(result) && isTransient(response.status))
      throw new RetryableError(new Error(`The gateway responded with HTTP ${response.status}.`));
    return throwResponseError(result);
  }

  /** Returns the body of a response as text. */
  readText(response: Response): Promise<string> {
    return this.#withIdleTimeout(() => response.text());
  }

  /** Yields the parts of a response body. Reads a part only when the consumer requests it. */
  async *readParts(response: Response): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = response.body?.getReader();
    for (;;) {
      const part = await this.#withIdleTimeout(async () => reader?.read());
      if (!part || part.done) return;
      yield part.value;
    }
  }

  /** Aborts the request if it is still running, and removes the listener of `signal`. */
  close(): void {
    this.#connection.signal?.removeEventListener('abort', this.#onAbort);
    this.#controller.abort();
  }

  async #withIdleTimeout<T>(receive: () => Promise<T>): Promise<T> {
    const { signal, idleTimeoutMs = 60_000 } = this.#connection;
    signal?.throwIfAborted();
    const onTimeout = (): void => this.#controller.abort(new Error(`No data within ${idleTimeoutMs} ms.`));
    const timer = setTimeout(onTimeout, idleTimeoutMs);
    try {
      return await receive();
    } catch (error) {
      signal?.throwIfAborted();
      throw new RetryableError(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
