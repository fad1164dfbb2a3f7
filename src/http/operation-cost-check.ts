import type { ApolloServerPlugin } from '@apollo/server';
import type { OperationContext } from '../resolvers/context';
import { operationCost } from './operation-cost';
import { pointsOf, type RateLimit } from './rate-limit';
import { notHere, tooLarge } from './refusal';

export interface CostOptions {
  rate: RateLimit;
}

/** More than any page shows: five full batches. */
const MAX_LOOKUPS = 500;
/** Every field of 500 transactions several times over; writing more would hold up everybody else. */
const MAX_VALUES = 300_000;

/** Takes what an operation costs from its caller, once the document is understood and before anything is carried out. */
export const costOperations = ({ rate }: CostOptions): ApolloServerPlugin<OperationContext> => ({
  async requestDidStart() {
    return {
      async didResolveOperation({ schema, document, operation, request, contextValue }) {
        // Without an operation there is nothing to carry out: Apollo says why.
        if (!operation) return;
        if (operation.operation === 'subscription') throw notHere();
        const cost = operationCost(schema, document, operation, request.variables ?? {});
        if (cost.lookups > MAX_LOOKUPS)
          throw tooLarge(`The operation looks up more than ${MAX_LOOKUPS} transactions.`);
        if (cost.values > MAX_VALUES)
          throw tooLarge(`The answer could have more than ${MAX_VALUES} values: fields times transactions.`);
        const rest = pointsOf(cost) - 1;
        if (rest > 0) await rate.take(contextValue.caller, rest);
      },
    };
  },
});
