/** Parts of the SQL that differ between the two stores. */
export const DIALECTS = {
  sqlite: {
    /** Returns the table of attempts with a hint for the index to read. */
    attemptsTable: (index: string): string => `stored_attempts INDEXED BY stored_${index}`,
    followedByDueTime: 'followed_transactions INDEXED BY followed_due',
    /** Clause with which a SELECT locks its rows. `skipLocked` omits rows that another transaction has locked. */
    lock: '',
    skipLocked: '',
    /** Returns the end of a condition: whether the value before it is in the result of a SELECT. */
    isIn: (select: string): string => `IN (${select})`,
    /** Table of the elements of a JSON array, in its column `value`. Parameter: the array. */
    jsonElements: 'json_each(?)',
    maxConcurrentLists: 1,
  },
  postgres: {
    attemptsTable: (): string => 'stored_attempts',
    followedByDueTime: 'followed_transactions',
    lock: 'FOR UPDATE',
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    // Uses an array, because otherwise the planner could join with the whole table.
    isIn: (select: string): string => `= ANY (ARRAY (${select}))`,
    jsonElements: 'jsonb_array_elements(?::jsonb)',
    // Leaves two background connections for work other than lists.
    maxConcurrentLists: 2,
  },
};
