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
import { publicMessage } from '../../redaction/graphql-message';
import { parseJson } from '../../shared/json-text';
import { isObject } from '../../shared/wire-object';

export interface ManifestOperation {
  id: string;
  /** Null when the format has no names. */
  name: string | null;
  body: string;
}

const APOLLO_FORMAT = 'apollo-persisted-query-manifest';
const EXPECTED = `expected Apollo's manifest ("format": "${APOLLO_FORMAT}", "version": 1) or graphql-codegen's persisted-documents.json (an object of ids and documents)`;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function readApollo({ format, version, operations }: Record<string, unknown>): ManifestOperation[] {
  if (format !== APOLLO_FORMAT || version !== 1 || !Array.isArray(operations)) throw new Error(EXPECTED);
  return operations.map((entry: unknown, index) => {
    const { id, name, body } = isObject(entry) ? entry : {};
    if (!isText(id) || !isText(name) || !isText(body))
      throw new Error(`operation ${index + 1}: expected strings as id, name and body`);
    return { id, name, body };
  });
}

function readCodegen(manifest: Record<string, unknown>): ManifestOperation[] {
  return Object.entries(manifest).map(([id, body]) => {
    if (!isText(body)) throw new Error(EXPECTED);
    return { id, name: null, body };
  });
}

/** Parses a manifest of either format. Throws an Error with the reason, or a SyntaxError when it is not JSON. */
export function readManifest(text: string): ManifestOperation[] {
  const manifest = parseJson(text);
  if (!isObject(manifest)) throw new Error(EXPECTED);
  const operations = 'format' in manifest ? readApollo(manifest) : readCodegen(manifest);
  if (operations.length === 0) throw new Error('it has no operation');
  return operations;
}

export interface DocumentError {
  rule: ValidationRule;
  /** Without values of the document. */
  message: string;
  error: GraphQLError;
}

/** Validates a document rule by rule, so that each error has its rule. */
export function documentErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
): DocumentError[] {
  return rules.flatMap((rule) =>
    validate(schema, document, [rule]).map((error) => ({
      rule,
      message: publicMessage(error.message) ?? 'the document is not valid.',
      error,
    })),
  );
}

/** Validates an operation of a manifest. Returns messages; none when it is valid. */
export function validateOperation(schema: GraphQLSchema, { id, name, body }: ManifestOperation): string[] {
  const subject = name === null ? `operation ${id}` : `operation ${name} (${id})`;
  try {
    const document = parse(body);
    if (!document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION))
      return [`${subject}: its document has no operation`];
    return documentErrors(schema, document).map(
      ({ rule, message }) => `${subject}: ${rule.name}: ${message}`,
    );
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return [`${subject}: ${publicMessage(error.message) ?? 'Syntax Error.'}`];
  }
}
