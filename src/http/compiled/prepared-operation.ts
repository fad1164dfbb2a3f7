import {
  execute,
  getArgumentValues,
  getVariableValues,
  type DocumentNode,
  type ExecutionResult,
  type FieldNode,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { PrecomputedResult } from '../../resolvers/root-fields';
import { createCostCalculator } from '../limits/operation-cost';
import { fragmentsOf } from '../limits/selection-size';
import { throwFallback, FallbackError, SelectionCompiler, type ValueCompleter } from './selection';

type Variables = Record<string, unknown>;

interface ValidatedOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** A query or mutation, prepared once for repeated execution with any caller and variables. */
export class PreparedOperation {
  readonly type: OperationDefinitionNode['operation'];
  readonly name: string | null;
  readonly costOf: ReturnType<typeof createCostCalculator>;
  /** Null if only graphql-js can execute the operation. */
  #compiledOperation: ReturnType<typeof compileOperation> | null = null;

  constructor(private readonly validatedOperation: ValidatedOperation) {
    const { schema, document, operation } = validatedOperation;
    this.type = operation.operation;
    this.name = operation.name?.value ?? null;
    this.costOf = createCostCalculator(schema, document, operation);
    try {
      this.#compiledOperation = compileOperation(validatedOperation);
    } catch (error) {
      if (!(error instanceof FallbackError)) throw error;
    }
  }

  /** Coerces the variables of a request. Returns null if one is invalid. */
  coerceVariables(rawVariables: Variables): Variables | null {
    const { schema, operation } = this.validatedOperation;
    const { variableDefinitions = [] } = operation;
    return getVariableValues(schema, variableDefinitions, rawVariables, { maxErrors: 1 }).coerced ?? null;
  }

  /** Executes the operation. `coercedVariables`: the result of coerceVariables(rawVariables). */
  async run(
    context: OperationContext,
    rawVariables: Variables,
    coercedVariables: Variables,
  ): Promise<ExecutionResult> {
    const compiled = this.#compiledOperation;
    let precomputedResult: PrecomputedResult | undefined;
    if (compiled) {
      try {
        const resolverResult = compiled.callResolver(context, coercedVariables);
        if (this.type === 'mutation') precomputedResult = new PrecomputedResult(resolverResult);
        const value = await resolverResult;
        return { data: compiled.selectData(Array.isArray(value) ? await Promise.all(value) : value) };
      } catch (error) {
        if (error instanceof FallbackError) this.#compiledOperation = null;
      }
    }
    // Let graphql-js execute an operation that is not compiled. Let it also repeat a failed operation, because only
    // errors of graphql-js have locations. Nothing is sent to the payment service twice: the context caches lookups,
    // and `rootValue` holds the result of a mutation.
    const { schema, document, operation } = this.validatedOperation;
    return execute({
      schema,
      document,
      operationName: operation.name?.value,
      rootValue: precomputedResult,
      variableValues: rawVariables,
      contextValue: context,
    });
  }
}

/** Passed to resolvers as GraphQLResolveInfo, which no resolver of this gateway uses. */
const NO_RESOLVE_INFO = undefined as never;

/**
 * Compiles an operation. Throws a FallbackError for an operation that only graphql-js can execute, for example one with
 * introspection, directives or several root fields besides `__typename`.
 */
function compileOperation({ schema, document, operation }: ValidatedOperation) {
  const rootType = operation.operation === 'mutation' ? schema.getMutationType() : schema.getQueryType();
  const fragments = fragmentsOf(document);
  const definitions = [operation, ...(operation.variableDefinitions ?? []), ...fragments.values()];
  if (!rootType || definitions.some(({ directives }) => directives?.length)) return throwFallback();
  const selectionCompiler = new SelectionCompiler(schema, fragments);
  const rootFields = [...selectionCompiler.selectedFields(rootType, [operation.selectionSet])];
  const isTypename = ([node]: readonly FieldNode[]): boolean => node?.name.value === '__typename';
  const [rootEntry, ...otherEntries] = rootFields.filter(([, nodes]) => !isTypename(nodes));
  if (otherEntries.length > 0) return throwFallback();
  const [rootKey, nodes = []] = rootEntry ?? [];
  const [node] = nodes;
  const field = node && rootType.getFields()[node.name.value];
  if (rootEntry && !field?.resolve) return throwFallback();
  const completeRoot: ValueCompleter = field ? selectionCompiler.completerFor(field.type, nodes) : () => null;
  return {
    /** Calls the root field's resolver, if there is a root field. Throws before the call if an argument is invalid. */
    callResolver: (context: OperationContext, variables: Variables): unknown =>
      node &&
      field?.resolve?.(undefined, getArgumentValues(field, node, variables), context, NO_RESOLVE_INFO),
    /** Selects the response data from the resolver's result. Throws if only graphql-js can produce the response. */
    selectData: (value: unknown): Record<string, unknown> => {
      const rootResponseValue = completeRoot(value);
      return Object.fromEntries(
        rootFields.map(([key]) => [key, key === rootKey ? rootResponseValue : rootType.name]),
      );
    },
  };
}
