import type { ApolloServerPlugin } from '@apollo/server';
import type { ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationContext } from '../../resolvers/context';
import { isObject } from '../../shared/wire-object';
import type { AdmittedRequest } from '../graphql/admission';
import type { OperationLog } from '../graphql/operation-log';
import { remainingCost } from '../limits/cost-limit-plugin';
import { digestOf } from '../limits/document-limits';
import type { RateLimit } from '../limits/rate-limit';
import { PreparedOperation } from './prepared-operation';

/** Limits of the cache, in operations and in characters of their documents. A compiled operation takes some 100 times as much. */
const MAX_OPERATIONS = 1000;
const MAX_CHARACTERS = 500_000;
/** Operations that were executed once, by their digests. */
const MAX_SEEN = 5000;
const MAX_TYPES = 100;
const MAX_ACCEPT_LENGTH = 300;

/** Formats an error for its caller. */
export type FormatError = (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

interface CacheOptions {
  rate: RateLimit;
  operationLog: OperationLog;
  formatError: FormatError;
}

interface CompiledRequest extends AdmittedRequest {
  accept: string | undefined;
  context(): OperationContext;
}

/** A response with status 200. */
interface CompiledResponse {
  contentType: string;
  body: string;
}

const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * Executes operations that Apollo has executed before, without Apollo's overhead. It records from Apollo which operations are
 * valid, and which media type an Accept header gets. It falls back to Apollo, before anything is executed, in unusual cases
 * (docs/decisions/0013-compiled-operations.md).
 */
export class CompiledOperationCache {
  readonly #operations = new LRUCache<string, PreparedOperation>({
    max: MAX_OPERATIONS,
    maxSize: MAX_CHARACTERS,
  });
  readonly #seen = new LRUCache<string, true>({ max: MAX_SEEN });
  readonly #types = new LRUCache<string, string>({ max: MAX_TYPES });
  #answered = 0;

  constructor(private readonly options: CacheOptions) {}

  /** Compiles an operation when Apollo executes it for the second time. */
  readonly recordOperations: ApolloServerPlugin<OperationContext> = {
    requestDidStart: () =>
      Promise.resolve({
        didResolveOperation: ({ schema, document, operation, source, request }) => {
          if (operation && operation.operation !== 'subscription') {
            const key = keyOf(digestOf(source), request.operationName);
            const compile = (): PreparedOperation => new PreparedOperation({ schema, document, operation });
            if (this.#seen.has(key)) this.#operations.set(key, compile(), { size: source.length });
            else this.#seen.set(key, true);
          }
          return Promise.resolve();
        },
      }),
  };

  get answered(): number {
    return this.#answered;
  }

  /** Records the media type that an Accept header gets. */
  recordContentType(accept: string | undefined, contentType: unknown): void {
    if (typeof contentType === 'string' && (accept ?? '').length <= MAX_ACCEPT_LENGTH)
      this.#types.set(accept ?? '', contentType);
  }

  /** Executes an operation. Returns null when Apollo has to; nothing has been executed then. */
  async answer({ params, digest, accept, context }: CompiledRequest): Promise<CompiledResponse | null> {
    const contentType = this.#types.get(accept ?? '');
    const operation = this.#find(params, digest);
    if (contentType === undefined || !operation) return null;
    const given = (params.variables ?? {}) as Record<string, unknown>;
    const variables = operation.variablesOf(given);
    const points = variables && remainingCost(operation.costOf(variables));
    if (!variables || points === null) return null;
    const startedAt = performance.now();
    const contextValue = context();
    if (points > 0 && !(await this.options.rate.tryConsume(contextValue.caller, points))) return null;
    this.#answered += 1;
    const { data, errors } = this.#public(await operation.run(contextValue, given, variables));
    const { type, name } = operation;
    this.options.operationLog({ context: contextValue, operation: type, name, startedAt, errors });
    return { contentType, body: `${JSON.stringify({ errors, data })}\n` };
  }

  /** Finds the compiled operation, unless the request contains anything that Apollo has to check. */
  #find(
    { operationName, variables, extensions }: AdmittedRequest['params'],
    digest: string | null,
  ): PreparedOperation | undefined {
    if (digest === null || !isObject(variables ?? {})) return undefined;
    if (!isAbsent(operationName) && typeof operationName !== 'string') return undefined;
    if (!isAbsent(extensions) && (!isObject(extensions) || extensions['persistedQuery'])) return undefined;
    return this.#operations.get(keyOf(digest, operationName));
  }

  #public({ data, errors }: ExecutionResult) {
    return {
      data,
      errors: errors?.map((error) => {
        const { code = 'INTERNAL_SERVER_ERROR', ...extensions } = error.extensions;
        return this.options.formatError({ ...error.toJSON(), extensions: { code, ...extensions } }, error);
      }),
    };
  }
}

const keyOf = (digest: string, operationName: string | null | undefined): string =>
  isAbsent(operationName) ? digest : `${digest} ${operationName}`;
