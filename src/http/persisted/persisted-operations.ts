import type { PersistedMode } from '../../config/types';
import { readFileSync } from 'node:fs';
import { GraphQLError, Lexer, Source, TokenKind, type GraphQLSchema } from 'graphql';
import type { CallerKind } from '../../auth/caller';
import { textOfFile } from '../../shared/json-text';
import { operationFaults, readManifest, type ManifestOperation } from './manifest';
import { loggable } from '../graphql/operation-log';
import { RequestError } from '../graphql/http-error';

interface PersistedOptions {
  settings: {
    /** The file; null: there is none, and nothing is looked at. */
    manifest: string | null;
    frontends: PersistedMode;
    services: PersistedMode;
  };
  schema: GraphQLSchema;
  /** Hears of every operation that runs although it is not in the manifest (warn): its name, if it has a fit one. */
  onUnlisted(name: string | null): void;
}

/** The fields of a request that matter here, as a caller sent them. */
interface Asked {
  query?: unknown;
  documentId?: unknown;
  operationName?: unknown;
  extensions?: unknown;
}

/** The operations that the operator allows by their ids, ready at start. */
export class PersistedOperations {
  readonly #options: PersistedOptions;
  readonly #byId = new Map<string, ManifestOperation>();
  readonly #byText = new Map<string, ManifestOperation>();
  readonly #byEssence = new Map<string, ManifestOperation>();

  /** Reads and checks the manifest. Throws an Error that names every operation that cannot be used, and why. */
  constructor(options: PersistedOptions) {
    this.#options = options;
    const { settings, schema } = options;
    if (settings.manifest === null) return;
    const operations = readManifest(textOfFile(readFileSync(settings.manifest)));
    const faults = operations.flatMap((operation) => [
      ...operationFaults(schema, operation),
      ...this.#add(operation),
    ]);
    if (faults.length > 0) throw new Error(faults.join('\n  '));
  }

  /**
   * The request as it goes on, with the document of the manifest in the place of its id: a body of POST, the parameters of
   * a GET, or the payload of a subscription.
   * @throws Refusal where callers of this kind may not ask it
   */
  resolve<A extends Asked>(asked: A, kind: CallerKind): A {
    const { manifest, frontends, services } = this.#options.settings;
    if (manifest === null) return asked;
    // Where callers are not told apart they are all on this machine, as services are.
    const operation = this.#chosen(asked, kind === 'frontend' ? frontends : services);
    if (!operation) return asked;
    const resolved: A = { ...asked, query: operation.body };
    delete resolved.documentId;
    // Apollo would compare the hash with the document, and an id of the manifest need not be its hash.
    if (isRecord(asked.extensions)) {
      resolved.extensions = { ...asked.extensions, persistedQuery: undefined };
    }
    return resolved;
  }

  /** The operation of the manifest that is meant; undefined when the request goes on as it is. */
  #chosen(asked: Asked, mode: PersistedMode): ManifestOperation | undefined {
    const { query, documentId, extensions } = asked;
    const ids = [documentId, hashIn(extensions)].filter((id) => typeof id === 'string');
    const [named, ...others] = ids.map((id) => this.#byId.get(bareId(id)));
    if (others.some((other) => other !== named)) throw contradicting();
    if (query === undefined || query === null || query === '') return named ?? refuseUnknown(asked, mode);
    if (named) {
      if (this.#withText(query) !== named) throw contradicting();
      return named;
    }
    if (mode === 'allow') return undefined;
    const listed = this.#withText(query);
    if (listed) return listed;
    if (mode === 'require') throw required();
    this.#options.onUnlisted(loggable(asked.operationName) ?? null);
    return undefined;
  }

  #withText(query: unknown): ManifestOperation | undefined {
    if (typeof query !== 'string') return undefined;
    return this.#byText.get(query) ?? this.#byEssence.get(normalizeDocument(query) ?? query);
  }

  #add(operation: ManifestOperation): string[] {
    const { body } = operation;
    const id = bareId(operation.id);
    const there = this.#byId.get(id);
    if (there) return there.body === body ? [] : [`operation ${id}: two different documents have this id`];
    const essence = normalizeDocument(body) ?? body;
    // Several ids may stand for one document: they mean the same then.
    const same = this.#byEssence.get(essence) ?? operation;
    this.#byId.set(id, same);
    this.#byText.set(body, same);
    this.#byEssence.set(essence, same);
    return [];
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The id by which Apollo's and urql's persisted queries go. */
export function hashIn(extensions: unknown): unknown {
  const persistedQuery = isRecord(extensions) ? extensions['persistedQuery'] : undefined;
  return isRecord(persistedQuery) ? persistedQuery['sha256Hash'] : undefined;
}

/** GraphQL over HTTP writes "sha256:" before a hash, as does graphql-codegen since version 6; Apollo does not. */
const bareId = (id: string): string => (/^sha256:[0-9a-f]{64}$/.test(id) ? id.slice('sha256:'.length) : id);

const OPENING: ReadonlySet<string> = new Set([TokenKind.BRACE_L, TokenKind.PAREN_L, TokenKind.BRACKET_L]);
const CLOSING: ReadonlySet<string> = new Set([TokenKind.BRACE_R, TokenKind.PAREN_R, TokenKind.BRACKET_R]);

/**
 * A document without what means nothing: white space, commas, comments and the order of its definitions. Undefined when it
 * is no document. Made of tokens, in linear time: printing a deep document takes seconds.
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

/** Neither a text nor an id of the manifest. Automatic persisted queries are for Apollo, where anything may be asked. */
function refuseUnknown({ documentId, extensions }: Asked, mode: PersistedMode): undefined {
  const hasHash = typeof hashIn(extensions) === 'string';
  // What Apollo keeps was registered by other callers: it is no way around the manifest.
  if (typeof documentId === 'string' || (hasHash && mode === 'require')) throw unknownId();
  if (mode === 'require') throw required();
}

const required = (): RequestError =>
  new RequestError({
    status: 400,
    code: 'PERSISTED_OPERATION_REQUIRED',
    message: 'Only operations of the manifest may be asked here, and this is none of them.',
  });

const contradicting = (): RequestError =>
  new RequestError({
    status: 400,
    code: 'BAD_REQUEST',
    message: 'The id stands for another operation than what was sent with it.',
  });

/** Clients act on this message: those that have the document send it along, at once and once. */
export const unknownId = (): RequestError =>
  new RequestError({
    status: 200,
    code: 'PERSISTED_QUERY_NOT_FOUND',
    message: 'PersistedQueryNotFound',
    retryAfterMs: 0,
  });
