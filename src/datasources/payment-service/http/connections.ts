import { Pool } from 'undici';
import type { Exchange } from './http-exchange';
import { PostClient, type PostRequest } from './post-client';

/** The connections to the service. */
export interface Connections {
  /** Sends a lookup. */
  get(request: Omit<PostRequest, 'body'>, exchange: Exchange): void;
  /** Sends a create or confirm. */
  post(request: PostRequest, exchange: Exchange): void;
  /** Resolves when all requests in flight have ended. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 256;

export class HttpConnections implements Connections {
  readonly #lookupPool: Pool;
  readonly #postClient: PostClient;

  constructor(base: URL, connectTimeoutMs: number) {
    this.#lookupPool = new Pool(base.origin, {
      connections: MAX_CONNECTIONS,
      connect: { timeout: connectTimeoutMs },
      // The deadline of the Exchange covers these timeouts.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    this.#postClient = new PostClient(base, connectTimeoutMs);
  }

  get({ path, headers }: Omit<PostRequest, 'body'>, exchange: Exchange): void {
    this.#lookupPool.dispatch({ method: 'GET', path, headers }, exchange);
  }

  post(request: PostRequest, exchange: Exchange): void {
    this.#postClient.dispatch(request, exchange);
  }

  async close(): Promise<void> {
    await Promise.all([this.#lookupPool.close(), this.#postClient.close()]);
  }
}
