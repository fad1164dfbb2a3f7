import { request } from 'node:http';
import { Pool, util } from 'undici';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import type { DispatchController, HttpExchange } from './http-exchange';
import { PostAgent } from './post-agent';

interface GetRequest {
  path: string;
  headers: Record<string, string>;
}

interface PostRequest extends GetRequest {
  body: string;
}

/** HTTP connections to the payment service; test/simulation replaces them. */
export interface ServiceConnections {
  /** Sends a lookup. Reports its response or failure to `exchange`. */
  get(request: GetRequest, exchange: HttpExchange): void;
  /** Sends a create or confirm. Reports its response or failure to `exchange`. */
  post(request: PostRequest, exchange: HttpExchange): void;
  /** Rejects later requests. Resolves when all requests in flight have ended. */
  close(): Promise<void>;
}

const MAX_LOOKUP_CONNECTIONS = 256;

/** HTTP/1.1 connections: a pool for lookups, and a PostAgent for creates and confirms. */
export class HttpConnections implements ServiceConnections {
  readonly #lookupPool: Pool;
  readonly #postAgent: PostAgent;
  readonly #hostHeader: string;
  readonly #inFlightPostCounter = new InFlightCounter();
  #isClosed = false;

  constructor(baseUrl: URL, connectTimeoutMs: number) {
    this.#lookupPool = new Pool(baseUrl.origin, {
      connections: MAX_LOOKUP_CONNECTIONS,
      connect: { timeout: connectTimeoutMs },
      allowH2: false,
      // Disable the timeouts of undici, because the HttpExchange has a deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    this.#postAgent = new PostAgent(baseUrl, connectTimeoutMs);
    this.#hostHeader = baseUrl.host;
  }

  get({ path, headers }: GetRequest, exchange: HttpExchange): void {
    this.#lookupPool.dispatch({ method: 'GET', path, headers }, exchange);
  }

  post(postRequest: PostRequest, exchange: HttpExchange): void {
    if (this.#isClosed)
      return exchange.onResponseError(
        undefined,
        Object.assign(new Error('The gateway is shutting down.'), { code: 'SHUTTING_DOWN' }),
      );
    void this.#inFlightPostCounter.track(this.#post(postRequest, exchange));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([this.#lookupPool.close(), this.#inFlightPostCounter.waitUntilIdle()]);
    this.#postAgent.destroy();
  }

  /** Resolves when the request has ended. Never rejects. */
  #post({ path, headers, body }: PostRequest, exchange: HttpExchange): Promise<void> {
    // A list of headers is faster than an object: Node.js writes the list unchanged, without processing each header.
    const headerList = Object.entries({
      host: this.#hostHeader,
      connection: 'keep-alive',
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
    }).flat();
    return new Promise((resolve) => {
      const clientRequest = request({ agent: this.#postAgent, method: 'POST', path, headers: headerList });
      const controller: DispatchController = { abort: () => void clientRequest.destroy() };
      const fail = (error: Error): void => exchange.onResponseError(controller, error);
      clientRequest
        .on('socket', () => {
          // onRequestStart() aborts the request if too little time is left. Nothing has been written yet.
          exchange.onRequestStart(controller);
          if (!clientRequest.destroyed) clientRequest.end(body);
        })
        .on('response', (response) => {
          const responseHeaders = util.parseHeaders(response.rawHeaders);
          exchange.onResponseStart(controller, response.statusCode ?? 0, responseHeaders);
          response.on('data', (chunk: Buffer) => exchange.onResponseData(controller, chunk));
          response.on('end', () => exchange.onResponseEnd());
          response.on('error', fail);
        })
        .on('error', fail)
        .on('close', resolve);
    });
  }
}
