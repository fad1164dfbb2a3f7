/** One limit on documents. */
interface DocumentRule {
  /** The most that is accepted. */
  limit: number;
  /** What is counted, as a caller is told. */
  counts: string;
  /** Why the limit stands where it stands. */
  why: string;
}

/**
 * Every limit on documents, in the order in which they are checked. What honest documents need was counted on this
 * schema, and what an accepted one can cost was measured: see docs/decisions/0009-document-limits.md.
 */
export const DOCUMENT_RULES = {
  characters: {
    limit: 100 * 1024,
    counts: 'characters',
    why: 'The limit of the body, for documents that come another way, such as a WebSocket.',
  },
  lines: {
    limit: 2000,
    counts: 'lines',
    why: 'Each of up to 100 errors is located by counting lines from the top. Every field of an attempt takes 1100.',
  },
  tokens: {
    limit: 5000,
    counts: 'tokens',
    why: 'Parsing and every rule cost at least this. Every field of an attempt takes 1600.',
  },
  name: {
    limit: 128,
    counts: 'characters in a name',
    why: 'An unknown name is compared with the known ones, letter by letter, and stands in messages and logs.',
  },
  cardNumbers: {
    limit: 0,
    counts: 'card numbers among its names',
    why: 'An alias comes back in the answer, and names stand in logs.',
  },
  nesting: {
    limit: 50,
    counts: 'brackets or selection sets, one within another',
    why: 'The parser calls itself for every bracket, and the stack is finite. The standard introspection needs 18.',
  },
  operations: {
    limit: 20,
    counts: 'operations',
    why: 'Every operation is validated, though one is carried out.',
  },
  fragments: {
    limit: 100,
    counts: 'fragment definitions',
    why: 'Every one may be compared with every other. A component that knows what it shows brings one of its own.',
  },
  spreads: {
    limit: 200,
    counts: 'fragment spreads',
    why: 'Each stands for a whole fragment. One for each payment type are 17.',
  },
  aliases: {
    limit: 100,
    counts: 'aliases',
    why: 'An alias asks for the same thing once more. Twenty aliased lookups need 20.',
  },
  directives: {
    limit: 50,
    counts: 'directives',
    why: 'Directives may be repeated without end, and are read again for every object.',
  },
  variables: {
    limit: 100,
    counts: 'variables',
    why: 'Twenty aliased lookups, each with an id of its own, need 21.',
  },
  cycles: {
    limit: 0,
    counts: 'fragments that spread themselves, directly or through others',
    why: 'Such a document can never be valid, and counting the others needs an end.',
  },
  depth: {
    limit: 20,
    counts: 'fields, one within another',
    why: 'The standard introspection needs 15, every field of an attempt 6.',
  },
  selections: {
    limit: 25_000,
    counts: 'selections, every fragment counted as often as it is spread',
    why: 'Fragments that spread fragments double and double. Twenty lookups of every field of every payment type need 13 000.',
  },
  rootFields: {
    limit: 50,
    counts: 'root fields in one operation',
    why: 'Each is a call of the service. Twenty lookups in one operation need 20.',
  },
  mutations: {
    limit: 1,
    counts: 'mutation in one operation',
    why: 'Half of an operation that moved money cannot be undone or told apart by a retry.',
  },
  introspections: {
    limit: 2,
    counts: 'introspection fields in one operation',
    why: 'The whole schema takes 20 ms to write. Tools ask once.',
  },
  introspected: {
    limit: 300,
    counts: 'selections of introspection, every fragment counted as often as it is spread',
    why: 'Each is answered for every type or field of the schema. The standard introspection needs 240.',
  },
  introspectionAliases: {
    limit: 0,
    counts: 'aliases within introspection',
    why: 'A list within a list within a list, once more for every alias. Tools use none.',
  },
  introspectionLists: {
    limit: 3,
    counts: 'lists of introspection, one within another',
    why: 'Each multiplies what is below. The standard introspection needs 3: the arguments of the fields of the types.',
  },
  comparisons: {
    limit: 20_000,
    counts: 'pairs of fields with the same place in the answer',
    why: 'Validation compares each with each, and what is selected of both. Every field of every payment type needs 4300.',
  },
} as const satisfies Record<string, DocumentRule>;

/** The name of a limit. */
export type DocumentRuleName = keyof typeof DOCUMENT_RULES;

/** A document goes beyond a limit. The message is made of the limit alone: nothing of the document is in it. */
export class LimitExceeded extends Error {
  constructor(readonly rule: DocumentRuleName) {
    const { limit, counts } = DOCUMENT_RULES[rule];
    super(limit === 0 ? `The document has ${counts}.` : `The document has more than ${limit} ${counts}.`);
  }
}

/** @throws LimitExceeded when there are more than the rule accepts */
export function assertLimit(rule: DocumentRuleName, count: number): void {
  if (count > DOCUMENT_RULES[rule].limit) throw new LimitExceeded(rule);
}
