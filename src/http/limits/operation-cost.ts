import type { ApolloServerPlugin } from '@apollo/server';
import {
  getArgumentValues,
  getNullableType,
  getVariableValues,
  isListType,
  type DocumentNode,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { ATTEMPTS_PAGE_SIZES } from '../../schema/attempt';
import { CHANGES_PAGE_SIZES } from '../../schema/change';
import { badRequestError, RequestError } from '../graphql/http-error';
import type { CallerRateLimiter } from './caller-rate-limiter';
import { fragmentsOf, fieldsIn, SelectionSizeCalculator, type Fragments } from './selection-size';

/** Maximum number of lookups of one operation. Enough for five list arguments, each with the maximum of 100 ids. */
const MAX_LOOKUPS = 500;
/**
 * Maximum number of field values in the looked-up transactions of a response: selected fields times transactions.
 * Writing a larger response would block the event loop for too long.
 */
const MAX_TRANSACTION_FIELD_VALUES = 300_000;
/**
 * Maximum number of values in pages of `attempts` and `changes` without lookups. Writing so many values takes 30 ms.
 * Lower than MAX_TRANSACTION_FIELD_VALUES, because a page without lookups costs only one rate limit point.
 */
const MAX_ROW_VALUES = 100_000;
/**
 * Maximum number of aliased values in lists: aliases times transactions or rows. Aliases repeat the longest field, such
 * as a QR code of 10 kB, in every item of a list.
 */
const MAX_ALIASED_VALUES = 5000;
/**
 * Rate limit points of a mutation. A mutation costs more than a lookup (1 point), because it may cause several requests
 * and journal writes.
 */
const POINTS_PER_MUTATION = 5;

interface OperationCost {
  lookupCount: number;
  /** Number of mutation fields, such as `createPayment`; 0 for a query. */
  mutationCount: number;
  /** Upper bound of the number of values in looked-up transactions: selections times transactions. */
  transactionValueCount: number;
  /** Upper bound of the number of values in pages that cause no lookups: selections times rows. */
  rowValueCount: number;
  /** Maximum number of aliased values in the response: aliases times transactions or rows. */
  aliasedValueCount: number;
}

const NO_COST: OperationCost = {
  lookupCount: 0,
  mutationCount: 0,
  transactionValueCount: 0,
  rowValueCount: 0,
  aliasedValueCount: 0,
};

/** A function of the coerced variables of an operation, which include default values. */
type FromVariables<T> = (coercedVariables: Record<string, unknown>) => T;

/** Page sizes of the root fields that list journal rows. In a row, only `payment` and `payout` cause a lookup. */
const PAGE_SIZES_BY_FIELD: Readonly<Record<string, { default: number; max: number }>> = {
  attempts: ATTEMPTS_PAGE_SIZES,
  changes: CHANGES_PAGE_SIZES,
};

/** Upper bounds of what a root field reads. */
interface RootFieldReads {
  /** Number of lookups. A page without lookups counts as 1, because it queries the journal. */
  lookupCount: number;
  /** Number of looked-up transactions. */
  transactionCount: number;
  /** Number of attempts or changes in a page without lookups. */
  rowCount: number;
}

const readsOfLookups = (lookupCount: number): RootFieldReads => ({
  lookupCount,
  transactionCount: lookupCount,
  rowCount: 0,
});

/**
 * Returns a function that counts what a root field reads. For a list argument, it counts one lookup for each id. For a
 * page whose rows cause lookups, it counts one lookup for each row. For any other field, it counts one lookup.
 */
function createReadCounter(
  field: FieldNode,
  rootType: GraphQLObjectType,
  fragments: Fragments,
): FromVariables<RootFieldReads> {
  const fieldDefinition = rootType.getFields()[field.name.value];
  if (!fieldDefinition) return () => readsOfLookups(0);
  const pageSizes = PAGE_SIZES_BY_FIELD[fieldDefinition.name];
  const hasListArgument = fieldDefinition.args.some(({ type }) => isListType(getNullableType(type)));
  if (!pageSizes && !hasListArgument) return () => readsOfLookups(1);
  const descendantFields = field.selectionSet ? fieldsIn(field.selectionSet, fragments, new Set(), true) : [];
  const hasRowLookups = [...descendantFields].some(
    ({ name }) => name.value === 'payment' || name.value === 'payout',
  );
  return (coercedVariables) => {
    try {
      const args = getArgumentValues(fieldDefinition, field, coercedVariables);
      if (pageSizes) {
        const first = typeof args['first'] === 'number' ? args['first'] : pageSizes.default;
        const rowCount = Math.min(Math.max(first, 1), pageSizes.max);
        return hasRowLookups ? readsOfLookups(rowCount) : { lookupCount: 1, transactionCount: 0, rowCount };
      }
      const listArgumentValues = Object.values(args).filter(Array.isArray);
      return readsOfLookups(listArgumentValues.length === 0 ? 1 : listArgumentValues.flat().length);
    } catch {
      // The arguments are invalid. Count the minimum: graphql-js reports the error and does not call the resolver.
      return readsOfLookups(1);
    }
  };
}

/** Returns a function that computes the cost of an operation from its variables. The document must be valid. */
export function createCostCalculator(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): FromVariables<OperationCost> {
  const rootType = schema.getRootType(operation.operation);
  const fragments = fragmentsOf(document);
  const fields = [...fieldsIn(operation.selectionSet, fragments)].filter(
    ({ name }) => !name.value.startsWith('__'),
  );
  if (operation.operation === 'mutation' || !rootType)
    return () => ({ ...NO_COST, mutationCount: fields.length });
  const sizeCalculator = new SelectionSizeCalculator(fragments);
  const rootFieldCounters = fields.map((field) => ({
    countReads: createReadCounter(field, rootType, fragments),
    size: field.selectionSet && sizeCalculator.sizeOf(field.selectionSet),
  }));
  return (coercedVariables) => {
    const cost = { ...NO_COST };
    for (const { countReads, size } of rootFieldCounters) {
      const { lookupCount, transactionCount, rowCount } = countReads(coercedVariables);
      const { selectionCount = 1, aliasCount = 0 } = size ?? {};
      cost.lookupCount += lookupCount;
      cost.transactionValueCount += transactionCount * selectionCount;
      cost.rowValueCount += rowCount * selectionCount;
      cost.aliasedValueCount += (transactionCount + rowCount) * aliasCount;
    }
    return cost;
  };
}

/**
 * Returns the rate limit points to consume, without the one that Admission has already consumed. Returns null if the
 * cost exceeds a limit.
 */
export const pointsIfWithinLimits = (cost: OperationCost): number | null =>
  exceededLimitMessage(cost) === null ? pointsStillToConsume(cost) : null;

const pointsStillToConsume = ({ lookupCount, mutationCount }: OperationCost): number =>
  Math.max(0, lookupCount + mutationCount * POINTS_PER_MUTATION - 1);

function exceededLimitMessage(cost: OperationCost): string | null {
  if (cost.lookupCount > MAX_LOOKUPS) return `The operation looks up more than ${MAX_LOOKUPS} transactions.`;
  if (cost.transactionValueCount > MAX_TRANSACTION_FIELD_VALUES)
    return `The response could have more than ${MAX_TRANSACTION_FIELD_VALUES} values (selected fields times transactions). Select fewer fields or request fewer transactions.`;
  if (cost.aliasedValueCount > MAX_ALIASED_VALUES)
    return `The response could have more than ${MAX_ALIASED_VALUES} aliased values (aliases times transactions or rows).`;
  if (cost.rowValueCount <= MAX_ROW_VALUES) return null;
  return `The pages could have more than ${MAX_ROW_VALUES} values (selected fields times rows). Select fewer fields or request fewer rows.`;
}

/**
 * Apollo plugin that rejects subscriptions, and operations whose cost exceeds a limit. For every other operation,
 * consumes the points beyond the one that Admission has already consumed. If the caller has too few points left,
 * rejects the operation (RATE_LIMITED).
 */
export const costLimitPlugin = (rateLimiter: CallerRateLimiter): ApolloServerPlugin<OperationContext> => ({
  requestDidStart: async () => ({
    async didResolveOperation({ schema, document, operation, request, contextValue }) {
      // If the document has no operation to execute, Apollo reports the error.
      if (!operation) return;
      if (operation.operation === 'subscription')
        throw badRequestError(
          'Send subscriptions to /graphql over WebSocket, or to /graphql/stream for server-sent events.',
        );
      const { variableDefinitions = [] } = operation;
      const { coerced } = getVariableValues(schema, variableDefinitions, request.variables ?? {}, {
        maxErrors: 1,
      });
      // If variables are invalid, graphql-js reports them later and executes nothing.
      if (!coerced) return;
      const cost = createCostCalculator(schema, document, operation)(coerced);
      const message = exceededLimitMessage(cost);
      if (message !== null) throw new RequestError(400, 'OPERATION_TOO_LARGE', message);
      const pointsToConsume = pointsStillToConsume(cost);
      if (pointsToConsume > 0) await rateLimiter.consume(contextValue.caller, pointsToConsume);
    },
  }),
});
