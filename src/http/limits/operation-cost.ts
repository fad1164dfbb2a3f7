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
import { ATTEMPTS_PAGE_SIZE } from '../../schema/attempt';
import { CHANGES_PAGE_SIZE } from '../../schema/change';
import { badRequest, RequestError } from '../graphql/http-error';
import type { RateLimit } from './rate-limit';
import { fragmentsOf, fieldsIn, SelectionSizeCalculator, type Fragments } from './selection-size';

/** Maximum number of lookups of one operation. Enough for five list arguments, each with the maximum of 100 ids. */
const MAX_LOOKUPS = 500;
/**
 * Maximum number of field values in the looked-up transactions of a response: selected fields times transactions.
 * Writing a larger response would block the event loop for too long.
 */
const MAX_TRANSACTION_VALUES = 300_000;
/**
 * Maximum number of values in pages of `attempts` and `changes` without lookups. Writing so many values takes 30 ms.
 * Lower than MAX_TRANSACTION_VALUES, because a page without lookups costs only one rate limit point.
 */
const MAX_PAGE_VALUES = 100_000;
/**
 * Rate limit points of a mutation. A mutation costs more than a lookup (1 point), because it may cause several requests
 * and journal writes.
 */
const POINTS_PER_MUTATION = 5;

interface OperationCost {
  lookups: number;
  /** Number of mutation fields, such as `createPayment`; 0 for a query. */
  mutations: number;
  /** Maximum number of values in the looked-up transactions of the response: selections times transactions. */
  transactionValues: number;
  /** Maximum number of values in pages of `attempts` and `changes` that cause no lookups: selections times rows. */
  pageValues: number;
}

/** A function of the coerced variables of an operation, which include default values. */
type FromVariables<T> = (variables: Record<string, unknown>) => T;

/** Page sizes of the root fields that list journal rows. In a row, only `payment` and `payout` cause a lookup. */
const PAGE_SIZES: Readonly<Record<string, { default: number; max: number }>> = {
  attempts: ATTEMPTS_PAGE_SIZE,
  changes: CHANGES_PAGE_SIZE,
};

/** Upper bounds of what a root field reads. */
interface RootFieldReads {
  /** Number of lookups. A page without lookups counts as 1, because it queries the journal. */
  lookups: number;
  /** Number of looked-up transactions. */
  transactions: number;
  /** Number of attempts or changes in a page without lookups. */
  pageRows: number;
}

const readsOfLookups = (lookups: number): RootFieldReads => ({
  lookups,
  transactions: lookups,
  pageRows: 0,
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
  const pageSize = PAGE_SIZES[fieldDefinition.name];
  const hasListArgument = fieldDefinition.args.some(({ type }) => isListType(getNullableType(type)));
  if (!pageSize && !hasListArgument) return () => readsOfLookups(1);
  const selectedFields = field.selectionSet ? fieldsIn(field.selectionSet, fragments, new Set(), true) : [];
  const rowsHaveLookups = [...selectedFields].some(
    ({ name }) => name.value === 'payment' || name.value === 'payout',
  );
  return (variables) => {
    try {
      const args = getArgumentValues(fieldDefinition, field, variables);
      if (pageSize) {
        const first = typeof args['first'] === 'number' ? args['first'] : pageSize.default;
        const pageRows = Math.min(Math.max(first, 1), pageSize.max);
        return rowsHaveLookups ? readsOfLookups(pageRows) : { lookups: 1, transactions: 0, pageRows };
      }
      const listArguments = Object.values(args).filter(Array.isArray);
      return readsOfLookups(listArguments.length === 0 ? 1 : listArguments.flat().length);
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
    return () => ({ lookups: 0, mutations: fields.length, transactionValues: 0, pageValues: 0 });
  const sizeCalculator = new SelectionSizeCalculator(fragments);
  const fieldCounters = fields.map((field) => ({
    countReads: createReadCounter(field, rootType, fragments),
    selections: field.selectionSet ? sizeCalculator.sizeOf(field.selectionSet).selections : 1,
  }));
  return (variables) => {
    const cost = { lookups: 0, mutations: 0, transactionValues: 0, pageValues: 0 };
    for (const { countReads, selections } of fieldCounters) {
      const { lookups, transactions, pageRows } = countReads(variables);
      cost.lookups += lookups;
      cost.transactionValues += transactions * selections;
      cost.pageValues += pageRows * selections;
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

const pointsStillToConsume = ({ lookups, mutations }: OperationCost): number =>
  Math.max(0, lookups + mutations * POINTS_PER_MUTATION - 1);

function exceededLimitMessage({ lookups, transactionValues, pageValues }: OperationCost): string | null {
  if (lookups > MAX_LOOKUPS) return `The operation looks up more than ${MAX_LOOKUPS} transactions.`;
  if (transactionValues > MAX_TRANSACTION_VALUES)
    return `The response could have more than ${MAX_TRANSACTION_VALUES} values (selected fields times transactions).`;
  if (pageValues <= MAX_PAGE_VALUES) return null;
  return `The pages could have more than ${MAX_PAGE_VALUES} values (selected fields times rows). Select fewer fields or request fewer rows.`;
}

/**
 * Apollo plugin that rejects subscriptions, and operations whose cost exceeds a limit. For every other operation,
 * consumes the points beyond the one that Admission has already consumed. If the caller has too few points left,
 * rejects the operation (RATE_LIMITED).
 */
export const costLimitPlugin = (rateLimit: RateLimit): ApolloServerPlugin<OperationContext> => ({
  requestDidStart: async () => ({
    async didResolveOperation({ schema, document, operation, request, contextValue }) {
      // If the document has no operation to execute, Apollo reports the error.
      if (!operation) return;
      if (operation.operation === 'subscription')
        throw badRequest(
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
      const points = pointsStillToConsume(cost);
      if (points > 0) await rateLimit.consume(contextValue.caller, points);
    },
  }),
});
