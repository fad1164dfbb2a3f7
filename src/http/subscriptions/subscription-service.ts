import { randomUUID } from 'node:crypto';
import { GraphQLError, subscribe, type ExecutionArgs, type GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator';
import { AccessError, type Caller } from '../../auth/caller';
import type { ContextFactory, OperationContext } from '../../resolvers/context';
import type { Clock } from '../../shared/clock';
import type { Admission } from '../graphql/admission';
import { errorLocation } from '../graphql/error-location';
import { toPublicError } from '../graphql/graphql-errors';
import { RequestError } from '../graphql/http-error';
import { firstErrorCode, loggableName, type CountOperation } from '../graphql/operation-log';
import { validateParams, type GraphQLRequestParams } from '../graphql/request-params';
import { persistedQueryHash, unknownIdError } from '../persisted/persisted-operations';
import { requestContext } from '../server/request-context';
import type { QuotaLimiter } from './quota-limiter';
import { ResultStream } from './result-stream';
import type { SubscriptionDocuments } from './subscription-documents';

/** The span of one subscription. */
interface SubscriptionTrace {
  /** Calls `work` with the span as the active span. */
  within<T>(work: () => T): T;
  /** Ends the span: after the first result or, without a result, at the end. Further calls have no effect. */
  settled(name: string | undefined, codes: readonly unknown[]): void;
}

type StartTrace = () => SubscriptionTrace;

export interface SubscriptionOptions {
  schema: GraphQLSchema;
  documents: SubscriptionDocuments;
  admission: Admission;
  authenticator: Pick<Authenticator, 'areCredentialsStillValid'>;
  contextFor: ContextFactory;
  quota: QuotaLimiter;
  checkLoad(): void;
  count: CountOperation;
  clock: Clock;
  log: Logger;
  startTrace?: StartTrace | undefined;
}

interface Subscriber {
  caller: Caller;
  ip: string;
  /** Id of the HTTP request; generated if absent. */
  requestId?: string;
}

/** A subscription that passed all checks. */
export type PreparedSubscription = ExecutionArgs & {
  contextValue: OperationContext;
  trace: SubscriptionTrace | undefined;
};

/** The interval at which the credentials of subscribers are checked again. */
const CREDENTIALS_CHECK_INTERVAL_MS = 1000;

/** Starts subscriptions of every transport. Checks credentials again while a subscription is open. */
export class SubscriptionService {
  readonly #open = new Map<ResultStream, Caller>();
  #isCheckScheduled = false;

  constructor(private readonly options: SubscriptionOptions) {}

  /** Checks a request like a query. Returns errors, formatted for the caller, if the request is rejected. */
  async prepare(
    params: GraphQLRequestParams,
    { caller, ip, requestId = randomUUID() }: Subscriber,
  ): Promise<PreparedSubscription | readonly GraphQLError[]> {
    const { schema, documents, admission, contextFor } = this.options;
    const trace = this.options.startTrace?.();
    const fail = (causes: readonly unknown[]): readonly GraphQLError[] => {
      const errors = causes.map((cause) => this.#toPublic(cause, requestId));
      this.options.count(undefined, undefined, firstErrorCode(errors), undefined);
      this.#log({ requestId, caller, trace }, params.operationName, { ms: 0, results: 0, errors });
      return errors;
    };
    try {
      validateParams(params);
      this.#requireCurrentCredentials(caller);
      this.options.checkLoad();
      const { query, operationName, variables } = (await admission.admit(params, caller)).params;
      // Automatic persisted queries are registered by POST to /graphql only. Clients then send the document here.
      if (!query && typeof persistedQueryHash(params.extensions) === 'string') throw unknownIdError();
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
      // As for queries, rejected requests are not logged, because there may be many.
      if (error instanceof RequestError) {
        trace?.settled(loggableName(params.operationName), [error.options.code]);
        return [this.#toPublic(error, requestId)];
      }
      return fail([error]);
    }
  }

  /**
   * Returns the stream of a subscription. The stream throws a SubscriptionError if the subscription ends with errors.
   * @param onEnd called once when the stream has ended
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
          this.#scheduleCredentialsCheck();
          return trace ? trace.within(() => subscribe(prepared)) : subscribe(prepared);
        }),
      toPublicErrors,
      toResult: ({ data, errors }) => {
        this.#requireCurrentCredentials(caller);
        const publicErrors = errors?.flatMap(toPublicErrors);
        trace?.settled(loggableName(operationName), (publicErrors ?? []).map(codeOf));
        return { data, ...(publicErrors && { errors: publicErrors }) };
      },
      onClosed: (errors) => {
        release();
        this.#open.delete(stream);
        onEnd(stream);
        const ms = Math.round(performance.now() - startedAt);
        this.options.count('subscription', loggableName(operationName), firstErrorCode(errors), undefined);
        this.#log({ caller, requestId, trace }, operationName, { ms, results: stream.resultCount, errors });
      },
    });
    return stream;
  }

  #requireCurrentCredentials(caller: Caller): void {
    if (this.options.authenticator.areCredentialsStillValid(caller)) return;
    throw new AccessError('BAD_CREDENTIALS', CREDENTIALS_EXPIRED);
  }

  /** Schedules the check that ends subscriptions of callers whose credentials have expired or were revoked. */
  #scheduleCredentialsCheck(): void {
    if (this.#isCheckScheduled) return;
    this.#isCheckScheduled = true;
    this.options.clock.after(CREDENTIALS_CHECK_INTERVAL_MS, () => {
      this.#isCheckScheduled = false;
      for (const [stream, caller] of this.#open) {
        try {
          this.#requireCurrentCredentials(caller);
        } catch (error) {
          stream.fail(error);
        }
      }
      if (this.#open.size > 0) this.#scheduleCredentialsCheck();
    });
  }

  #toPublic(cause: unknown, requestId: string): GraphQLError {
    const error = cause instanceof GraphQLError ? cause : undefined;
    const formatted = error?.toJSON() ?? { message: '' };
    const { message, extensions } = toPublicError(formatted, cause, (bug) =>
      this.options.log.error({ requestId, ...errorLocation(bug) }, 'unexpected error in a subscription'),
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

  /** Logs an ended subscription in one line, never with its document, variables or results. */
  #log(
    {
      requestId,
      caller,
      trace,
    }: Pick<OperationContext, 'requestId' | 'caller'> & Pick<PreparedSubscription, 'trace'>,
    operationName: unknown,
    { ms, results, errors }: SubscriptionSummary,
  ): void {
    const name = loggableName(operationName);
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

/** Message for callers whose connection or subscription is ended because their credentials are no longer valid. */
export const CREDENTIALS_EXPIRED = 'The credentials have expired or were revoked.';

const NO_QUERY = new GraphQLError('The request has no query.', { extensions: { code: 'BAD_REQUEST' } });

const codeOf = ({ extensions }: GraphQLError): unknown => extensions['code'];

interface SubscriptionSummary {
  ms: number;
  results: number;
  errors: readonly GraphQLError[];
}
