import { randomUUID } from 'node:crypto';
import { GraphQLError, subscribe, type ExecutionArgs, type GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator';
import { AccessError, type Caller } from '../../auth/caller';
import type { Clock } from '../../shared/clock';
import type { OperationContext } from '../../resolvers/context';
import type { ContextFactory } from '../../resolvers/context-factory';
import type { Admission, AskedOperation } from '../graphql/admission';
import { toPublicError } from '../graphql/graphql-errors';
import { firstCode, loggable, type CountOperation } from '../graphql/operation-log';
import { hashIn, unknownId } from '../persisted/persisted-operations';
import { RequestError } from '../graphql/http-error';
import { requestContext } from '../server/request-context';
import { errorLocation } from '../graphql/error-location';
import { validateParams } from './request-params';
import { ResultStream } from './result-stream';
import type { QuotaLimiter } from './quota-limiter';
import type { SubscriptionDocuments } from './subscription-documents';

/** Follows one subscription, for whoever traces it. */
interface SubscriptionTrace {
  /** Does something as a part of it. */
  within<T>(work: () => T): T;
  /** It has sent its first result, or has ended without one; called more often than once. */
  settled(name: string | undefined, codes: readonly unknown[]): void;
}

/** Begins to follow a subscription. */
export type TraceSubscription = () => SubscriptionTrace;

interface LiveOptions {
  schema: GraphQLSchema;
  documents: SubscriptionDocuments;
  admission: Admission;
  authenticator: Pick<Authenticator, 'isCurrent'>;
  contextFor: ContextFactory;
  seats: QuotaLimiter;
  /** Throws a Refusal while the process is too late with its work to take on more. */
  checkLoad(): void;
  count: CountOperation;
  clock: Clock;
  log: Logger;
  trace?: TraceSubscription | undefined;
}

/** Who subscribes. */
export interface Subscriber {
  caller: Caller;
  ip: string;
  /** Names the request, where it has a name already. */
  requestId?: string;
}

/** A subscription that may begin. */
export type PreparedSubscription = ExecutionArgs & {
  contextValue: OperationContext;
  trace: SubscriptionTrace | undefined;
};

/** How often it is checked whether those who watch still may. */
const CHECK_EVERY_MS = 1000;

/** Subscriptions, whatever way they came in: the same checks as for queries, and again while they last. */
export class SubscriptionService {
  readonly #options: LiveOptions;
  readonly #open = new Map<ResultStream, Caller>();
  #isChecking = false;

  constructor(options: LiveOptions) {
    this.#options = options;
  }

  /** Everything that is checked before a subscription begins; the errors, as the caller gets them, where it may not. */
  async prepare(
    asked: AskedOperation,
    { caller, ip, requestId = randomUUID() }: Subscriber,
  ): Promise<PreparedSubscription | readonly GraphQLError[]> {
    const { schema, documents, admission, contextFor } = this.#options;
    const trace = this.#options.trace?.();
    const refused = (faults: readonly unknown[]): readonly GraphQLError[] => {
      const errors = faults.map((fault) => this.#toPublic(fault, requestId));
      this.#options.count(undefined, undefined, firstCode(errors), undefined);
      this.#log({ requestId, caller, trace }, asked.operationName, { ms: 0, results: 0, errors });
      return errors;
    };
    try {
      validateParams(asked);
      this.#requireCurrent(caller);
      this.#options.checkLoad();
      const { operation } = await admission.admit(asked, caller);
      const { query, operationName, variables } = operation;
      // Documents are registered by POST alone: who sends a hash sends the text along the next time.
      if (!query && typeof hashIn(asked.extensions) === 'string') throw unknownId();
      if (typeof query !== 'string' || query === '') throw NO_QUERY;
      const name = typeof operationName === 'string' ? operationName : undefined;
      const document = documents.read(query, name);
      if (!('kind' in document)) return refused(document);
      return {
        schema,
        document,
        operationName: name,
        variableValues: variables as ExecutionArgs['variableValues'],
        contextValue: contextFor({ requestId, caller, ip }),
        trace,
      };
    } catch (error) {
      // As over HTTP there is no line for what was not let in: there may be any number of these.
      if (error instanceof RequestError) {
        trace?.settled(loggable(asked.operationName), [error.facts.code]);
        return [this.#toPublic(error, requestId)];
      }
      return refused([error]);
    }
  }

  /**
   * The results of a subscription; what ends it early is thrown as the caller gets it.
   * @param over hears once that it has ended
   */
  start(
    prepared: PreparedSubscription,
    over: (stream: ResultStream) => void = () => undefined,
  ): ResultStream {
    const { contextValue, operationName, trace } = prepared;
    const { caller, requestId } = contextValue;
    const startedAt = performance.now();
    let giveBack = (): void => undefined;
    const toErrors = (fault: unknown): readonly GraphQLError[] =>
      (fault instanceof AggregateError ? (fault.errors as unknown[]) : [fault]).map((one) =>
        this.#toPublic(one, requestId),
      );
    const stream = new ResultStream({
      open: () =>
        requestContext.run({ requestId }, async () => {
          giveBack = this.#options.seats.acquire(caller.id);
          this.#open.set(stream, caller);
          this.#checkLater();
          return trace ? trace.within(() => subscribe(prepared)) : subscribe(prepared);
        }),
      toPublicErrors: toErrors,
      toResult: ({ data, errors }) => {
        this.#requireCurrent(caller);
        const told = errors?.flatMap(toErrors);
        trace?.settled(loggable(operationName), (told ?? []).map(codeOf));
        return { data, ...(told && { errors: told }) };
      },
      closed: (errors) => {
        giveBack();
        this.#open.delete(stream);
        over(stream);
        const ms = Math.round(performance.now() - startedAt);
        this.#options.count('subscription', loggable(operationName), firstCode(errors), undefined);
        this.#log({ caller, requestId, trace }, operationName, { ms, results: stream.results, errors });
      },
    });
    return stream;
  }

  #requireCurrent(caller: Caller): void {
    if (this.#options.authenticator.isCurrent(caller)) return;
    throw new AccessError('BAD_CREDENTIALS', 'The credentials are not good any more.');
  }

  /** Ends what callers watch whose credentials have expired or been revoked, soon after it happened. */
  #checkLater(): void {
    if (this.#isChecking) return;
    this.#isChecking = true;
    this.#options.clock.after(CHECK_EVERY_MS, () => {
      this.#isChecking = false;
      for (const [stream, caller] of this.#open) {
        try {
          this.#requireCurrent(caller);
        } catch (error) {
          stream.fail(error);
        }
      }
      if (this.#open.size > 0) this.#checkLater();
    });
  }

  #toPublic(fault: unknown, requestId: string): GraphQLError {
    const error = fault instanceof GraphQLError ? fault : undefined;
    const formatted = error?.toJSON() ?? { message: '' };
    const { message, extensions } = toPublicError(formatted, fault, (cause) =>
      this.#options.log.error({ requestId, ...errorLocation(cause) }, 'unexpected error'),
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

  /** One line per subscription, when it has ended; never documents, variables or results. */
  #log({ requestId, caller, trace }: Asked, asked: unknown, { errors, ...facts }: SubscriptionSummary): void {
    const name = loggable(asked);
    const codes = errors.map(codeOf);
    const line = {
      requestId,
      caller: caller.id,
      operation: 'subscription',
      name,
      ...facts,
      errors: codes.length > 0 ? codes : undefined,
    };
    const write = (): void => this.#options.log.info(line, 'operation');
    if (!trace) return write();
    trace.within(write);
    trace.settled(name, codes);
  }
}

/** In the words of queries. */
const NO_QUERY = new GraphQLError('There is no query.', { extensions: { code: 'BAD_REQUEST' } });

const codeOf = ({ extensions }: GraphQLError): unknown => extensions['code'];

type Asked = Pick<OperationContext, 'requestId' | 'caller'> & Pick<PreparedSubscription, 'trace'>;

interface SubscriptionSummary {
  ms: number;
  /** How many results were sent. */
  results: number;
  errors: readonly GraphQLError[];
}
