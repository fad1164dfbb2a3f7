import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';

/** An operation name, which callers choose; undefined when it may be something else. */
export const loggable = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,63}$/.test(name) && !/(\d\D*){5}/.test(name)
    ? name
    : undefined;

interface EndedOperation {
  context: Pick<OperationContext, 'requestId' | 'caller'>;
  /** Undefined when the operation is unknown. */
  operation: `${OperationTypeNode}` | undefined;
  name: string | null | undefined;
  /** By performance.now(). */
  startedAt: number;
  errors: readonly GraphQLFormattedError[] | undefined;
}

/** Called for every completed query and mutation. */
export type OperationLog = (ended: EndedOperation) => void;

export type CountOperation = (
  operation: string | undefined,
  name: string | undefined,
  code: string | undefined,
  seconds: number | undefined,
) => void;

/** The code of the first error. */
export const firstCode = ([first]: readonly Pick<GraphQLFormattedError, 'extensions'>[]):
  string | undefined => first && String(first.extensions?.['code']);

const NONE: readonly GraphQLFormattedError[] = [];

/** Writes one line per operation: name, duration and error codes. Never documents, variables or results. */
export const operationLog =
  (log: Logger, count: CountOperation = () => undefined): OperationLog =>
  ({ context, operation, name: given, startedAt, errors = NONE }) => {
    const name = loggable(given);
    const ms = performance.now() - startedAt;
    count(operation, name, firstCode(errors), ms / 1000);
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

/** Calls an OperationLog for the operations that Apollo executes. */
export const logOperations = (log: OperationLog): ApolloServerPlugin<OperationContext> => ({
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
