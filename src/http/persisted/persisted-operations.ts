import { readFileSync } from 'node:fs';
import { GraphQLError, Lexer, Source, TokenKind, type GraphQLSchema } from 'graphql';
import type { CallerKind } from '../../auth/caller';
import type { PersistedMode } from '../../config/types';
import { textOfFile } from '../../shared/json-text';
import { isObject } from '../../shared/wire-object';
import { badRequest, RequestError } from '../graphql/http-error';
import { loggable } from '../graphql/operation-log';
import type { GraphQLRequestParams } from '../graphql/request-params';
import { readManifest, validateOperation, type ManifestOperation } from './manifest';

interface PersistedOptions {
  settings: {
    /** The path of the manifest; null: every operation is allowed. */
    manifest: string | null;
    frontends: PersistedMode;
    services: PersistedMode;
  };
  schema: GraphQLSchema;
  /** Called for every operation outside the manifest that is allowed (mode warn), with its name if it may be logged. */
  onUnlisted(name: string | null): void;
}

/** The operations of a manifest (trusted documents). */
export class PersistedOperations {
  readonly #byId = new Map<string, ManifestOperation>();
  readonly #byText = new Map<string, ManifestOperation>();
  readonly #byNormalized = new Map<string, ManifestOperation>();

  /** Reads and validates the manifest. Throws an Error that lists every invalid operation. */
  constructor(private readonly options: PersistedOptions) {
    const { settings, schema } = options;
    if (settings.manifest === null) return;
    const operations = readManifest(textOfFile(readFileSync(settings.manifest)));
    const errors = operations.flatMap((operation) => [
      ...validateOperation(schema, operation),
      ...this.#add(operation),
    ]);
    if (errors.length > 0) throw new Error(errors.join('\n  '));
  }

  /**
   * Replaces the id of an operation by its document.
   * @throws RequestError when callers of this kind may not execute the operation
   */
  resolve(params: GraphQLRequestParams, kind: CallerKind): GraphQLRequestParams {
    const { manifest, frontends, services } = this.options.settings;
    if (manifest === null) return params;
    // Callers without authentication are on this machine, like services.
    const operation = this.#find(params, kind === 'frontend' ? frontends : services);
    if (!operation) return params;
    const resolved = { ...params, query: operation.body };
    delete resolved.documentId;
    // Apollo would compare the hash with the document, and an id of the manifest need not be a hash.
    if (isObject(params.extensions))
      resolved.extensions = { ...params.extensions, persistedQuery: undefined };
    return resolved;
  }

  /** Finds the operation in the manifest; undefined when the request is allowed without it. */
  #find(params: GraphQLRequestParams, mode: PersistedMode): ManifestOperation | undefined {
    const { query, documentId, extensions } = params;
    const ids = [documentId, hashIn(extensions)].filter((id) => typeof id === 'string');
    const [byId, ...others] = ids.map((id) => this.#byId.get(bareId(id)));
    if (others.some((other) => other !== byId)) throw contradiction();
    if (query === undefined || query === null || query === '') return byId ?? rejectUnknown(params, mode);
    if (byId) {
      if (this.#withText(query) !== byId) throw contradiction();
      return byId;
    }
    if (mode === 'allow') return undefined;
    const listed = this.#withText(query);
    if (listed) return listed;
    if (mode === 'require') throw notListed();
    this.options.onUnlisted(loggable(params.operationName) ?? null);
    return undefined;
  }

  #withText(query: unknown): ManifestOperation | undefined {
    if (typeof query !== 'string') return undefined;
    return this.#byText.get(query) ?? this.#byNormalized.get(normalizeDocument(query) ?? query);
  }

  #add(operation: ManifestOperation): string[] {
    const { body } = operation;
    const id = bareId(operation.id);
    const known = this.#byId.get(id);
    if (known) return known.body === body ? [] : [`operation ${id}: two different documents have this id`];
    const normalized = normalizeDocument(body) ?? body;
    // Several ids may belong to one document.
    const same = this.#byNormalized.get(normalized) ?? operation;
    this.#byId.set(id, same);
    this.#byText.set(body, same);
    this.#byNormalized.set(normalized, same);
    return [];
  }
}

/** The hash of a persisted query of Apollo Client or urql. */
export function hashIn(extensions: unknown): unknown {
  const persistedQuery = isObject(extensions) ? extensions['persistedQuery'] : undefined;
  return isObject(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
}

/** An id without the prefix "sha256:" of GraphQL over HTTP and graphql-codegen, which Apollo does not write. */
const bareId = (id: string): string => (/^sha256:[0-9a-f]{64}$/.test(id) ? id.slice('sha256:'.length) : id);

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.PAREN_L, TokenKind.BRACKET_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.PAREN_R, TokenKind.BRACKET_R]);

/**
 * A document without insignificant characters and with sorted definitions; undefined when it has a syntax error. Uses the
 * lexer, because printing a deeply nested document takes seconds.
 */
function normalizeDocument(text: string): string | undefined {
  const lexer = new Lexer(new Source(text));
  const definitions: string[] = [];
  let tokens: string[] = [];
  let depth = 0;
  try {
    for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
      tokens.push(text.slice(token.start, token.end));
      if (OPENING.has(token.kind)) depth += 1;
      if (CLOSING.has(token.kind)) depth -= 1;
      if (depth > 0 || token.kind !== TokenKind.BRACE_R) continue;
      definitions.push(tokens.join(' '));
      tokens = [];
    }
  } catch (error) {
    if (error instanceof GraphQLError) return undefined;
    throw error;
  }
  return [...definitions.sort(), ...tokens].join('\n');
}

/** Rejects an unknown id. Automatic persisted queries are left to Apollo unless the manifest is required. */
function rejectUnknown({ documentId, extensions }: GraphQLRequestParams, mode: PersistedMode): undefined {
  const hasHash = typeof hashIn(extensions) === 'string';
  if (typeof documentId === 'string' || (hasHash && mode === 'require')) throw unknownId();
  if (mode === 'require') throw notListed();
}

const notListed = (): RequestError =>
  new RequestError({
    status: 400,
    code: 'PERSISTED_OPERATION_REQUIRED',
    message: 'Only operations of the manifest are allowed, and this is none of them.',
  });

const contradiction = (): RequestError =>
  badRequest('The id and the document belong to different operations.');

/** Apollo's message, on which clients act: they send the document. */
export const unknownId = (): RequestError =>
  new RequestError({
    status: 200,
    code: 'PERSISTED_QUERY_NOT_FOUND',
    message: 'PersistedQueryNotFound',
    retryAfterMs: 0,
  });
