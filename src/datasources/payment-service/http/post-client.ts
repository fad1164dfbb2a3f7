import { request } from 'node:http';
import { util } from 'undici';
import { InFlightCounter } from '../../../shared/in-flight-counter';
import type { Controller, Exchange } from './http-exchange';
import { PostAgent } from './post-agent';

export interface PostRequest {
  method: 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Sends creates and confirms over HTTP/1.1 connections that are hardly ever closed while a request is written to them. */
export class PostClient {
  readonly #agent: PostAgent;
  readonly #host: string;
  readonly #inFlight = new InFlightCounter();
  #isClosed = false;

  constructor(base: URL, connectTimeoutMs: number) {
    this.#agent = new PostAgent(base, connectTimeoutMs);
    this.#host = base.host;
  }

  dispatch(message: PostRequest, exchange: Exchange): void {
    if (this.#isClosed) return exchange.onResponseError(undefined, new Error('The client is closed.'));
    void this.#inFlight.track(this.#send(message, exchange));
  }

  /** Rejects later requests; resolves when those in flight have ended and all connections are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#inFlight.drained();
    this.#agent.destroy();
  }

  /** Resolves when the request has ended. Never rejects. */
  #send({ method, path, headers, body }: PostRequest, exchange: Exchange): Promise<void> {
    // Node.js writes a list of headers unchanged, without processing each.
    const headerList = Object.entries({
      host: this.#host,
      connection: 'keep-alive',
      ...headers,
      'content-length': String(Buffer.byteLength(body)),
    }).flat();
    return new Promise((resolve) => {
      const message = request({ agent: this.#agent, method, path, headers: headerList });
      const controller: Controller = { abort: () => void message.destroy() };
      let started: Controller | undefined;
      const fail = (error: Error): void => exchange.onResponseError(started, error);
      message
        .on('socket', () => {
          started = controller;
          // Aborts a request whose deadline has passed before anything is written.
          exchange.onRequestStart(controller);
          if (!message.destroyed) message.end(body);
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
