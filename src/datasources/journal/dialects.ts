/** SQL and limits that differ between SQLite and PostgreSQL. */
export const DIALECTS = {
  sqlite: {
    /** Returns the FROM item for `stored_attempts`. In SQLite, it forces the use of the index `stored_<indexName>`. */
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
    /** Maximum number of concurrent queries of `Journal.list()`; further calls are queued. */
    maxConcurrentLists: 1,
  },
  postgres: {
    attemptsFromItem: (): string => 'stored_attempts',
    followedByDueTimeFromItem: 'followed_transactions',
    lockClause: 'FOR UPDATE',
    skipLockedClause: 'FOR UPDATE SKIP LOCKED',
    // With a subquery, the planner may join it with the whole outer table. With an array, it does not.
    inClause: (subquery: string): string => `= ANY (ARRAY (${subquery}))`,
    jsonElements: 'jsonb_array_elements(?::jsonb)',
    // Leaves two of the four background connections free for work other than lists.
    maxConcurrentLists: 2,
  },
};
