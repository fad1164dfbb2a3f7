/** Bugs of programs that consume changes. The form of a bug is in scripts/deliberate-bugs.mjs. */
export const bugs = [
  {
    id: 'consumers-cursor-apart',
    promise: 'The ledger example books every change exactly once, whenever it is killed.',
    file: 'examples/ledger/ledger.ts',
    find: "      this.#writeCursor(change.cursor);\n      this.#db.exec('COMMIT');",
    replace: "      this.#db.exec('COMMIT');\n      this.#writeCursor(change.cursor);",
    tests: ['test/examples/ledger.system.test.ts'],
    name: 'cannot be stored',
  },
  {
    id: 'consumers-shared-file',
    promise: 'Two processes of the ledger example book nothing twice.',
    file: 'examples/ledger/ledger.ts',
    find: 'if (this.#readCursor() !== this.#cursor)',
    replace: 'if (this.#readCursor() === undefined)',
    tests: ['test/examples/ledger.system.test.ts'],
    name: 'two processes',
  },
];
