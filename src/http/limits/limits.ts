interface DocumentRule {
  limit: number;
  /** The counted unit; part of the error message. */
  counts: string;
}

/**
 * The limits on documents, in the order in which they are checked. They were set by measuring what clients need and what
 * an accepted document costs at most (docs/decisions/0009-document-limits.md).
 */
export const DOCUMENT_RULES = {
  // graphql-js counts lines from the top for each error that it locates. Every field of an attempt takes 1100 lines.
  lines: { limit: 2000, counts: 'lines' },
  // Bounds the parser and every validation rule. Every field of an attempt takes 1600 tokens.
  tokens: { limit: 5000, counts: 'tokens' },
  // graphql-js compares unknown names with known ones, and aliases are repeated in the response.
  name: { limit: 128, counts: 'characters in a name' },
  // Aliases are repeated in the response, and operation names are logged.
  cardNumbers: { limit: 0, counts: 'card numbers among its names' },
  // The parser is recursive. The standard introspection needs 18. A fragment cycle is endless nesting.
  nesting: { limit: 50, counts: 'nested brackets, or selection sets nested through fragments' },
  // Every operation is validated, although only one is executed.
  operations: { limit: 20, counts: 'operations' },
  // Validation may compare every fragment with every other.
  fragments: { limit: 100, counts: 'fragment definitions' },
  // Each may repeat the longest field of every transaction in the response. Twenty aliased lookups need 20.
  aliases: { limit: 100, counts: 'aliases' },
  // Nested fragments multiply. Twenty lookups of every field of every payment type take 13 000 selections.
  selections: { limit: 25_000, counts: 'selections, counting a fragment as often as it is spread' },
  // Each is a request to the payment service.
  rootFields: { limit: 50, counts: 'root fields in one operation' },
  // An operation that moved money in one of several fields cannot be retried as a whole.
  mutations: { limit: 1, counts: 'mutation in one operation' },
  // Writing the whole schema takes 20 ms.
  introspections: { limit: 2, counts: 'introspection fields in one operation' },
  // Each is resolved for every type or field of the schema. The standard introspection needs 240.
  introspected: {
    limit: 300,
    counts: 'selections in introspection, counting a fragment as often as it is spread',
  },
  // Each alias of a list multiplies what is selected in it.
  introspectionAliases: { limit: 0, counts: 'aliases in introspection' },
  // Each list multiplies what is selected in it. The standard introspection needs 3.
  introspectionLists: { limit: 3, counts: 'nested lists in introspection' },
  // Validation compares these pairwise, with what they select. Every field of every payment type makes 4300 pairs.
  comparisons: { limit: 20_000, counts: 'pairs of fields with the same response name' },
} as const satisfies Record<string, DocumentRule>;

export type DocumentRuleName = keyof typeof DOCUMENT_RULES;

/** A document exceeds a limit. The message holds nothing of the document. */
export class LimitExceeded extends Error {
  constructor(readonly rule: DocumentRuleName) {
    const { limit, counts } = DOCUMENT_RULES[rule];
    super(limit === 0 ? `The document has ${counts}.` : `The document has more than ${limit} ${counts}.`);
  }
}

/** @throws LimitExceeded when the count is above the limit */
export function assertLimit(rule: DocumentRuleName, count: number): void {
  if (count > DOCUMENT_RULES[rule].limit) throw new LimitExceeded(rule);
}
