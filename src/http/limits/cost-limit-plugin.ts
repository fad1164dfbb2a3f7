import type { ApolloServerPlugin } from '@apollo/server';
import { getVariableValues } from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { subscriptionsNotSupportedHere, tooLarge } from '../graphql/http-error';
import { costCalculator, type OperationCost } from './operation-cost';
import { pointsOf, type RateLimit } from './rate-limit';

/** Maximum number of lookups of an operation: five lists of ids of the maximum length. */
const MAX_LOOKUPS = 500;
/** Maximum number of values in a response, which blocks the event loop while it is written. */
const MAX_VALUES = 300_000;

/** Returns the points of an operation besides the one consumed at admission; null if the operation exceeds a limit. */
export const remainingPoints = (cost: OperationCost): number | null =>
  exceededLimitMessage(cost) === null ? pointsOf(cost) - 1 : null;

function exceededLimitMessage({ lookups, values }: OperationCost): string | null {
  if (lookups > MAX_LOOKUPS) return `The operation looks up more than ${MAX_LOOKUPS} transactions.`;
  if (values <= MAX_VALUES) return null;
  return `The response could have more than ${MAX_VALUES} values (selected fields times transactions).`;
}

/** Apollo plugin that, before execution, rejects operations above a limit and consumes the points of the others. */
export const costLimitPlugin = (rate: RateLimit): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        // Apollo reports that the operation is missing.
        if (!operation) return;
        if (operation.operation === 'subscription') throw subscriptionsNotSupportedHere();
        const { variableDefinitions = [] } = operation;
        const { coerced } = getVariableValues(schema, variableDefinitions, request.variables ?? {}, {
          maxErrors: 1,
        });
        // graphql-js reports invalid variables and executes nothing.
        if (!coerced) return;
        const cost = costCalculator(schema, document, operation)(coerced);
        const message = exceededLimitMessage(cost);
        if (message !== null) throw tooLarge(message);
        const points = pointsOf(cost) - 1;
        if (points > 0) await rate.consume(contextValue.caller, points);
      },
    };
  },
});
