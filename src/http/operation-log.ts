import type { ApolloServerPlugin } from '@apollo/server';
import type { Logger } from 'pino';
import type { OperationContext } from '../resolvers/context';

/** A name that callers chose: logged only when it looks like one. */
export const loggable = (name: unknown): string | undefined =>
  typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]{0,63}$/.test(name) && name.replace(/\D/g, '').length < 5
    ? name
    : undefined;

/** One line per operation: what was asked by name, how long it took and how it ended. Never documents, variables or results. */
export const logOperations = (log: Logger): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    const startedAt = performance.now();
    return {
      async willSendResponse({ contextValue, operation, operationName, response }) {
        const { body } = response;
        const errors = body.kind === 'single' ? (body.singleResult.errors ?? []) : [];
        const facts = {
          requestId: contextValue.requestId,
          caller: contextValue.caller.id,
          operation: operation?.operation,
          name: loggable(operationName),
          ms: Math.round(performance.now() - startedAt),
          errors: errors.length > 0 ? errors.map(({ extensions }) => extensions?.['code']) : undefined,
        };
        log.info(facts, 'operation');
      },
    };
  },
});
