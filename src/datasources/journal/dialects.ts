/** SQL and limits that differ between SQLite and PostgreSQL. */
export const DIALECTS = {
  sqlite: {
    /** Returns the table of attempts for a FROM clause, with a hint to read the given index. */
    attemptsFromItem: (indexName: string): string => `stored_attempts INDEXED BY stored_${indexName}`,
    followedByDueTimeFromItem: 'followed_transactions INDEXED BY followed_due',
    /** Clause that locks the rows that a SELECT returns. SQLite needs none, because it has one writer at a time. */
    lockClause: '',
    /** Like `lockClause`, but the SELECT omits rows that another database transaction has locked. */
    skipLockedClause: '',
    /**
     * Returns the part of a condition that follows a value: `IN (select)`. In PostgreSQL, returns a faster equivalent.
     */
    inClause: (subquery: string): string => `IN (${subquery})`,
    /** FROM item with a row for each element of a JSON array. Column: `value`. Parameter: the array. */
    jsonElements: 'json_each(?)',
    /** Maximum number of concurrent list queries. */
    maxConcurrentLists: 1,
  },
  postgres: {
    attemptsFromItem: (): string => 'stored_attempts',
    followedByDueTimeFromItem: 'followed_transactions',
    lockClause: 'FOR UPDATE',
    skipLockedClause: 'FOR UPDATE SKIP LOCKED',
    // With an array instead of a subquery, the planner does not join with the whole table.
    inClause: (subquery: string): string => `= ANY (ARRAY (${subquery}))`,
    jsonElements: 'jsonb_array_elements(?::jsonb)',
    // Leaves two of the four background connections free for work other than lists.
    maxConcurrentLists: 2,
  },
};
