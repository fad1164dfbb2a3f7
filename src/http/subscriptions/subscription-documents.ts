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
import { isObject } from '../../shared/wire-object';
import { createDocumentCache } from '../limits/document-cache';
import { MAX_DOCUMENT_TOKENS } from '../limits/document-limits';
import type { PublicErrorCode } from '../graphql/error-codes';
import { badRequestError } from '../graphql/http-error';

const MAX_VALIDATION_ERRORS = 20;

function setErrorCode(error: GraphQLError, errorCode: PublicErrorCode): GraphQLError {
  error.extensions['code'] = errorCode;
  return error;
}

/** Forbids @skip and @include at the root of a subscription (GraphQL specification, edition of September 2025). */
const noConditionalRootFieldRule: ValidationRule = (validationContext) => ({
  OperationDefinition({ operation, selectionSet }) {
    if (operation !== OperationTypeNode.SUBSCRIPTION) return;
    const visitedNames = new Set<string>();
    const visitSelections = ({ selections }: SelectionSetNode): void => {
      for (const selection of selections) {
        const directive = selection.directives?.find(({ name }) => /^(skip|include)$/.test(name.value));
        if (directive)
          validationContext.reportError(
            new GraphQLError('No selection at the root of a subscription may have @skip or @include.', {
              nodes: directive,
            }),
          );
        if (selection.kind === Kind.INLINE_FRAGMENT) visitSelections(selection.selectionSet);
        if (selection.kind !== Kind.FRAGMENT_SPREAD || visitedNames.has(selection.name.value)) continue;
        visitedNames.add(selection.name.value);
        const fragment = validationContext.getFragment(selection.name.value);
        if (fragment) visitSelections(fragment.selectionSet);
      }
    };
    visitSelections(selectionSet);
  },
});

/** Parses and validates the documents of subscriptions. Caches valid ones. */
export class SubscriptionDocuments {
  readonly #validationRules: readonly ValidationRule[];
  readonly #documentByText = createDocumentCache();

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly introspection: boolean,
  ) {
    const introspectionRules = introspection ? [] : [NoSchemaIntrospectionCustomRule];
    this.#validationRules = [...specifiedRules, noConditionalRootFieldRule, ...introspectionRules];
  }

  /**
   * Parses and validates a document. Throws an AggregateError if it is invalid, or if its operation is missing,
   * ambiguous or no subscription.
   */
  parseAndValidate(documentText: string, operationName: string | undefined): DocumentNode {
    const document = this.#documentByText.get(documentText) ?? this.#parseAndValidateUncached(documentText);
    const operation = getOperationAST(document, operationName);
    if (!operation) throw new AggregateError([missingOperationError(operationName)]);
    if (operation.operation !== OperationTypeNode.SUBSCRIPTION)
      throw new AggregateError([NOT_A_SUBSCRIPTION_ERROR]);
    return document;
  }

  #parseAndValidateUncached(documentText: string): DocumentNode {
    try {
      const document = parse(documentText, { maxTokens: MAX_DOCUMENT_TOKENS });
      const validationOptions = { maxErrors: MAX_VALIDATION_ERRORS, hideSuggestions: !this.introspection };
      const errors = validate(this.schema, document, this.#validationRules, validationOptions);
      if (errors.length > 0)
        throw new AggregateError(errors.map((error) => setErrorCode(error, 'GRAPHQL_VALIDATION_FAILED')));
      this.#documentByText.set(documentText, document);
      return document;
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      throw new AggregateError([setErrorCode(error, 'GRAPHQL_PARSE_FAILED')], undefined, { cause: error });
    }
  }
}

/**
 * Returns the variables that the operation declares. Others would stay in memory as long as the subscription lasts.
 * Returns undefined if there are no variables.
 */
export function declaredVariables(
  document: DocumentNode,
  operationName: string | undefined,
  variables: unknown,
): Record<string, unknown> | undefined {
  if (!isObject(variables)) return undefined;
  const names = getOperationAST(document, operationName)?.variableDefinitions?.map(
    ({ variable }) => variable.name.value,
  );
  return Object.fromEntries(Object.entries(variables).filter(([name]) => names?.includes(name)));
}

/** Returns the error for a request whose operation is ambiguous or missing, with the message of Apollo Server. */
const missingOperationError = (operationName: string | undefined): GraphQLError =>
  new GraphQLError(
    operationName === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${operationName}".`,
    { extensions: { code: 'OPERATION_RESOLUTION_FAILURE' } },
  );

const NOT_A_SUBSCRIPTION_ERROR = badRequestError(
  'Only subscriptions are served over WebSocket and at /graphql/stream. Send queries and mutations to /graphql by POST.',
);
