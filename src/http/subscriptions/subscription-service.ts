import { randomUUID } from 'node:crypto';
import { GraphQLError, subscribe, type ExecutionArgs, type GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator';
import { AccessError, type Caller } from '../../auth/caller';
import type { OperationContext } from '../../resolvers/context';
import type { ContextFactory } from '../../resolvers/context-factory';
import type { Clock } from '../../shared/clock';
import type { Admission } from '../graphql/admission';
import { errorLocation } from '../graphql/error-location';
import { toPublicError } from '../graphql/graphql-errors';
import { RequestError } from '../graphql/http-error';
import { firstCode, loggable, type CountOperation } from '../graphql/operation-log';
import { validateParams, type GraphQLRequestParams } from '../graphql/request-params';
import { hashIn, unknownId } from '../persisted/persisted-operations';
import { requestContext } from '../server/request-context';
import type { QuotaLimiter } from './quota-limiter';
import { ResultStream } from './result-stream';
import type { SubscriptionDocuments } from './subscription-documents';

/** The span of one subscription. */
interface SubscriptionTrace {
  within<T>(work: () => T): T;
  /** Ends the span, after the first result or without one. May be called again. */
  settled(name: string | undefined, codes: readonly unknown[]): void;
}

type TraceSubscription = () => SubscriptionTrace;

export interface SubscriptionOptions {
  schema: GraphQLSchema;
  documents: SubscriptionDocuments;
  admission: Admission;
  authenticator: Pick<Authenticator, 'isCurrent'>;
  contextFor: ContextFactory;
  quota: QuotaLimiter;
  checkLoad(): void;
  count: CountOperation;
  clock: Clock;
  log: Logger;
  trace?: TraceSubscription | undefined;
}

interface Subscriber {
  caller: Caller;
  ip: string;
  requestId?: string;
}

/** A subscription that passed all checks. */
export type PreparedSubscription = ExecutionArgs & {
  contextValue: OperationContext;
  trace: SubscriptionTrace | undefined;
};

/** The interval at which the credentials of subscribers are checked again. */
const CHECK_CREDENTIALS_MS = 1000;

/** Subscriptions of every transport, with the checks of queries. Credentials are checked again while they last. */
export class SubscriptionService {
  readonly #open = new Map<ResultStream, Caller>();
  #isCheckScheduled = false;

  constructor(private readonly options: SubscriptionOptions) {}

  /** Checks a request. Returns its errors, formatted for the caller, when it is rejected. */
  async prepare(
    params: GraphQLRequestParams,
    { caller, ip, requestId = randomUUID() }: Subscriber,
  ): Promise<PreparedSubscription | readonly GraphQLError[]> {
    const { schema, documents, admission, contextFor } = this.options;
    const trace = this.options.trace?.();
    const fail = (causes: readonly unknown[]): readonly GraphQLError[] => {
      const errors = causes.map((cause) => this.#toPublic(cause, requestId));
      this.options.count(undefined, undefined, firstCode(errors), undefined);
      this.#log({ requestId, caller, trace }, params.operationName, { ms: 0, results: 0, errors });
      return errors;
    };
    try {
      validateParams(params);
      this.#requireCurrent(caller);
      this.options.checkLoad();
      const { query, operationName, variables } = (await admission.admit(params, caller)).params;
      // Persisted queries are registered by POST only: clients then send the document.
      if (!query && typeof hashIn(params.extensions) === 'string') throw unknownId();
      if (typeof query !== 'string' || query === '') throw NO_QUERY;
      const name = typeof operationName === 'string' ? operationName : undefined;
      const document = documents.read(query, name);
      if (!('kind' in document)) return fail(document);
      return {
        schema,
        document,
        operationName: name,
        variableValues: variables as ExecutionArgs['variableValues'],
        contextValue: contextFor({ requestId, caller, ip }),
        trace,
      };
    } catch (error) {
      // Not logged, as over HTTP: rejected requests may be many.
      if (error instanceof RequestError) {
        trace?.settled(loggable(params.operationName), [error.options.code]);
        return [this.#toPublic(error, requestId)];
      }
      return fail([error]);
    }
  }

  /**
   * Starts a subscription. Its stream throws a SubscriptionError when it ends with errors.
   * @param onEnd called once when it has ended
   */
  start(
    prepared: PreparedSubscription,
    onEnd: (stream: ResultStream) => void = () => undefined,
  ): ResultStream {
    const { contextValue, operationName, trace } = prepared;
    const { caller, requestId } = contextValue;
    const startedAt = performance.now();
    let release = (): void => undefined;
    const toPublicErrors = (cause: unknown): readonly GraphQLError[] =>
      (cause instanceof AggregateError ? (cause.errors as unknown[]) : [cause]).map((error) =>
        this.#toPublic(error, requestId),
      );
    const stream = new ResultStream({
      open: () =>
        requestContext.run({ requestId }, async () => {
          release = this.options.quota.acquire(caller.id);
          this.#open.set(stream, caller);
          this.#scheduleCheck();
          return trace ? trace.within(() => subscribe(prepared)) : subscribe(prepared);
        }),
      toPublicErrors,
      toResult: ({ data, errors }) => {
        this.#requireCurrent(caller);
        const publicErrors = errors?.flatMap(toPublicErrors);
        trace?.settled(loggable(operationName), (publicErrors ?? []).map(codeOf));
        return { data, ...(publicErrors && { errors: publicErrors }) };
      },
      closed: (errors) => {
        release();
        this.#open.delete(stream);
        onEnd(stream);
        const ms = Math.round(performance.now() - startedAt);
        this.options.count('subscription', loggable(operationName), firstCode(errors), undefined);
        this.#log({ caller, requestId, trace }, operationName, { ms, results: stream.results, errors });
      },
    });
    return stream;
  }

  #requireCurrent(caller: Caller): void {
    if (this.options.authenticator.isCurrent(caller)) return;
    throw new AccessError('BAD_CREDENTIALS', CREDENTIALS_EXPIRED);
  }

  /** Ends subscriptions soon after the credentials of their caller expired or were revoked. */
  #scheduleCheck(): void {
    if (this.#isCheckScheduled) return;
    this.#isCheckScheduled = true;
    this.options.clock.after(CHECK_CREDENTIALS_MS, () => {
      this.#isCheckScheduled = false;
      for (const [stream, caller] of this.#open) {
        try {
          this.#requireCurrent(caller);
        } catch (error) {
          stream.fail(error);
        }
      }
      if (this.#open.size > 0) this.#scheduleCheck();
    });
  }

  #toPublic(cause: unknown, requestId: string): GraphQLError {
    const error = cause instanceof GraphQLError ? cause : undefined;
    const formatted = error?.toJSON() ?? { message: '' };
    const { message, extensions } = toPublicError(formatted, cause, (bug) =>
      this.options.log.error({ requestId, ...errorLocation(bug) }, 'unexpected error'),
    );
    const { nodes, source, positions, path } = error ?? {};
    return new GraphQLError(message, {
      nodes,
      source,
      positions,
      path,
      extensions: { ...extensions, requestId },
    });
  }

  /** Writes one line per subscription when it has ended; never documents, variables or results. */
  #log(
    {
      requestId,
      caller,
      trace,
    }: Pick<OperationContext, 'requestId' | 'caller'> & Pick<PreparedSubscription, 'trace'>,
    operationName: unknown,
    { ms, results, errors }: SubscriptionSummary,
  ): void {
    const name = loggable(operationName);
    const codes = errors.map(codeOf);
    const line = {
      requestId,
      caller: caller.id,
      operation: 'subscription',
      name,
      ms,
      results,
      errors: codes.length > 0 ? codes : undefined,
    };
    const write = (): void => this.options.log.info(line, 'operation');
    if (!trace) return write();
    trace.within(write);
    trace.settled(name, codes);
  }
}

/** The credentials of a connection or subscription are not valid any more. */
export const CREDENTIALS_EXPIRED = 'The credentials have expired or were revoked.';

const NO_QUERY = new GraphQLError('There is no query.', { extensions: { code: 'BAD_REQUEST' } });

const codeOf = ({ extensions }: GraphQLError): unknown => extensions['code'];

interface SubscriptionSummary {
  ms: number;
  results: number;
  errors: readonly GraphQLError[];
}
