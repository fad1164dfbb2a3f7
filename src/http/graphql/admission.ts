import { LRUCache } from 'lru-cache';
import type { Caller } from '../../auth/caller';
import { checkDocument, digestOf, type DocumentCheckResult } from '../limits/document-limits';
import type { CallerRateLimiter } from '../limits/caller-rate-limiter';
import type { PersistedOperations } from '../persisted/persisted-operations';
import { RequestError } from './http-error';
import type { GraphQLRequestParams } from './request-params';

const MAX_CACHED_CHECK_RESULTS = 2000;

/** A request that Admission has accepted, with its document in place of a persisted id. */
export interface AdmittedRequest {
  params: GraphQLRequestParams;
  /** SHA-256 of the document; null if the request has no document. */
  documentDigest: string | null;
}

/** Applies rate limit, persisted operations and document limits to GraphQL requests over HTTP and WebSocket. */
export class Admission {
  readonly #resultByDigest = new LRUCache<string, DocumentCheckResult>({ max: MAX_CACHED_CHECK_RESULTS });

  constructor(
    readonly rateLimiter: CallerRateLimiter,
    private readonly persistedOperations: PersistedOperations,
  ) {}

  /** Checks a request and replaces a persisted id with its document. Throws a RequestError if a check fails. */
  async admit(params: GraphQLRequestParams, caller: Caller): Promise<AdmittedRequest> {
    // Consume one point now. For queries and mutations, costLimitPlugin or CompiledOperationCache consumes the rest
    // when the cost is known. In a subscription to `changes`, each lookup consumes one more point.
    await this.rateLimiter.consume(caller, 1);
    const resolvedParams = this.persistedOperations.resolve(params, caller.kind);
    if (typeof resolvedParams.query !== 'string') return { params: resolvedParams, documentDigest: null };
    const documentDigest = digestOf(resolvedParams.query);
    const checkResult = this.#resultByDigest.get(documentDigest) ?? checkDocument(resolvedParams.query);
    this.#resultByDigest.set(documentDigest, checkResult);
    if (!checkResult.ok) {
      const errorCode =
        checkResult.limitName === 'cardNumbers' ? 'GRAPHQL_VALIDATION_FAILED' : 'OPERATION_TOO_LARGE';
      throw new RequestError(400, errorCode, checkResult.message);
    }
    return { params: resolvedParams, documentDigest };
  }
}
