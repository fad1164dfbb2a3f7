import { hash } from 'node:crypto';
import {
  GraphQLError,
  Kind,
  Lexer,
  OperationTypeNode,
  parse,
  Source,
  TokenKind,
  type DocumentNode,
  type OperationDefinitionNode,
  type Token,
} from 'graphql';
import { LRUCache } from 'lru-cache';
import { graphqlNameContainsPan } from '../../redaction/pan';
import { assertLimit, DOCUMENT_RULES, LimitExceeded, type DocumentRuleName } from './limits';
import { OverlappingFields } from './overlapping-fields';
import { fieldsIn, fragmentsOf, SelectionSizes, type Fragments } from './selection-size';

/** Whether a document is accepted; if not, the limit that it exceeds and a message without any part of the document. */
type Checked = { ok: true } | { ok: false; rule: DocumentRuleName; message: string };

/** The limit of tokens, for parsers that read an accepted document again. */
export const MAX_TOKENS: number = DOCUMENT_RULES.tokens.limit;

const MAX_CACHED = 2000;

const OK: Checked = { ok: true };

/** Cache key of a document; the document itself may hold secrets. */
export const digestOf = (source: string): string => hash('sha256', source, 'base64');

/** Rejects documents that are too expensive, before Apollo parses and validates them. */
export class DocumentLimits {
  readonly #results = new LRUCache<string, Checked>({ max: MAX_CACHED });

  /**
   * Checks a document. Accepts documents with syntax errors: the parser reports them better.
   * @param digest digestOf(source)
   */
  check(source: string, digest = digestOf(source)): Checked {
    const result = this.#results.get(digest) ?? examine(source);
    this.#results.set(digest, result);
    return result;
  }
}

function examine(source: string): Checked {
  try {
    checkText(source);
    checkDocument(parse(source, { noLocation: true }));
    return OK;
  } catch (error) {
    if (error instanceof LimitExceeded) return { ok: false, rule: error.rule, message: error.message };
    if (error instanceof GraphQLError) return OK;
    throw error;
  }
}

const LINE_END = /\r\n|[\n\r]/;
const OPENING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L]);
const CLOSING: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R]);

/** Checks what must be bounded before parsing, because the parser is recursive. */
function checkText(text: string): void {
  assertLimit('lines', text.split(LINE_END, DOCUMENT_RULES.lines.limit + 1).length);
  const lexer = new Lexer(new Source(text));
  let tokens = 0;
  let depth = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    tokens += 1;
    assertLimit('tokens', tokens);
    if (token.kind === TokenKind.NAME) checkName(token);
    if (OPENING.has(token.kind)) depth += 1;
    if (CLOSING.has(token.kind)) depth -= 1;
    assertLimit('nesting', depth);
  }
}

function checkName({ value }: Token): void {
  assertLimit('name', value.length);
  if (graphqlNameContainsPan(value)) throw new LimitExceeded('cardNumbers');
}

const NO_FRAGMENTS: Fragments = new Map();

function checkDocument(document: DocumentNode): void {
  const executable = document.definitions.filter((definition) => 'selectionSet' in definition);
  const operations = executable.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  assertLimit('operations', operations.length);
  assertLimit('fragments', executable.length - operations.length);
  const fields = executable.flatMap(({ selectionSet }) => [
    ...fieldsIn(selectionSet, NO_FRAGMENTS, new Set(), true),
  ]);
  assertLimit('aliases', fields.filter(({ alias }) => alias).length);
  const fragments = fragmentsOf(document);
  const sizes = new SelectionSizes(fragments);
  let selections = 0;
  for (const { selectionSet } of executable) {
    selections += sizes.of(selectionSet).selections;
    assertLimit('selections', selections);
  }
  for (const operation of operations) checkRootFields(operation, fragments, sizes);
  const overlaps = new OverlappingFields(fragments);
  for (const { selectionSet } of executable) overlaps.add(selectionSet);
}

function checkRootFields(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  sizes: SelectionSizes,
): void {
  const fields = [...fieldsIn(selectionSet, fragments)];
  // Fields with one response name are merged into one request to the payment service.
  const merged = new Set(fields.map(({ alias, name }) => `${(alias ?? name).value} ${name.value}`));
  assertLimit('rootFields', merged.size);
  if (operation === OperationTypeNode.MUTATION) {
    // Not merged: the number of payments must not depend on how fields are merged.
    assertLimit('mutations', fields.filter(({ name }) => name.value !== '__typename').length);
  }
  const introspections = fields.filter(({ name }) => name.value === '__schema' || name.value === '__type');
  assertLimit('introspections', introspections.length);
  const size = sizes.of({
    kind: Kind.SELECTION_SET,
    selections: introspections.flatMap(({ selectionSet: inner }) => inner?.selections ?? []),
  });
  assertLimit('introspected', size.selections);
  assertLimit('introspectionAliases', size.aliases);
  assertLimit('introspectionLists', size.lists);
}
