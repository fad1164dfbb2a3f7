import type { ApolloServerPlugin } from '@apollo/server';
import { LRUCache } from 'lru-cache';
import type { OperationContext } from '../../resolvers/context';
import { isObject } from '../../shared/wire-object';
import type { AdmittedRequest } from '../graphql/admission';
import type { ErrorFormatter } from '../graphql/apollo-server';
import type { LogOperation } from '../graphql/operation-log';
import { digestOf } from '../limits/document-limits';
import { pointsIfWithinLimits } from '../limits/operation-cost';
import type { CallerRateLimiter } from '../limits/caller-rate-limiter';
import { PreparedOperation } from './prepared-operation';

const MAX_COMPILED_OPERATIONS = 1000;
/** Maximum total length of compiled documents, in characters. Compiling multiplies their memory by about 100. */
const MAX_CACHED_DOCUMENT_CHARACTERS = 500_000;
const MAX_EXECUTED_ONCE_KEYS = 5000;
const MAX_CACHED_ACCEPT_HEADERS = 100;
const MAX_ACCEPT_HEADER_LENGTH = 300;

type OperationRequest = AdmittedRequest & { accept: string | undefined; createContext(): OperationContext };

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * Cache of compiled operations. After Apollo Server has executed an operation twice, the cache executes the operation
 * without Apollo. Apollo handles every request that the cache cannot execute
 * (docs/decisions/0013-compiled-operations.md).
 */
export class CompiledOperationCache {
  readonly #operationByKey = new LRUCache<string, PreparedOperation>({
    max: MAX_COMPILED_OPERATIONS,
    maxSize: MAX_CACHED_DOCUMENT_CHARACTERS,
  });
  readonly #keysExecutedOnce = new LRUCache<string, true>({ max: MAX_EXECUTED_ONCE_KEYS });
  readonly #contentTypeByAccept = new LRUCache<string, string>({ max: MAX_CACHED_ACCEPT_HEADERS });
  /** Number of operations that were executed without Apollo. */
  executedCount = 0;

  constructor(
    private readonly options: {
      rateLimiter: CallerRateLimiter;
      logOperation: LogOperation;
      formatError: ErrorFormatter;
    },
  ) {}

  /** Apollo plugin that compiles a query or mutation when Apollo executes it for the second time. */
  readonly compilePlugin: ApolloServerPlugin<OperationContext> = {
    requestDidStart: async () => ({
      didResolveOperation: async ({ schema, document, operation, source, request }) => {
        if (!operation || operation.operation === 'subscription') return;
        const cacheKey = operationCacheKey(digestOf(source), request.operationName);
        if (!this.#keysExecutedOnce.has(cacheKey)) return void this.#keysExecutedOnce.set(cacheKey, true);
        // The operation is already compiled. Apollo also executes some requests of compiled operations, such as GET
        // requests.
        if (this.#operationByKey.has(cacheKey)) return;
        const preparedOperation = new PreparedOperation({ schema, document, operation });
        this.#operationByKey.set(cacheKey, preparedOperation, { size: source.length });
      },
    }),
  };

  /** Records the content type that Apollo sent for an Accept header. tryExecute() returns it for the same header. */
  recordContentType(accept: string | undefined, contentType: unknown): void {
    if (typeof contentType === 'string' && (accept ?? '').length <= MAX_ACCEPT_HEADER_LENGTH)
      this.#contentTypeByAccept.set(accept ?? '', contentType);
  }

  /**
   * Executes a compiled operation. Returns body and content type of a response with status 200. Returns null, without
   * having executed anything, if Apollo has to handle the request.
   */
  async tryExecute({ params, documentDigest, accept, createContext }: OperationRequest) {
    const contentType = this.#contentTypeByAccept.get(accept ?? '');
    const operation = this.#find(params, documentDigest);
    if (contentType === undefined || !operation) return null;
    const rawVariables = (params.variables ?? {}) as Record<string, unknown>;
    const coercedVariables = operation.coerceVariables(rawVariables);
    const points = coercedVariables && pointsIfWithinLimits(operation.costOf(coercedVariables));
    if (!coercedVariables || points === null) return null;
    const startedAt = performance.now();
    const contextValue = createContext();
    if (points > 0 && !(await this.options.rateLimiter.tryConsume(contextValue.caller, points))) return null;
    this.executedCount += 1;
    const result = await operation.run(contextValue, rawVariables, coercedVariables);
    const publicErrors = result.errors?.map((error) => {
      const { code = 'INTERNAL_SERVER_ERROR', ...extensions } = error.extensions;
      return this.options.formatError({ ...error.toJSON(), extensions: { code, ...extensions } }, error);
    });
    const { type, name } = operation;
    this.options.logOperation({ context: contextValue, type, name, startedAt, errors: publicErrors });
    return { contentType, body: `${JSON.stringify({ errors: publicErrors, data: result.data })}\n` };
  }

  /** Returns the compiled operation of a request; undefined if there is none or if Apollo must check the request. */
  #find({ operationName, variables, extensions }: AdmittedRequest['params'], documentDigest: string | null) {
    if (documentDigest === null || !isObject(variables ?? {})) return undefined;
    if (!isAbsent(operationName) && typeof operationName !== 'string') return undefined;
    if (!isAbsent(extensions) && (!isObject(extensions) || extensions['persistedQuery'])) return undefined;
    return this.#operationByKey.get(operationCacheKey(documentDigest, operationName));
  }
}

const operationCacheKey = (documentDigest: string, operationName: string | null | undefined): string =>
  isAbsent(operationName) ? documentDigest : `${documentDigest} ${operationName}`;
