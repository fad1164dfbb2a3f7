import {
  GraphQLError,
  Kind,
  parse,
  specifiedRules,
  validate,
  type DocumentNode,
  type GraphQLSchema,
  type ValidationRule,
} from 'graphql';
import { redactGraphqlMessage } from '../../redaction/graphql-message';
import { parseStrictJson } from '../../shared/json-text';
import { isObject } from '../../shared/wire-object';

export interface ManifestOperation {
  id: string;
  /** Name of the operation; null if the format of the manifest has no names. */
  name: string | null;
  /** GraphQL document of the operation. */
  body: string;
}

const APOLLO_MANIFEST_FORMAT = 'apollo-persisted-query-manifest';
const MANIFEST_FORMAT_ERROR_MESSAGE = `expected Apollo's manifest ("format": "${APOLLO_MANIFEST_FORMAT}", "version": 1) or graphql-codegen's persisted-documents.json (an object of ids and documents)`;

const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== '';

function parseApolloManifest({ format, version, operations }: Record<string, unknown>): ManifestOperation[] {
  if (format !== APOLLO_MANIFEST_FORMAT || version !== 1 || !Array.isArray(operations))
    throw new Error(MANIFEST_FORMAT_ERROR_MESSAGE);
  return operations.map((entry: unknown, index) => {
    const { id, name, body } = isObject(entry) ? entry : {};
    if (!isNonEmptyString(id) || !isNonEmptyString(name) || !isNonEmptyString(body))
      throw new Error(`operation ${index + 1}: id, name and body must be non-empty strings`);
    return { id, name, body };
  });
}

function parseCodegenManifest(manifest: Record<string, unknown>): ManifestOperation[] {
  return Object.entries(manifest).map(([id, body]) => {
    if (!isNonEmptyString(body)) throw new Error(MANIFEST_FORMAT_ERROR_MESSAGE);
    return { id, name: null, body };
  });
}

/** Parses a manifest of Apollo or graphql-codegen. Throws an Error with the reason; a SyntaxError for invalid JSON. */
export function parseManifest(manifestText: string): ManifestOperation[] {
  const manifest = parseStrictJson(manifestText);
  if (!isObject(manifest)) throw new Error(MANIFEST_FORMAT_ERROR_MESSAGE);
  const operations = 'format' in manifest ? parseApolloManifest(manifest) : parseCodegenManifest(manifest);
  if (operations.length === 0) throw new Error('the manifest is empty: it contains no operations');
  return operations;
}

/**
 * Validates a document with one rule at a time, so that the rule of each error is known. `message` of a result: the
 * message of `error`, but without values that the document contains.
 */
export function validateDocument(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
) {
  return rules.flatMap((rule) =>
    validate(schema, document, [rule]).map((error) => ({
      rule,
      message: redactGraphqlMessage(error.message) ?? 'the document is not valid.',
      error,
    })),
  );
}

/** Validates an operation of a manifest. Returns error messages; none if the operation is valid. */
export function validateOperation(schema: GraphQLSchema, { id, name, body }: ManifestOperation): string[] {
  const messagePrefix = name === null ? `operation ${id}` : `operation ${name} (${id})`;
  try {
    const document = parse(body);
    if (!document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION))
      return [`${messagePrefix}: the document has no operation`];
    return validateDocument(schema, document).map(
      ({ rule, message }) => `${messagePrefix}: ${rule.name}: ${message}`,
    );
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return [`${messagePrefix}: ${redactGraphqlMessage(error.message) ?? 'Syntax Error.'}`];
  }
}
