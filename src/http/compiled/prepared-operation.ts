import {
  execute,
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import type { OperationContext } from '../../resolvers/context';
import { PrecomputedResult } from '../../resolvers/root-fields';
import { costCalculator, type CostOf } from '../limits/operation-cost';
import { compileOperation, type CompiledOperation } from './compiled-operation';
import { Fallback } from './selection';
import { variablesReader, type ReadVariables } from './variables';

type Variables = Record<string, unknown>;

interface ValidatedOperation {
  schema: GraphQLSchema;
  document: DocumentNode;
  operation: OperationDefinitionNode;
}

/** A query or mutation. Everything that does not depend on the caller or the variables has been computed. */
export class PreparedOperation {
  readonly type: OperationDefinitionNode['operation'];
  readonly name: string | null;
  readonly costOf: CostOf;
  readonly readVariables: ReadVariables;
  #compiled: CompiledOperation | null;

  constructor(private readonly validated: ValidatedOperation) {
    const { schema, document, operation } = validated;
    this.type = operation.operation;
    this.name = operation.name?.value ?? null;
    this.costOf = costCalculator(schema, document, operation);
    this.readVariables = variablesReader(schema, operation);
    this.#compiled = compileOperation(schema, document, operation);
  }

  /**
   * Executes the operation.
   * @param given the variables as the client sent them
   * @param variables the result of readVariables(given)
   */
  async run(context: OperationContext, given: Variables, variables: Variables): Promise<ExecutionResult> {
    const compiled = this.#compiled;
    let precomputed: PrecomputedResult | undefined;
    if (compiled) {
      try {
        const started = compiled.callResolver(context, variables);
        if (this.type === 'mutation') precomputed = new PrecomputedResult(started);
        const value = await started;
        return { data: compiled.read(Array.isArray(value) ? await Promise.all(value) : value) };
      } catch (error) {
        if (error instanceof Fallback) this.#compiled = null;
      }
    }
    // graphql-js executes the operation again, to report errors with locations. The context caches lookups. A mutation
    // is not executed twice, because its result is passed as the root value.
    const { schema, document, operation } = this.validated;
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
