import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { PrecomputedResult } from '../../resolvers/root-fields';
import { costOf, type CostOf } from '../limits/operation-cost';
import { compileOperation, type CompiledOperation } from './compiled-operation';
import { Fallback } from './selection';
import { variablesReader, type ReadVariables } from './variables';

type Variables = Record<string, unknown>;

interface KnownOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** An operation with everything computed that does not depend on caller and variables. */
export class PreparedOperation {
  readonly type: OperationDefinitionNode['operation'];
  readonly name: string | null;
  readonly costOf: CostOf;
  /** Coerces variables; null when one is invalid. */
  readonly variablesOf: ReadVariables;
  #compiled: CompiledOperation | null;

  constructor(private readonly known: KnownOperation) {
    const { schema, document, operation } = known;
    this.type = operation.operation;
    this.name = operation.name?.value ?? null;
    this.costOf = costOf(schema, document, operation);
    this.variablesOf = variablesReader(schema, operation);
    this.#compiled = compileOperation(schema, document, operation);
  }

  /**
   * Executes the operation.
   * @param given the variables of the request
   * @param variables the result of variablesOf(given)
   */
  async run(context: OperationContext, given: Variables, variables: Variables): Promise<ExecutionResult> {
    const compiled = this.#compiled;
    let precomputed: PrecomputedResult | undefined;
    if (compiled) {
      try {
        const started = compiled.start(context, variables);
        if (this.type === 'mutation') precomputed = new PrecomputedResult(started);
        const value = await started;
        return { data: compiled.read(Array.isArray(value) ? await Promise.all(value) : value) };
      } catch (error) {
        if (error instanceof Fallback) this.#compiled = null;
      }
    }
    // graphql-js reports errors with their locations. Lookups are cached in the context, and a mutation is not executed twice:
    // its result is the root value.
    const { schema, document, operation } = this.known;
    return execute({
      schema,
      document,
      operationName: operation.name?.value,
      rootValue: precomputed,
      variableValues: given,
      contextValue: context,
    });
  }
}
