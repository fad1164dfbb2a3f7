import { hash } from 'node:crypto';
import { GraphQLError, Kind, parse, type DocumentNode, type SelectionSetNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { checkOperation } from './root-field-limits';
import { Overlaps } from './overlapping-fields';
import { assertLimit, DOCUMENT_RULES, LimitExceeded, type DocumentRuleName } from './limits';
import { DocumentSizes, fragmentsOf } from './selection-size';
import { checkText } from './token-limits';

/** Whether a document is let in; if not, which limit it goes beyond, in words that hold nothing of the document. */
export type Checked = { ok: true } | { ok: false; rule: DocumentRuleName; message: string };

/** The most tokens of a document: also for the parser of whoever reads it next. */
export const MAX_TOKENS: number = DOCUMENT_RULES.tokens.limit;

/** So many answers are remembered: each is a digest and a rule, together less than half a megabyte. */
const REMEMBERED = 2000;

const OK: Checked = { ok: true };

/** Stands for a document: by it a document is remembered that may hold what must not stay in memory. */
export const digestOf = (source: string): string => hash('sha256', source, 'base64');

/**
 * Refuses documents that cost more than any honest one, before anything is validated or carried out. A document that
 * does not parse is let through: the answer is Apollo's, and parsing stopped where the mistake is.
 */
export class DocumentLimits {
  readonly #remembered = new LRUCache<string, Checked>({ max: REMEMBERED });

  /**
   * Checks the text of a document; one that was seen lately costs nothing.
   * @param digest the text's own, of digestOf()
   */
  check(source: string, digest = digestOf(source)): Checked {
    const checked = this.#remembered.get(digest) ?? examine(source);
    this.#remembered.set(digest, checked);
    return checked;
  }
}

function examine(source: string): Checked {
  try {
    if (checkText(source)) checkDocument(parse(source, { noLocation: true }));
    return OK;
  } catch (error) {
    if (error instanceof LimitExceeded) return { ok: false, rule: error.rule, message: error.message };
    if (error instanceof GraphQLError) return OK;
    throw error;
  }
}

/** What is written in a document, however often it is used. */
type Written = Record<
  'operations' | 'fragments' | 'spreads' | 'aliases' | 'directives' | 'variables',
  number
>;

function checkDocument(document: DocumentNode): void {
  const written = countWritten(document);
  for (const [rule, count] of Object.entries(written)) assertLimit(rule as keyof Written, count);
  const fragments = fragmentsOf(document);
  const sizes = new DocumentSizes(fragments);
  const overlaps = new Overlaps(fragments);
  const executable = document.definitions.filter((definition) => 'selectionSet' in definition);
  let selections = 0;
  for (const { selectionSet } of executable) {
    const size = sizes.of(selectionSet);
    assertLimit('depth', size.depth);
    selections += size.selections;
    assertLimit('selections', selections);
  }
  for (const definition of executable) {
    if (definition.kind === Kind.OPERATION_DEFINITION) checkOperation(definition, fragments, sizes);
    overlaps.add(definition.selectionSet);
  }
}

function countWritten({ definitions }: DocumentNode): Written {
  const written = { operations: 0, fragments: 0, spreads: 0, aliases: 0, directives: 0, variables: 0 };
  for (const definition of definitions) {
    // Definitions of types are not for a server to accept: validation refuses them unread.
    if (!('selectionSet' in definition)) continue;
    written[definition.kind === Kind.OPERATION_DEFINITION ? 'operations' : 'fragments'] += 1;
    written.directives += definition.directives?.length ?? 0;
    for (const variable of definition.variableDefinitions ?? []) {
      written.variables += 1;
      written.directives += variable.directives?.length ?? 0;
    }
    countSelections(definition.selectionSet, written);
  }
  return written;
}

function countSelections({ selections }: SelectionSetNode, written: Written): void {
  for (const selection of selections) {
    written.directives += selection.directives?.length ?? 0;
    if (selection.kind === Kind.FRAGMENT_SPREAD) written.spreads += 1;
    if (selection.kind === Kind.FIELD && selection.alias) written.aliases += 1;
    if ('selectionSet' in selection && selection.selectionSet)
      countSelections(selection.selectionSet, written);
  }
}
