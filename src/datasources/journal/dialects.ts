/** Parts of the SQL that differ between SQLite and PostgreSQL. */
export const DIALECTS = {
  sqlite: {
    /** Returns the table of attempts with a hint for the index to read. */
    attemptsTable: (index: string): string => `stored_attempts INDEXED BY stored_${index}`,
    followedByDueTime: 'followed_transactions INDEXED BY followed_due',
    /** Clauses that lock the rows of a SELECT; `skipLocked` omits locked rows. SQLite has one writer and needs none. */
    lock: '',
    skipLocked: '',
    /** Returns the end of a condition, to be written after a value: true if the SELECT returns this value. */
    isIn: (select: string): string => `IN (${select})`,
    /** FROM item with a row for each element of a JSON array, in the column `value`. Parameter: the array. */
    jsonElements: 'json_each(?)',
    maxConcurrentLists: 1,
  },
  postgres: {
    attemptsTable: (): string => 'stored_attempts',
    followedByDueTime: 'followed_transactions',
    lock: 'FOR UPDATE',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    // With an array, the planner does not join with the whole table.
    isIn: (select: string): string => `= ANY (ARRAY (${select}))`,
    jsonElements: 'jsonb_array_elements(?::jsonb)',
    // Two of the four background connections stay free for other work.
    maxConcurrentLists: 2,
  },
};
