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
  type FieldNode,
  type OperationDefinitionNode,
  type SelectionSetNode,
  type Token,
} from 'graphql';
import { graphqlNameContainsPan } from '../../redaction/pan';
import { assertWithinLimit, DOCUMENT_LIMITS, LimitExceededError, type DocumentLimitName } from './limits';
import { fieldsIn, fragmentsOf, SelectionSizeCalculator, type Fragments } from './selection-size';

/** Result of a document check. `limitName`: the exceeded limit. `message`: contains no part of the document. */
export type DocumentCheckResult = { ok: true } | { ok: false; limitName: DocumentLimitName; message: string };

/** Maximum number of tokens of a document. Also passed to graphql-js for every later parse of the document. */
export const MAX_DOCUMENT_TOKENS: number = DOCUMENT_LIMITS.tokens.maxCount;

/** Returns the SHA-256 of a document: a cache key that, unlike the document, contains no secrets. */
export const digestOf = (documentText: string): string => hash('sha256', documentText, 'base64');

/**
 * Checks a document against DOCUMENT_LIMITS, before it is validated. A syntax error ends the check with `ok: true`,
 * because a later parse reports the error.
 */
export function checkDocument(documentText: string): DocumentCheckResult {
  try {
    checkTokens(documentText);
    checkSelections(parse(documentText, { noLocation: true }));
  } catch (error) {
    if (error instanceof LimitExceededError)
      return { ok: false, limitName: error.limitName, message: error.message };
    if (!(error instanceof GraphQLError)) throw error;
  }
  return { ok: true };
}

const LINE_END_PATTERN = /\r\n|[\n\r]/;
const DEPTH_CHANGE_BY_TOKEN_KIND: Readonly<Partial<Record<TokenKind, number>>> = {
  [TokenKind.BRACE_L]: 1,
  [TokenKind.BRACKET_L]: 1,
  [TokenKind.PAREN_L]: 1,
  [TokenKind.BRACE_R]: -1,
  [TokenKind.BRACKET_R]: -1,
  [TokenKind.PAREN_R]: -1,
};

/** Yields each token of a document and the number of open brackets after it. Throws at an invalid token. */
export function* tokensOf(documentText: string): Generator<{ token: Token; bracketDepth: number }, void> {
  const lexer = new Lexer(new Source(documentText));
  let bracketDepth = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    bracketDepth += DEPTH_CHANGE_BY_TOKEN_KIND[token.kind] ?? 0;
    yield { token, bracketDepth };
  }
}

/** Checks the limits that need no parser. Must run before parse(): deep nesting would overflow the parser's stack. */
function checkTokens(documentText: string): void {
  assertWithinLimit('lines', documentText.split(LINE_END_PATTERN, DOCUMENT_LIMITS.lines.maxCount + 1).length);
  let tokenCount = 0;
  for (const { token, bracketDepth } of tokensOf(documentText)) {
    tokenCount += 1;
    assertWithinLimit('tokens', tokenCount);
    if (token.kind === TokenKind.NAME) {
      assertWithinLimit('nameLength', token.value.length);
      if (graphqlNameContainsPan(token.value)) throw new LimitExceededError('cardNumbers');
    }
    assertWithinLimit('nesting', bracketDepth);
  }
}

function checkSelections(document: DocumentNode): void {
  const executables = document.definitions.filter((definition) => 'selectionSet' in definition);
  const operations = executables.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  assertWithinLimit('operations', operations.length);
  assertWithinLimit('fragments', executables.length - operations.length);
  const fields = executables.flatMap(({ selectionSet }) => [
    ...fieldsIn(selectionSet, new Map(), new Set(), true),
  ]);
  assertWithinLimit('aliases', fields.filter(({ alias }) => alias).length);
  const fragments = fragmentsOf(document);
  const sizeCalculator = new SelectionSizeCalculator(fragments);
  let selectionCount = 0;
  for (const { selectionSet } of executables) {
    selectionCount += sizeCalculator.sizeOf(selectionSet).selectionCount;
    assertWithinLimit('selections', selectionCount);
  }
  for (const operation of operations) checkRootFields(operation, fragments, sizeCalculator);
  const fieldPairCounter = new FieldPairCounter(fragments);
  for (const { selectionSet } of executables) fieldPairCounter.countPairsIn(selectionSet);
}

function checkRootFields(
  { operation, selectionSet }: OperationDefinitionNode,
  fragments: Fragments,
  sizeCalculator: SelectionSizeCalculator,
): void {
  const fields = [...fieldsIn(selectionSet, fragments)];
  // Count fields with the same response name once: graphql-js merges them and calls their resolver once.
  const mergedFieldKeys = new Set(fields.map(({ alias, name }) => `${(alias ?? name).value} ${name.value}`));
  assertWithinLimit('rootFields', mergedFieldKeys.size);
  if (operation === OperationTypeNode.MUTATION) {
    // Count mutations before merging: the number of payments must not depend on how fields are merged.
    assertWithinLimit('mutations', fields.filter(({ name }) => name.value !== '__typename').length);
  }
  // In Apollo Federation, the field _service of a subgraph returns the whole schema as text.
  const introspectionFields = fields.filter(({ name }) => /^(__schema|__type|_service)$/.test(name.value));
  assertWithinLimit('introspections', introspectionFields.length);
  const introspectionSize = sizeCalculator.sizeOf({
    kind: Kind.SELECTION_SET,
    selections: introspectionFields.flatMap((field) => field.selectionSet?.selections ?? []),
  });
  assertWithinLimit('introspectionSelections', introspectionSize.selectionCount);
  assertWithinLimit('introspectionAliases', introspectionSize.aliasCount);
  assertWithinLimit('introspectionLists', introspectionSize.introspectionListDepth);
}

/**
 * Counts the comparisons of the validation rule OverlappingFieldsCanBeMerged: pairs of fields with the same response
 * name, and pairs of fragments, at every level of nesting.
 */
class FieldPairCounter {
  #pairCount = 0;
  readonly #idByFieldNode = new Map<FieldNode, number>();
  /**
   * Keys of the groups that #addGroup() has already counted. It counts each group only once, because the validation
   * rule caches its comparisons.
   */
  readonly #countedGroupKeys = new Set<string>();

  constructor(private readonly fragments: Fragments) {}

  /**
   * Counts the pairs in the union of `selectionSets` and in nested selections. Throws a LimitExceededError above the
   * limit.
   */
  countPairsIn(...selectionSets: SelectionSetNode[]): void {
    const spreadNames = new Set<string>();
    const fields = selectionSets.flatMap((selectionSet) => [
      ...fieldsIn(selectionSet, this.fragments, spreadNames),
    ]);
    this.#addPairs(spreadNames.size);
    for (const fieldGroup of Map.groupBy(fields, ({ alias, name }) => (alias ?? name).value).values())
      this.#addGroup(fieldGroup);
  }

  #addGroup(fieldGroup: readonly FieldNode[]): void {
    const selectionSets = fieldGroup.flatMap(({ selectionSet }) => selectionSet ?? []);
    if (fieldGroup.length === 1 && selectionSets.length === 0) return;
    const groupKey = fieldGroup.map((field) => this.#idOf(field)).join();
    if (this.#countedGroupKeys.has(groupKey)) return;
    this.#countedGroupKeys.add(groupKey);
    this.#addPairs(fieldGroup.length);
    if (selectionSets.length > 0) this.countPairsIn(...selectionSets);
  }

  #addPairs(memberCount: number): void {
    this.#pairCount += (memberCount * (memberCount - 1)) / 2;
    assertWithinLimit('comparisons', this.#pairCount);
  }

  #idOf(field: FieldNode): number {
    const id = this.#idByFieldNode.get(field) ?? this.#idByFieldNode.size;
    this.#idByFieldNode.set(field, id);
    return id;
  }
}
