/**
 * The limits on documents, in the order of the checks. Error messages quote `unit`. The limits are based on
 * measurements of what clients need and what an accepted document costs (docs/decisions/0009-document-limits.md).
 */
export const DOCUMENT_LIMITS = {
  // The more lines a document has, the longer graphql-js takes to locate an error. A query for all fields of type
  // Attempt has 1100 lines.
  lines: { maxCount: 2000, unit: 'lines' },
  // Bounds the work of parser and validation. A query for all fields of type Attempt has 1600 tokens.
  tokens: { maxCount: 5000, unit: 'tokens' },
  // Bounds the time to search for similar names (suggestions in errors), and the length of aliases in responses.
  nameLength: { maxCount: 128, unit: 'characters in a name' },
  // Keeps card numbers out of responses, which repeat aliases, and out of logs, which contain operation names.
  cardNumbers: { maxCount: 0, unit: 'card numbers in names or aliases' },
  // Bounds the recursion of the parser and rejects fragment cycles. The standard introspection query has 18 levels.
  nesting: { maxCount: 50, unit: 'levels of nesting, in brackets or through fragments' },
  // Every operation is validated, although only one is executed.
  operations: { maxCount: 20, unit: 'operations' },
  // Validation may compare every fragment with every other fragment.
  fragments: { maxCount: 100, unit: 'fragment definitions' },
  // Each alias can repeat the longest field of every transaction in a response.
  aliases: { maxCount: 100, unit: 'aliases' },
  // Nested fragments multiply selections. The limit is almost twice a large legitimate operation: twenty lookups of all
  // fields of all payment types have 13 000.
  selections: { maxCount: 25_000, unit: 'selections, counting a fragment as often as it is spread' },
  // Each root field may cause requests to the payment service: up to 500 for `changes`, up to 100 for other lists.
  rootFields: { maxCount: 50, unit: 'root fields in one operation' },
  // If only one of several mutations has failed, a caller cannot simply repeat the operation.
  mutations: { maxCount: 1, unit: 'mutation in one operation' },
  // Each introspection field can return the whole schema, which takes 20 ms to write to a response.
  introspections: { maxCount: 2, unit: 'introspection fields (__schema, __type, _service) in one operation' },
  // graphql-js resolves each introspection selection for every type or field. The standard query has 240 selections.
  introspectionSelections: {
    maxCount: 300,
    unit: 'selections in introspection, counting a fragment as often as it is spread',
  },
  // Allow no aliases: an alias of a list field would repeat the whole list in the response.
  introspectionAliases: { maxCount: 0, unit: 'aliases in introspection' },
  // Each list multiplies the selections in it. The standard introspection query nests 3 lists.
  introspectionLists: { maxCount: 3, unit: 'levels of nested list fields in introspection' },
  // Validation compares the two members of each pair. A query for all fields of all payment types has 4300 pairs.
  comparisons: {
    maxCount: 20_000,
    unit: 'pairs to compare (fields with the same response name, and fragments)',
  },
} as const satisfies Record<string, { maxCount: number; unit: string }>;

export type DocumentLimitName = keyof typeof DOCUMENT_LIMITS;

/** Thrown if a document exceeds the limit `limitName`. The message contains no part of the document. */
export class LimitExceededError extends Error {
  constructor(readonly limitName: DocumentLimitName) {
    const { maxCount, unit } = DOCUMENT_LIMITS[limitName];
    super(maxCount === 0 ? `The document has ${unit}.` : `The document has more than ${maxCount} ${unit}.`);
  }
}

/** Throws a LimitExceededError if `count` is above the limit. */
export function assertWithinLimit(limitName: DocumentLimitName, count: number): void {
  if (count > DOCUMENT_LIMITS[limitName].maxCount) throw new LimitExceededError(limitName);
}
