import type { ApolloServerPlugin } from '@apollo/server';
import { getVariableValues } from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { costOf, type OperationCost } from './operation-cost';
import { pointsOf, type RateLimit } from './rate-limit';
import { subscriptionsNotSupportedHere, tooLarge } from '../graphql/http-error';

/** More than any page shows: five full batches. */
const MAX_LOOKUPS = 500;
/** Every field of 500 transactions several times over; writing more would hold up everybody else. */
const MAX_VALUES = 300_000;

const TOO_MANY_LOOKUPS = `The operation looks up more than ${MAX_LOOKUPS} transactions.`;
const TOO_MANY_VALUES = `The answer could have more than ${MAX_VALUES} values: fields times transactions.`;

/** What an operation takes from its caller beyond the point that letting it in took; null where it costs too much. */
export const remainingCost = (cost: OperationCost): number | null =>
  faultOf(cost) === null ? pointsOf(cost) - 1 : null;

function faultOf({ lookups, values }: OperationCost): string | null {
  if (lookups > MAX_LOOKUPS) return TOO_MANY_LOOKUPS;
  return values > MAX_VALUES ? TOO_MANY_VALUES : null;
}

/** Takes what an operation costs from its caller, once the document is understood and before anything is carried out. */
export const costLimitPlugin = (rate: RateLimit): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        // Without an operation there is nothing to carry out: Apollo says why.
        if (!operation) return;
        if (operation.operation === 'subscription') throw subscriptionsNotSupportedHere();
        const { variableDefinitions = [] } = operation;
        const given = request.variables ?? {};
        const { coerced } = getVariableValues(schema, variableDefinitions, given, { maxErrors: 1 });
        // Variables that do not fit are refused by graphql-js, and nothing is carried out.
        if (!coerced) return;
        const cost = costOf(schema, document, operation)(coerced);
        const fault = faultOf(cost);
        if (fault !== null) throw tooLarge(fault);
        const points = pointsOf(cost) - 1;
        if (points > 0) await rate.consume(contextValue.caller, points);
      },
    };
  },
});
