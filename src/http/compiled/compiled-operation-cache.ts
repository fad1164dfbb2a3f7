import type { ApolloServerPlugin } from '@apollo/server';
import type { ExecutionResult, GraphQLFormattedError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { OperationContext } from '../../resolvers/context';
import type { Admitted, AskedOperation } from '../graphql/admission';
import { digestOf } from '../limits/document-limits';
import { remainingCost } from '../limits/cost-limit-plugin';
import type { OperationLog } from '../graphql/operation-log';
import type { RateLimit } from '../limits/rate-limit';
import { PreparedOperation } from './prepared-operation';

/** So many operations are kept ready, and so many characters of documents: what is made of them takes some 100 times as much. */
const MAX_OPERATIONS = 1000;
const MAX_CHARACTERS = 500_000;
/** So many operations that were asked once are remembered, by their digests. */
const MAX_SEEN = 5000;
const MAX_TYPES = 100;
const MAX_ACCEPT_LENGTH = 300;

/** Makes an error fit for its caller. */
export type FormatError = (formatted: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

interface PreparedOptions {
  rate: RateLimit;
  operationLog: OperationLog;
  formatError: FormatError;
}

/** What is asked, by whom, in which form. */
interface Question extends Admitted<AskedOperation> {
  /** The header Accept. */
  accept: string | undefined;
  /** Makes what the operation's resolvers share. */
  context(): OperationContext;
}

/** An answer, whose status is 200. */
interface Answer {
  contentType: string;
  body: string;
}

type Fields = Record<string, unknown>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isAbsent = (value: unknown): value is null | undefined => value === null || value === undefined;

/**
 * Answers operations that Apollo has answered before, without going through all that Apollo does for one that it has never
 * seen. It learns from Apollo: which operations are valid, and which media type an Accept header gets. Whatever is not plain
 * (docs/decisions/0013-compiled-operations.md) it leaves to Apollo, before anything of it was carried out.
 */
export class CompiledOperationCache {
  readonly #options: PreparedOptions;
  readonly #operations = new LRUCache<string, PreparedOperation>({
    max: MAX_OPERATIONS,
    maxSize: MAX_CHARACTERS,
  });
  readonly #seen = new LRUCache<string, true>({ max: MAX_SEEN });
  readonly #types = new LRUCache<string, string>({ max: MAX_TYPES });
  #answered = 0;

  constructor(options: PreparedOptions) {
    this.#options = options;
  }

  /** Learns operations: one is kept when it is asked for the second time. */
  readonly learnOperations: ApolloServerPlugin<OperationContext> = {
    requestDidStart: () =>
      Promise.resolve({
        didResolveOperation: ({ schema, document, operation, source, request }) => {
          if (operation && operation.operation !== 'subscription') {
            const name = nameOf(digestOf(source), request.operationName);
            if (!this.#seen.has(name)) this.#seen.set(name, true);
            else
              this.#operations.set(name, new PreparedOperation({ schema, document, operation }), {
                size: source.length,
              });
          }
          return Promise.resolve();
        },
      }),
  };

  /** So many operations were answered. */
  get answered(): number {
    return this.#answered;
  }

  /** Learns which media type an Accept header gets for a result. */
  learnType(accept: string | undefined, contentType: unknown): void {
    if (typeof contentType === 'string' && (accept ?? '').length <= MAX_ACCEPT_LENGTH)
      this.#types.set(accept ?? '', contentType);
  }

  /** The answer; null where Apollo has to give it, and nothing has been carried out. */
  async answer({ operation: asked, digest, accept, context }: Question): Promise<Answer | null> {
    const contentType = this.#types.get(accept ?? '');
    const operation = this.#find(asked, digest);
    if (contentType === undefined || !operation) return null;
    const given = (asked.variables ?? {}) as Fields;
    const variables = operation.variablesOf(given);
    const points = variables && remainingCost(operation.costOf(variables));
    if (!variables || points === null) return null;
    const startedAt = performance.now();
    const contextValue = context();
    if (points > 0 && !(await this.#options.rate.tryConsume(contextValue.caller, points))) return null;
    this.#answered += 1;
    const { data, errors } = this.#public(await operation.run(contextValue, given, variables));
    this.#options.operationLog({
      context: contextValue,
      operation: operation.type,
      name: operation.name,
      startedAt,
      errors,
    });
    return { contentType, body: `${JSON.stringify({ errors, data })}\n` };
  }

  /** The operation that is asked for, if it is prepared and the request says nothing that Apollo would have to look at. */
  #find(
    { operationName, variables, extensions }: AskedOperation,
    digest: string | null,
  ): PreparedOperation | undefined {
    if (digest === null) return undefined;
    if (!isAbsent(operationName) && typeof operationName !== 'string') return undefined;
    if (!isAbsent(variables) && !isObject(variables)) return undefined;
    if (!isAbsent(extensions) && (!isObject(extensions) || extensions['persistedQuery'])) return undefined;
    return this.#operations.get(nameOf(digest, operationName));
  }

  #public({ data, errors }: ExecutionResult): Pick<ExecutionResult, 'data'> & Errors {
    return {
      data,
      errors: errors?.map((error) => {
        const { code = 'INTERNAL_SERVER_ERROR', ...extensions } = error.extensions;
        return this.#options.formatError({ ...error.toJSON(), extensions: { code, ...extensions } }, error);
      }),
    };
  }
}

interface Errors {
  errors: readonly GraphQLFormattedError[] | undefined;
}

const nameOf = (digest: string, operationName: string | null | undefined): string =>
  isAbsent(operationName) ? digest : `${digest} ${operationName}`;
