import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { gatewayError, type GatewayErrorCode } from '@paygraph/client';
import { print } from 'graphql';

interface GraphqlResponse<D> {
  data?: D | null;
  errors?: unknown[];
}

interface GatewayErrorDetails {
  code: GatewayErrorCode | 'NO_ANSWER';
  retryable: boolean;
  retryAfterMs: number | null;
}

/** Thrown if a call returns no data: the first error of the response, or NO_ANSWER without a valid response. */
export class GatewayError extends Error {
  readonly code: GatewayErrorDetails['code'];
  /** Whether the same call may be repeated with the same key. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;

  constructor(message: string, { code, retryable, retryAfterMs }: GatewayErrorDetails) {
    super(message);
    this.code = code;
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Must exceed the longest call to the gateway: two timeouts of the service, and lookups after a lost response. */
const REQUEST_TIMEOUT_MS = 60_000;

const noResponse = (message: string): GatewayError =>
  new GatewayError(message, { code: 'NO_ANSWER', retryable: true, retryAfterMs: null });

/** A client for typed documents over HTTP. */
export class Gateway {
  readonly #url: string;
  readonly #headers: Record<string, string>;

  /**
   * @param url of /graphql
   * @param key the client key; none if the gateway does not authenticate callers, as with its sandbox
   */
  constructor(url: string, key?: string) {
    this.#url = url;
    this.#headers = { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) };
  }

  /** Sends an operation and returns its data. Throws a GatewayError if there is none. */
  async execute<D, V>(document: TypedDocumentNode<D, V>, variables: V): Promise<D> {
    const { data, errors } = await this.#post<D>({ query: print(document), variables });
    const error = gatewayError(errors);
    if (error) throw new GatewayError(error.message, error);
    if (errors || !data || Object.keys(data).length === 0)
      throw noResponse('The response does not come from a gateway: check PAYGRAPH_URL.');
    return data;
  }

  async #post<D>(body: object): Promise<GraphqlResponse<D>> {
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: this.#headers,
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      // Throws if a proxy responded with something other than JSON.
      return ((await response.json()) ?? {}) as GraphqlResponse<D>;
    } catch (cause) {
      throw noResponse(`The gateway did not respond (${cause instanceof Error ? cause.name : 'unknown'}).`);
    }
  }
}
