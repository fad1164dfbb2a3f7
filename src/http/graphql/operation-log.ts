import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';

/** Returns an operation name; undefined if it is too long or has many digits, because it may then be a secret. */
export const loggableName = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,63}$/.test(name) && !/(\d\D*){5}/.test(name)
    ? name
    : undefined;

interface LoggedOperation {
  context: Pick<OperationContext, 'requestId' | 'caller'>;
  /** Type of the operation; undefined if the document does not determine the operation. */
  operation: `${OperationTypeNode}` | undefined;
  /** Name of the operation, as the client sent it. */
  name: string | null | undefined;
  /** Time of the start by performance.now(). */
  startedAt: number;
  errors: readonly GraphQLFormattedError[] | undefined;
}

/** Logs an ended query or mutation. */
export type LogOperation = (ended: LoggedOperation) => void;

/** Counts an ended operation in the metrics. `seconds` is its duration; undefined if it is not measured. */
export type CountOperation = (
  operation: string | undefined,
  name: string | undefined,
  code: string | undefined,
  seconds: number | undefined,
) => void;

/** Returns the code of the first error; undefined if there is no error. */
export const firstErrorCode = ([first]: readonly Pick<GraphQLFormattedError, 'extensions'>[]):
  string | undefined => first && String(first.extensions?.['code']);

const NO_ERRORS: readonly GraphQLFormattedError[] = [];

/** Returns a function that logs each operation in one line, never with its document, variables or result. */
export const operationLog =
  (log: Logger, count: CountOperation = () => undefined): LogOperation =>
  ({ context, operation, name: given, startedAt, errors = NO_ERRORS }) => {
    const name = loggableName(given);
    const ms = performance.now() - startedAt;
    count(operation, name, firstErrorCode(errors), ms / 1000);
    log.info(
      {
        requestId: context.requestId,
        caller: context.caller.id,
        operation,
        name,
        ms: Math.round(ms),
        errors: errors.length > 0 ? errors.map(({ extensions }) => extensions?.['code']) : undefined,
      },
      'operation',
    );
  };

/** Returns an Apollo plugin that logs every operation that Apollo has handled. */
export const operationLogPlugin = (log: LogOperation): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    const startedAt = performance.now();
    return {
      async willSendResponse({ contextValue: context, operation, operationName, response: { body } }) {
        const errors = body.kind === 'single' ? body.singleResult.errors : undefined;
        log({ context, operation: operation?.operation, name: operationName, startedAt, errors });
      },
    };
  },
});
