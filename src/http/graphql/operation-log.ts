import type { ApolloServerPlugin } from '@apollo/server';
import type { GraphQLFormattedError, OperationTypeNode } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';

/** A name that callers chose: logged only when it looks like one. */
export const loggable = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,63}$/.test(name) && !/(\d\D*){5}/.test(name)
    ? name
    : undefined;

/** An operation that has ended. */
interface EndedOperation {
  context: Pick<OperationContext, 'requestId' | 'caller'>;
  /** Undefined where it is not known which operation was meant. */
  operation: `${OperationTypeNode}` | undefined;
  name: string | null | undefined;
  /** By the clock of `performance`. */
  startedAt: number;
  errors: readonly GraphQLFormattedError[] | undefined;
}

/** Hears of every query and mutation that has ended. */
export type OperationLog = (ended: EndedOperation) => void;

/** Counts an operation: its type, its name where that is fit for it, the code of its first error, and its seconds. */
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

/** One line per operation: what was asked by name, how long it took and how it ended. Never documents, variables or results. */
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

/** The same for what Apollo answers. */
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
