import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';

/**
 * Returns an operation name if it is safe to log. Returns undefined if the name is absent, invalid, longer than 64
 * characters, or contains more than four digits and therefore may be a secret.
 */
export const nameIfLoggable = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,63}$/.test(name) && !/(\d\D*){5}/.test(name)
    ? name
    : undefined;

type OperationLogContext = Pick<OperationContext, 'requestId' | 'caller'>;

/** Logs an operation of an HTTP request to /graphql after the operation has ended. */
export type LogOperation = (endedOperation: {
  context: OperationLogContext;
  /** Type of the operation; undefined if no operation was selected, for example because the document is invalid. */
  type: `${OperationTypeNode}` | undefined;
  /**
   * Name of the operation, which may be unsafe to log. Null or undefined if the operation is unnamed or none was
   * selected.
   */
  name: string | null | undefined;
  /** Value of performance.now() at the start of the operation. */
  startedAt: number;
  errors: readonly GraphQLFormattedError[] | undefined;
}) => void;

export const errorCodesOf = (errors: readonly Pick<GraphQLFormattedError, 'extensions'>[] = []): string[] =>
  errors.map(({ extensions }) => String(extensions?.['code']));

interface EndedOperation {
  type: string | undefined;
  name: string | undefined;
  durationMs: number;
  /** Number of results of a subscription; absent for queries and mutations. */
  resultCount?: number;
  errorCodes: readonly string[];
}

/** Writes the log line of an ended operation. The line never contains the document, the variables or a result. */
export function logEndedOperation(
  log: Logger,
  { requestId, caller }: OperationLogContext,
  endedOperation: EndedOperation,
): void {
  const { type, name, resultCount, errorCodes } = endedOperation;
  const errors = errorCodes.length > 0 ? errorCodes : undefined;
  const ms = Math.round(endedOperation.durationMs);
  log.info(
    { requestId, caller: caller.id, operation: type, name, ms, results: resultCount, errors },
    'GraphQL operation ended',
  );
}

/** Returns a function that logs an ended operation. It first calls `onEnded`, which counts the operation. */
export const createOperationLogger =
  (log: Logger, onEnded: (endedOperation: EndedOperation) => void = () => undefined): LogOperation =>
  ({ context, type, name, startedAt, errors }) => {
    const durationMs = performance.now() - startedAt;
    const endedOperation = { type, name: nameIfLoggable(name), durationMs, errorCodes: errorCodesOf(errors) };
    onEnded(endedOperation);
    logEndedOperation(log, context, endedOperation);
  };

/** Returns an Apollo plugin that logs every operation that Apollo has handled. */
export const operationLogPlugin = (logOperation: LogOperation): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    const startedAt = performance.now();
    return {
      async willSendResponse({ contextValue: context, operation, operationName, response: { body } }) {
        const errors = body.kind === 'single' ? body.singleResult.errors : undefined;
        logOperation({ context, type: operation?.operation, name: operationName, startedAt, errors });
      },
    };
  },
});
