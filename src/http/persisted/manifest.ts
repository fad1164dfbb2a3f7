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
import { parseJson } from '../../shared/json-text';
import { publicMessage } from '../../redaction/graphql-message';

/** An operation of a manifest: what its id stands for. */
export interface ManifestOperation {
  id: string;
  /** Null where the format has no names. */
  name: string | null;
  /** The document: the operation and the fragments it needs. */
  body: string;
}

const APOLLO_FORMAT = 'apollo-persisted-query-manifest';
const EXPECTED = `expected Apollo's manifest ("format": "${APOLLO_FORMAT}", "version": 1) or graphql-codegen's persisted-documents.json (an object of ids and documents)`;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function readApollo({ format, version, operations }: Record<string, unknown>): ManifestOperation[] {
  if (format !== APOLLO_FORMAT || version !== 1 || !Array.isArray(operations)) throw new Error(EXPECTED);
  return operations.map((entry: unknown, place) => {
    const { id, name, body } = isRecord(entry) ? entry : {};
    if (!isText(id) || !isText(name) || !isText(body))
      throw new Error(`operation ${place + 1}: expected texts as id, name and body`);
    return { id, name, body };
  });
}

/** A flat object of texts. */
function readCodegen(manifest: Record<string, unknown>): ManifestOperation[] {
  return Object.entries(manifest).map(([id, body]) => {
    if (!isText(body)) throw new Error(EXPECTED);
    return { id, name: null, body };
  });
}

/** Reads a manifest of either format. Throws an Error that says what is wrong, or a SyntaxError where it is not JSON. */
export function readManifest(text: string): ManifestOperation[] {
  const manifest = parseJson(text);
  if (!isRecord(manifest)) throw new Error(EXPECTED);
  const operations = 'format' in manifest ? readApollo(manifest) : readCodegen(manifest);
  if (operations.length === 0) throw new Error('it holds no operation');
  return operations;
}

/** What graphql-js says against a document, and by which of its rules. */
export interface DocumentFault {
  rule: ValidationRule;
  /** Fit to be shown: without the values in the document. */
  message: string;
  error: GraphQLError;
}

/** Checks a document against the schema, rule by rule, so that each fault can name its own. */
export function documentFaults(
  schema: GraphQLSchema,
  document: DocumentNode,
  rules: readonly ValidationRule[] = specifiedRules,
): DocumentFault[] {
  return rules.flatMap((rule) =>
    validate(schema, document, [rule]).map((error) => ({
      rule,
      message: publicMessage(error.message) ?? 'the document is not valid.',
      error,
    })),
  );
}

/** Why an operation could not be run as it stands in the manifest; empty when it can. */
export function operationFaults(schema: GraphQLSchema, { id, name, body }: ManifestOperation): string[] {
  const who = name === null ? `operation ${id}` : `operation ${name} (${id})`;
  try {
    const document = parse(body);
    if (!document.definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION))
      return [`${who}: its document holds no operation`];
    return documentFaults(schema, document).map(({ rule, message }) => `${who}: ${rule.name}: ${message}`);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return [`${who}: ${publicMessage(error.message) ?? 'Syntax Error.'}`];
  }
}
