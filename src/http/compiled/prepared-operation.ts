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

/** What Apollo knows of an operation once it has found nothing wrong with it. */
export interface KnownOperation {
  schema: GraphQLSchema;
  /** Parsed and valid. */
  document: DocumentNode;
  /** The one of its operations that was asked for. */
  operation: OperationDefinitionNode;
}

/** An operation of which everything is known that does not depend on who asks and for what. */
export class PreparedOperation {
  readonly type: OperationDefinitionNode['operation'];
  /** The operation's name; null where it has none. */
  readonly name: string | null;
  /** What it costs with the variables of a request. */
  readonly costOf: CostOf;
  readonly #known: KnownOperation;
  readonly #variablesOf: ReadVariables;
  #compiled: CompiledOperation | null;

  constructor(known: KnownOperation) {
    const { schema, document, operation } = known;
    this.#known = known;
    this.type = operation.operation;
    this.name = operation.name?.value ?? null;
    this.costOf = costOf(schema, document, operation);
    this.#variablesOf = variablesReader(schema, operation);
    this.#compiled = compileOperation(schema, document, operation);
  }

  /** The variables as the operation has them; null where one does not fit. */
  variablesOf(given: Variables): Variables | null {
    return this.#variablesOf(given);
  }

  /**
   * Carries it out.
   * @param given the variables as the caller gave them
   * @param variables the same as variablesOf() has them
   */
  async run(context: OperationContext, given: Variables, variables: Variables): Promise<ExecutionResult> {
    const compiled = this.#compiled;
    let carriedOut: PrecomputedResult | undefined;
    if (compiled) {
      try {
        const started = compiled.start(context, variables);
        if (this.type === 'mutation') carriedOut = new PrecomputedResult(started);
        const value = await started;
        // What the items of a list promise has to arrive too.
        return { data: compiled.read(Array.isArray(value) ? await Promise.all(value) : value) };
      } catch (error) {
        if (error instanceof Fallback) this.#compiled = null;
      }
    }
    // What has failed fails there again, with its place: what one operation has looked up it does not look up twice, and
    // what moves money has been carried out already.
    const { schema, document, operation } = this.#known;
    return execute({
      schema,
      document,
      operationName: operation.name?.value,
      rootValue: carriedOut,
      variableValues: given,
      contextValue: context,
    });
  }
}
