/** SQL and limits that differ between SQLite and PostgreSQL. */
export const DIALECTS = {
  sqlite: {
    /** Returns the table of attempts for a FROM clause, with a hint to read the given index. */
    attemptsTable: (index: string): string => `stored_attempts INDEXED BY stored_${index}`,
    followedByDueTime: 'followed_transactions INDEXED BY followed_due',
    /** Clause that locks the rows that a SELECT returns. SQLite needs none, because it has one writer at a time. */
    lock: '',
    /** Like `lock`, but the SELECT omits rows that another database transaction has locked. */
    skipLocked: '',
    /**
     * Returns the part of a condition that follows a value: `IN (select)`. In PostgreSQL, returns a faster equivalent.
     */
    isIn: (select: string): string => `IN (${select})`,
    /** FROM item with a row for each element of a JSON array. Column: `value`. Parameter: the array. */
    jsonElements: 'json_each(?)',
    /** Maximum number of concurrent list queries. */
    maxConcurrentLists: 1,
  },
  postgres: {
    attemptsTable: (): string => 'stored_attempts',
    followedByDueTime: 'followed_transactions',
    lock: 'FOR UPDATE',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    // With an array instead of a subquery, the planner does not join with the whole table.
    isIn: (select: string): string => `= ANY (ARRAY (${select}))`,
    jsonElements: 'jsonb_array_elements(?::jsonb)',
    // Leaves two of the four background connections free for work other than lists.
    maxConcurrentLists: 2,
  },
};
