/** Bugs that would break the promises about a journal that has lost attempts. */

const fence = ['test/exactly-once/fence.slow.test.ts'];
const journal = ['test/journal/fence.system.test.ts'];

export const bugs = [
  {
    id: 'fence-ignores-known-payout',
    promise: 'While the fence is up, a payout is sent only if lookups show a payout that is known to exist.',
    file: 'src/core/recovery/transaction-matcher.ts',
    find: 'return (await this.payouts.lookUp({ channel, transactionId }, () => knownPayout)) !== null;',
    replace: 'return knownPayout.mayLackCreateDetails;',
    tests: fence,
    name: 'a transaction that the journal contains',
  },
  {
    id: 'fence-found-payment-not-recorded',
    promise:
      'A payment that was found for a lost create is recorded, even if the response to its insert is lost.',
    file: 'src/core/create/create-service.ts',
    find: 'const outcome = recovery.prepareSucceededOutcome(transaction);\n    const insertResult = await journalSession.insertAttempt(attempt, outcome);',
    replace: 'const insertResult = await journalSession.insertAttempt(attempt);',
    tests: fence,
    name: 'records a payment that a lookup found',
  },
  {
    id: 'fence-raised-by-replaced-attempt',
    promise: 'An attempt that another one replaced does not raise the fence.',
    file: 'src/core/journal-session.ts',
    find: "if (isFromLookup && (await this.#isAttemptReplaced(attempt))) return outcome.outcome !== 'succeeded';",
    replace: '',
    tests: fence,
    name: 'has replaced',
  },
  {
    id: 'fence-ignored',
    promise: 'While the fence is up, a create is looked up before it is sent.',
    file: 'src/core/create/create-service.ts',
    find: 'if (journalSession.fence.active) {',
    replace: 'if (journalSession.fence.active && this.plan.idempotencyKey === "") {',
    tests: fence,
  },
  {
    id: 'fence-random-external-id',
    promise: 'The same key leads to the same external id.',
    file: 'src/core/create/keyed-hashes.ts',
    find: '.update(JSON.stringify([service, client, key]))',
    replace: '.update(JSON.stringify([service, client, key, Math.random()]))',
    tests: fence,
  },
  {
    id: 'fence-other-input-sent',
    promise: 'A key that a lost attempt has used with another input is refused.',
    file: 'src/core/create/lost-attempt.ts',
    find: "return matchResult.reason === undefined ? 'conflict' : 'none';",
    replace: "return 'none';",
    tests: fence,
  },
  {
    id: 'fence-untrusted-lookup-believed',
    promise: 'A lookup that proves nothing does not allow sending.',
    file: 'src/core/create/create-service.ts',
    find: 'const result = await findCreateOfLostAttempt(newAttempt, this.plan, lostAttemptsSince);',
    replace:
      "const result = await findCreateOfLostAttempt(newAttempt, this.plan, lostAttemptsSince).catch(() => 'none' as const);",
    tests: fence,
  },
  {
    id: 'fence-in-flight-not-written-again',
    promise: 'A create in flight is written again when the fence goes up.',
    file: 'src/core/journal-fence.ts',
    find: 'this.#mustCallOnRaised = true;',
    replace: '',
    tests: fence,
  },
  {
    id: 'fence-insert-unguarded',
    promise: 'No attempt is written by a sender that does not know the fence.',
    file: 'src/datasources/journal/postgres/statements.ts',
    find: 'WHERE may_insert AND own_group IS NOT NULL AND (NOT reserve',
    replace: 'WHERE own_group IS NOT NULL AND (NOT reserve',
    tests: journal,
  },
  {
    id: 'fence-unacknowledged-commit-sent',
    promise: 'A commit that the synchronous standby has not acknowledged does not allow sending.',
    file: 'src/datasources/journal/postgres/pool.ts',
    find: 'if (noticeCodes.includes(SQLSTATE_WARNING)) throw notDurableError();',
    replace: '',
    tests: ['test/journal/outages.system.test.ts'],
  },
  {
    id: 'fence-synchronous-commit-off',
    promise: 'Nothing is sent while synchronous_commit is off.',
    file: 'src/datasources/journal/postgres/statements.ts',
    find: "current_setting('synchronous_commit') <> 'off' AND",
    replace: '',
    tests: journal,
  },
];
