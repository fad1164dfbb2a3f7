import type { ApolloServerPlugin } from '@apollo/server';
import { getVariableValues } from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { subscriptionsNotSupportedHere, tooLarge } from '../graphql/http-error';
import { costOf, type OperationCost } from './operation-cost';
import { pointsOf, type RateLimit } from './rate-limit';

/** Five full batches. */
const MAX_LOOKUPS = 500;
/** Every field of 500 transactions several times over. Writing a response blocks the event loop. */
const MAX_VALUES = 300_000;

/** Points that an operation costs beyond the one taken at admission; null when it exceeds a limit. */
export const remainingCost = (cost: OperationCost): number | null =>
  exceededLimit(cost) === null ? pointsOf(cost) - 1 : null;

function exceededLimit({ lookups, values }: OperationCost): string | null {
  if (lookups > MAX_LOOKUPS) return `The operation looks up more than ${MAX_LOOKUPS} transactions.`;
  if (values <= MAX_VALUES) return null;
  return `The response could have more than ${MAX_VALUES} values: fields times transactions.`;
}

/** Rejects operations that cost too much, and takes the points of the others from their callers, before execution. */
export const costLimitPlugin = (rate: RateLimit): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        // Apollo reports a missing operation.
        if (!operation) return;
        if (operation.operation === 'subscription') throw subscriptionsNotSupportedHere();
        const { variableDefinitions = [] } = operation;
        const { coerced } = getVariableValues(schema, variableDefinitions, request.variables ?? {}, {
          maxErrors: 1,
        });
        // graphql-js reports invalid variables and executes nothing.
        if (!coerced) return;
        const cost = costOf(schema, document, operation)(coerced);
        const message = exceededLimit(cost);
        if (message !== null) throw tooLarge(message);
        const points = pointsOf(cost) - 1;
        if (points > 0) await rate.consume(contextValue.caller, points);
      },
    };
  },
});
