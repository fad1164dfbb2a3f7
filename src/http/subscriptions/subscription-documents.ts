import {
  GraphQLError,
  Kind,
  NoSchemaIntrospectionCustomRule,
  OperationTypeNode,
  getOperationAST,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { MAX_TOKENS } from '../limits/document-limits';
import type { PublicErrorCode } from '../graphql/error-codes';
import { badRequest } from '../graphql/http-error';

/** Maximum total length of all cached documents, in characters. Only valid documents are cached. */
const MAX_CACHED_DOCUMENT_CHARACTERS = 2_000_000;
const MAX_VALIDATION_ERRORS = 20;

function setErrorCode(error: GraphQLError, code: PublicErrorCode): GraphQLError {
  error.extensions['code'] = code;
  return error;
}

/** Forbids @skip and @include at the root of a subscription (GraphQL specification, edition of September 2025). */
const noConditionalRootFieldRule: ValidationRule = (context) => ({
  OperationDefinition({ operation, selectionSet }) {
    if (operation !== OperationTypeNode.SUBSCRIPTION) return;
    const visited = new Set<string>();
    const visit = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        const directive = selection.directives?.find(({ name }) => /^(skip|include)$/.test(name.value));
        if (directive)
          context.reportError(
            new GraphQLError('The root field of a subscription cannot be conditional.', { nodes: directive }),
          );
        if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
        if (selection.kind !== Kind.FRAGMENT_SPREAD || visited.has(selection.name.value)) continue;
        visited.add(selection.name.value);
        const fragment = context.getFragment(selection.name.value);
        if (fragment) visit(fragment.selectionSet);
      }
    };
    visit(selectionSet);
  },
});

/** Parses and validates the documents of subscriptions. Caches valid ones. */
export class SubscriptionDocuments {
  readonly #rules: readonly ValidationRule[];
  readonly #cache = new LRUCache<string, DocumentNode>({
    maxSize: MAX_CACHED_DOCUMENT_CHARACTERS,
    sizeCalculation: (_document, text) => text.length,
  });

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly introspection: boolean,
  ) {
    const introspectionRules = introspection ? [] : [NoSchemaIntrospectionCustomRule];
    this.#rules = [...specifiedRules, noConditionalRootFieldRule, ...introspectionRules];
  }

  /**
   * Parses and validates a document. Throws an AggregateError if it is invalid, or if its operation is missing,
   * ambiguous or no subscription.
   */
  parseAndValidate(text: string, operationName: string | undefined): DocumentNode {
    const document = this.#cache.get(text) ?? this.#parseAndValidateUncached(text);
    const operation = getOperationAST(document, operationName);
    if (!operation) throw new AggregateError([missingOperationError(operationName)]);
    if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
      throw new AggregateError([NOT_A_SUBSCRIPTION_ERROR]);
    return document;
  }

  #parseAndValidateUncached(text: string): DocumentNode {
    try {
      const document = parse(text, { maxTokens: MAX_TOKENS });
      const options = { maxErrors: MAX_VALIDATION_ERRORS, hideSuggestions: !this.introspection };
      const errors = validate(this.schema, document, this.#rules, options);
      if (errors.length > 0)
        throw new AggregateError(errors.map((error) => setErrorCode(error, 'GRAPHQL_VALIDATION_FAILED')));
      this.#cache.set(text, document);
      return document;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      throw new AggregateError([setErrorCode(error, 'GRAPHQL_PARSE_FAILED')], undefined, { cause: error });
    }
  }
}

/** Returns the error for a request whose operation is ambiguous or missing, with the message of Apollo Server. */
const missingOperationError = (name: string | undefined): GraphQLError =>
  new GraphQLError(
    name === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${name}".`,
    { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
  );

const NOT_A_SUBSCRIPTION_ERROR = badRequest(
  'Only subscriptions are served over WebSocket and at /graphql/stream. Send queries and mutations to /graphql by POST.',
);
