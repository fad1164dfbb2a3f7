import { GraphQLError, TokenKind, type GraphQLSchema } from 'graphql';
import type { CallerKind } from '../../auth/caller';
import type { PersistedMode } from '../../config/types';
import { readTextFile } from '../../shared/json-text';
import { isObject } from '../../shared/wire-object';
import { badRequestError, RequestError } from '../graphql/http-error';
import { nameIfLoggable } from '../graphql/operation-log';
import type { GraphQLRequestParams } from '../graphql/request-params';
import { tokensOf } from '../limits/document-limits';
import { parseManifest, validateOperation, type ManifestOperation } from './manifest';

interface PersistedOptions {
  settings: {
    /** Path of the manifest of persisted operations; null: there is none, and every operation is allowed. */
    manifestPath: string | null;
    modeForFrontends: PersistedMode;
    modeForServices: PersistedMode;
  };
  schema: GraphQLSchema;
  /**
   * Called in mode `warn` for each request whose document is not in the manifest. `operationName` is null if
   * the request has none, or one that is unsafe to log.
   */
  onUnlisted(operationName: string | null): void;
}

/** Operations of a manifest, which callers may send by id. Mode `require` rejects other operations. */
export class PersistedOperations {
  readonly #operationById = new Map<string, ManifestOperation>();
  readonly #operationByText = new Map<string, ManifestOperation>();
  readonly #operationByNormalizedText = new Map<string, ManifestOperation>();

  /** Reads and validates the manifest. Throws an Error if the manifest cannot be read or has invalid operations. */
  constructor(private readonly options: PersistedOptions) {
    const { settings, schema } = options;
    if (settings.manifestPath === null) return;
    const operations = parseManifest(readTextFile(settings.manifestPath));
    const errors = operations.flatMap((operation) => [
      ...validateOperation(schema, operation),
      ...this.#add(operation),
    ]);
    if (errors.length > 0) throw new Error(errors.join('\n  '));
  }

  /**
   * Replaces an id with the document in the manifest. In modes `warn` and `require`, also replaces a document with the
   * equivalent one in the manifest (see normalizeDocument). If nothing is replaced, returns `params` itself. Throws a
   * RequestError
   * - if the ids and the document contradict each other,
   * - if the mode forbids the operation,
   * - if the request has an unknown `documentId` and no document.
   */
  resolve(params: GraphQLRequestParams, callerKind: CallerKind): GraphQLRequestParams {
    const { manifestPath, modeForFrontends, modeForServices } = this.options.settings;
    if (manifestPath === null) return params;
    // Treat unauthenticated callers like services: if authentication is off, all callers are on this machine.
    const operation = this.#find(params, callerKind === 'frontend' ? modeForFrontends : modeForServices);
    if (!operation) return params;
    const resolvedParams = { ...params, query: operation.body };
    delete resolvedParams.documentId;
    // Remove Apollo's persisted query extension: Apollo rejects a sha256Hash that is not the hash of the document.
    if (isObject(params.extensions))
      resolvedParams.extensions = { ...params.extensions, persistedQuery: undefined };
    return resolvedParams;
  }

  /**
   * Returns the operation that resolve() puts into the request; undefined if the request stays unchanged. Throws like
   * resolve().
   */
  #find(params: GraphQLRequestParams, mode: PersistedMode): ManifestOperation | undefined {
    const { query, documentId, extensions } = params;
    const ids = [documentId, persistedQueryHash(extensions)].filter((id) => typeof id === 'string');
    const [foundById, ...otherOperations] = ids.map((id) => this.#operationById.get(removeHashPrefix(id)));
    if (otherOperations.some((otherOperation) => otherOperation !== foundById)) throw CONTRADICTING_IDS_ERROR;
    if ((query ?? '') === '') return foundById ?? throwUnlessApolloMayHandle(params, mode);
    if (foundById) {
      if (this.#findByText(query) !== foundById) throw CONTRADICTING_IDS_ERROR;
      return foundById;
    }
    if (mode === 'allow') return undefined;
    const foundByText = this.#findByText(query);
    if (foundByText) return foundByText;
    if (mode === 'require') throw NOT_IN_MANIFEST_ERROR;
    this.options.onUnlisted(nameIfLoggable(params.operationName) ?? null);
    return undefined;
  }

  #findByText(query: unknown): ManifestOperation | undefined {
    if (typeof query !== 'string') return undefined;
    return this.#operationByText.get(query) ?? this.#operationByNormalizedText.get(normalizeDocument(query));
  }

  /** Adds an operation. Returns error messages: one if a different document has the same id, otherwise none. */
  #add(operation: ManifestOperation): string[] {
    const { body } = operation;
    const id = removeHashPrefix(operation.id);
    const existingOperation = this.#operationById.get(id);
    if (existingOperation)
      return existingOperation.body === body ? [] : [`operation ${id}: two different documents have this id`];
    const normalizedText = normalizeDocument(body);
    // If a document has several ids, all of them lead to the same operation.
    const sharedOperation = this.#operationByNormalizedText.get(normalizedText) ?? operation;
    this.#operationById.set(id, sharedOperation);
    this.#operationByText.set(body, sharedOperation);
    this.#operationByNormalizedText.set(normalizedText, sharedOperation);
    return [];
  }
}

/** Returns the hash of an Apollo persisted query in the extensions of a request; undefined if there is none. */
export function persistedQueryHash(extensions: unknown): unknown {
  const persistedQueryExtension = isObject(extensions) ? extensions['persistedQuery'] : undefined;
  return isObject(persistedQueryExtension) ? persistedQueryExtension['sha256Hash'] : undefined;
}

/**
 * Removes the prefix "sha256:" from an id. GraphQL over HTTP uses the prefix, and so does graphql-codegen if its hash
 * algorithm is sha256. Apollo does not.
 */
const removeHashPrefix = (id: string): string =>
  /^sha256:[0-9a-f]{64}$/.test(id) ? id.slice('sha256:'.length) : id;

/**
 * Normalises a document: removes insignificant characters and sorts definitions. If the document has an invalid token,
 * returns it unchanged. Uses the lexer, because print() of graphql-js takes seconds for deep nesting.
 */
function normalizeDocument(documentText: string): string {
  const definitionTexts: string[] = [];
  let tokenTexts: string[] = [];
  try {
    for (const { token, bracketDepth } of tokensOf(documentText)) {
      tokenTexts.push(documentText.slice(token.start, token.end));
      if (bracketDepth > 0 || token.kind !== TokenKind.BRACE_R) continue;
      definitionTexts.push(tokenTexts.join(' '));
      tokenTexts = [];
    }
  } catch (error) {
    if (error instanceof GraphQLError) return documentText;
    throw error;
  }
  return [...definitionTexts.sort(), ...tokenTexts].join('\n');
}

/**
 * Checks a request that has neither a document nor an id of the manifest. Throws a RequestError in mode `require`, or
 * if the request has a `documentId`. Otherwise returns undefined, and Apollo handles the request: Apollo may know the
 * hash in it (automatic persisted query).
 */
function throwUnlessApolloMayHandle(
  { documentId, extensions }: GraphQLRequestParams,
  mode: PersistedMode,
): undefined {
  const hasHash = typeof persistedQueryHash(extensions) === 'string';
  if (typeof documentId === 'string' || (hasHash && mode === 'require')) throw UNKNOWN_PERSISTED_ID_ERROR;
  if (mode === 'require') throw NOT_IN_MANIFEST_ERROR;
}

const NOT_IN_MANIFEST_ERROR = new RequestError(
  400,
  'PERSISTED_OPERATION_REQUIRED',
  'The operation is not in the manifest, and only operations of the manifest are allowed. npm run persist adds it.',
);

const CONTRADICTING_IDS_ERROR = badRequestError(
  'The ids and the document of the request belong to different operations.',
);

/** Error for an unknown id. It has Apollo's message, because clients recognise it and then send the document. */
export const UNKNOWN_PERSISTED_ID_ERROR = new RequestError(
  200,
  'PERSISTED_QUERY_NOT_FOUND',
  'PersistedQueryNotFound',
  {
    retryAfterMs: 0,
  },
);
