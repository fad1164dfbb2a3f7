import { GraphQLError, subscribe, type ExecutionArgs } from 'graphql';
import { AccessError, type Caller } from '../../auth/caller';
import type { OperationContext, RequestIdentity } from '../../resolvers/context';
import type { Clock } from '../../shared/clock';
import type { GraphqlDependencies } from '../graphql/dependencies';
import { errorNameAndFrames, toPublicError } from '../graphql/graphql-errors';
import { RequestError } from '../graphql/http-error';
import { errorCodesOf, nameIfLoggable, logEndedOperation } from '../graphql/operation-log';
import { validateParams, type GraphQLRequestParams } from '../graphql/request-params';
import { persistedQueryHash, UNKNOWN_PERSISTED_ID_ERROR } from '../persisted/persisted-operations';
import { requestContext } from '../server/request-context';
import { OpenDocuments } from './open-documents';
import { QuotaLimiter, type QuotaLimits } from '../limits/quota-limiter';
import { ResultStream } from './result-stream';
import { SharedTimer } from './shared-timer';
import { declaredVariables, SubscriptionDocuments } from './subscription-documents';

interface SubscriptionTrace {
  /** Calls `work` with the span as the active span. */
  runInSpan<T>(work: () => T): T;
  /** Ends the span. May be called several times, for example after every result. Only the first call has an effect. */
  end(operationName: string | undefined, errorCodes: readonly unknown[]): void;
}

const NO_TRACE: SubscriptionTrace = { runInSpan: (work) => work(), end: () => undefined };

export interface SubscriptionServiceOptions {
  introspection: boolean;
  /** Limits of open subscriptions. The same limits apply to WebSocket connections, which are counted separately. */
  quotaLimits: QuotaLimits;
  /** Counts an ended or rejected subscription. `type`: undefined if rejected. `code`: first error code, if any. */
  countOperation(type: 'subscription' | undefined, name: string | undefined, code: string | undefined): void;
  clock: Clock;
  /** Starts the span of a subscription; undefined if tracing is off. */
  startTrace: (() => SubscriptionTrace) | undefined;
}

/** A subscription that has passed the checks of prepare(): credentials, admission, document. start() starts it. */
export type PreparedSubscription = ExecutionArgs & {
  contextValue: OperationContext;
  trace: SubscriptionTrace;
};

const CREDENTIALS_CHECK_INTERVAL_MS = 1000;

/** Starts subscriptions of every transport. Checks credentials again while a subscription is open. */
export class SubscriptionService {
  readonly subscriptionQuota: QuotaLimiter;
  readonly #documents: SubscriptionDocuments;
  readonly #openDocuments: OpenDocuments;
  readonly #credentialsCheckTimer: SharedTimer;

  constructor(
    private readonly dependencies: GraphqlDependencies,
    private readonly options: SubscriptionServiceOptions,
  ) {
    this.subscriptionQuota = new QuotaLimiter(options.quotaLimits);
    this.#documents = new SubscriptionDocuments(dependencies.schema, options.introspection);
    this.#openDocuments = new OpenDocuments(() => options.quotaLimits.onRejected());
    this.#credentialsCheckTimer = new SharedTimer(options.clock, CREDENTIALS_CHECK_INTERVAL_MS);
  }

  /** Checks a request. Returns a subscription that start() can start, or errors for the caller if a check fails. */
  async prepare(
    params: GraphQLRequestParams,
    requestIdentity: RequestIdentity,
  ): Promise<PreparedSubscription | readonly GraphQLError[]> {
    const { caller, requestId } = requestIdentity;
    const { schema, admission, contextFor, eventLoopLagGuard, log } = this.dependencies;
    const trace = this.options.startTrace?.() ?? NO_TRACE;
    try {
      validateParams(params);
      this.#requireValidCredentials(caller);
      eventLoopLagGuard.throwIfOverloaded();
      const { query, operationName, variables } = (await admission.admit(params, caller)).params;
      // Subscriptions support no automatic persisted queries. PersistedQueryNotFound makes clients send the document.
      if (!query && typeof persistedQueryHash(params.extensions) === 'string')
        throw UNKNOWN_PERSISTED_ID_ERROR;
      if (typeof query !== 'string' || query === '') throw NO_QUERY_ERROR;
      const name = typeof operationName === 'string' ? operationName : undefined;
      const contextValue = contextFor(requestIdentity);
      contextValue.consumeLookupPoint = () => admission.rateLimiter.consume(caller, 1);
      const document = this.#documents.parseAndValidate(query, name);
      return {
        schema,
        document,
        operationName: name,
        variableValues: declaredVariables(document, name, variables),
        contextValue,
        trace,
      };
    } catch (error) {
      const publicErrors = this.#toPublicErrors(error, requestId);
      const errorCodes = errorCodesOf(publicErrors);
      const name = nameIfLoggable(params.operationName);
      // Do not log or count a RequestError, such as RATE_LIMITED, because there may be many.
      if (!(error instanceof RequestError)) {
        this.options.countOperation(undefined, undefined, errorCodes[0]);
        const endedOperation = { type: 'subscription', name, durationMs: 0, resultCount: 0, errorCodes };
        trace.runInSpan(() => logEndedOperation(log, requestIdentity, endedOperation));
      }
      trace.end(name, errorCodes);
      return publicErrors;
    }
  }

  /**
   * Returns the stream of a subscription. The stream throws a SubscriptionError if the subscription ends with errors.
   * Calls `onEnd` once when the stream has ended.
   */
  start(preparedSubscription: PreparedSubscription, onEnd?: () => unknown): ResultStream {
    const { contextValue, trace } = preparedSubscription;
    const { caller, requestId } = contextValue;
    const name = nameIfLoggable(preparedSubscription.operationName);
    const startedAt = performance.now();
    let releaseQuota = (): void => undefined;
    let releaseDocument = (): void => undefined;
    let stopCredentialsChecks = (): void => undefined;
    const stream = new ResultStream({
      subscribe: () =>
        requestContext.run({ requestId }, async () => {
          releaseQuota = this.subscriptionQuota.acquire(caller.id);
          releaseDocument = this.#openDocuments.acquire(preparedSubscription.document, caller.id);
          stopCredentialsChecks = this.#credentialsCheckTimer.addCallback(() => {
            if (!this.dependencies.authenticator.areCredentialsStillValid(caller))
              stream.close(invalidCredentialsError());
          });
          return trace.runInSpan(() => subscribe(preparedSubscription));
        }),
      toPublicErrors: (cause) => this.#toPublicErrors(cause, requestId),
      toPublicResult: ({ data, errors }) => {
        this.#requireValidCredentials(caller);
        const publicErrors = errors && this.#toPublicErrors(new AggregateError(errors), requestId);
        trace.end(name, errorCodesOf(publicErrors));
        return { data, ...(publicErrors && { errors: publicErrors }) };
      },
      latestEventId: () => contextValue.latestEventId,
      onClosed: (errors) => {
        releaseQuota();
        releaseDocument();
        stopCredentialsChecks();
        onEnd?.();
        const errorCodes = errorCodesOf(errors);
        const durationMs = performance.now() - startedAt;
        const endedOperation = {
          type: 'subscription',
          name,
          durationMs,
          resultCount: stream.resultCount,
          errorCodes,
        };
        this.options.countOperation('subscription', name, errorCodes[0]);
        trace.runInSpan(() => logEndedOperation(this.dependencies.log, contextValue, endedOperation));
        trace.end(name, errorCodes);
      },
    });
    return stream;
  }

  #requireValidCredentials(caller: Caller): void {
    if (!this.dependencies.authenticator.areCredentialsStillValid(caller)) throw invalidCredentialsError();
  }

  #toPublicErrors(cause: unknown, requestId: string): readonly GraphQLError[] {
    if (cause instanceof AggregateError)
      return cause.errors.flatMap((error: unknown) => this.#toPublicErrors(error, requestId));
    const error = cause instanceof GraphQLError ? cause : undefined;
    const { message, extensions } = toPublicError(error?.toJSON() ?? { message: '' }, cause, (bug) =>
      this.dependencies.log.error(
        { requestId, ...errorNameAndFrames(bug) },
        'unexpected error in a subscription',
      ),
    );
    const { nodes, source, positions, path } = error ?? {};
    const extensionsWithId = { ...extensions, requestId };
    return [new GraphQLError(message, { nodes, source, positions, path, extensions: extensionsWithId })];
  }
}

/** Message for callers whose connection or subscription ends, because their credentials are no longer valid. */
export const INVALID_CREDENTIALS_MESSAGE = 'The credentials have expired or were revoked.';

export const invalidCredentialsError = (): AccessError =>
  new AccessError('BAD_CREDENTIALS', INVALID_CREDENTIALS_MESSAGE);

const NO_QUERY_ERROR = new GraphQLError('The request has no query.', { extensions: { code: 'BAD_REQUEST' } });
