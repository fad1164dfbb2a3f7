import {
  GraphQLError,
  NoSchemaIntrospectionCustomRule,
  OperationTypeNode,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { MAX_TOKENS } from '../document-limits';
import { Refusal } from '../refusal';

/** Documents that are kept understood: thousands of watchers ask with the same one. Counted in characters of their texts. */
const MAX_KEPT = 2_000_000;
const MAX_ERRORS = 20;

const coded = (error: GraphQLError, code: string): GraphQLError =>
  new GraphQLError(error.message, {
    nodes: error.nodes,
    source: error.source,
    positions: error.positions,
    originalError: error.originalError,
    extensions: { code },
  });

/** Reads and checks the documents of subscriptions. */
export class SubscriptionDocuments {
  readonly #schema: GraphQLSchema;
  readonly #rules: typeof specifiedRules;
  readonly #kept = new LRUCache<string, DocumentNode>({
    maxSize: MAX_KEPT,
    sizeCalculation: (_document, text) => text.length,
  });

  constructor(schema: GraphQLSchema, introspection: boolean) {
    this.#schema = schema;
    this.#rules = introspection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule];
  }

  /** The document of a text, or the errors in it. Its limits must have been checked before. */
  read(text: string, operationName: string | undefined): DocumentNode | readonly GraphQLError[] {
    const known = this.#kept.get(text);
    const document = known ?? this.#parse(text);
    if (document instanceof GraphQLError) return [document];
    if (!known) {
      const errors = validate(this.#schema, document, this.#rules, { maxErrors: MAX_ERRORS });
      if (errors.length > 0) return errors.map((error) => coded(error, 'GRAPHQL_VALIDATION_FAILED'));
      this.#kept.set(text, document);
    }
    const operation = getOperationAST(document, operationName);
    if (!operation) return [coded(UNCLEAR, 'OPERATION_RESOLUTION_FAILURE')];
    return operation.operation === OperationTypeNode.SUBSCRIPTION ? document : [NO_SUBSCRIPTION];
  }

  #parse(text: string): DocumentNode | GraphQLError {
    try {
      return parse(text, { maxTokens: MAX_TOKENS });
    } catch (error) {
      return error instanceof GraphQLError ? coded(error, 'GRAPHQL_PARSE_FAILED') : UNCLEAR;
    }
  }
}

const UNCLEAR = new GraphQLError('Which operation to run is not clear.');

const NO_SUBSCRIPTION = new Refusal({
  status: 400,
  code: 'BAD_REQUEST',
  message: 'Only subscriptions are served here: send queries and mutations to /graphql by POST.',
});
