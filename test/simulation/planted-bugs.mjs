// Bugs that the simulation has to find: npm run simulate -- --planted-bugs. Each is put into a file while it is loaded
// (scripts/run-harness.mjs), so that no file changes. The form of a bug is in scripts/deliberate-bugs.mjs.
import * as confirms from '../deliberate-bugs/confirms.mjs';
import * as creates from '../deliberate-bugs/creates.mjs';
import * as fence from '../deliberate-bugs/fence.mjs';
import * as followUps from '../deliberate-bugs/follow-ups.mjs';

/** Bugs of the mutation check that a simulation can find. */
const SHARED = new Set([
  'confirm-of-unseen-payment-sent',
  'confirm-repeated-input-sent',
  'create-answer-uncompared',
  'create-conflict-unchecked',
  'create-despite-reservation',
  'create-lost-answer-counts-as-unsent',
  'create-preflight-believes-proxy',
  'create-preflight-skipped',
  'create-server-error-counts-as-refusal',
  'create-takes-others-transaction',
  'create-without-journal',
  'fence-found-payment-not-recorded',
  'fence-ignored',
  'fence-other-input-sent',
  'fence-random-external-id',
  'fence-raised-by-replaced-attempt',
  'fence-untrusted-lookup-believed',
  'follow-up-releases-early',
  'follow-up-releases-payouts',
  'match-ignores-age',
  'match-ignores-amount',
  'match-ignores-rival',
]);

const shared = [confirms, creates, fence, followUps]
  .flatMap(({ bugs }) => bugs)
  .filter(({ id }) => SHARED.has(id));

const own = [
  {
    id: 'sent-before-the-journal',
    promise: 'A create is written to the journal before it is sent.',
    file: 'src/core/create/create-service.ts',
    find: '      insertResult = await journalSession.insertAttempt(attempt);',
    replace:
      "      insertResult = { kind: 'started' };\n      void journalSession.insertAttempt(attempt).catch(() => undefined);",
  },
  {
    id: 'insert-not-synced',
    promise: 'A create is synced before it is sent.',
    file: 'test/simulation/database.ts',
    find: 'shown: attempt.id,',
    replace: 'shown: attempt.id, isDurable: false,',
  },
  {
    id: 'post-retried',
    promise: 'A create is sent once.',
    file: 'src/datasources/payment-service/client.ts',
    find: 'return responsePromise.then((rawResponse) => {',
    replace: 'return responsePromise.catch(() => this.#send(call, { bulkheadName })).then((rawResponse) => {',
  },
  {
    id: 'lost-response-counts-as-unsent',
    promise: 'A create without a response has an unknown outcome.',
    file: 'src/datasources/payment-service/mapping/responses.ts',
    find: "if (!sendError.nothingSent) return { kind: 'unknown' };",
    replace: '',
  },
  {
    id: 'conflict-status-counts-as-refusal',
    promise: 'A create that ends with 408, 409 or 425 has an unknown outcome.',
    file: 'src/datasources/payment-service/mapping/responses.ts',
    find: 'new Set([408, 409, 425])',
    replace: 'new Set()',
  },
  {
    id: 'unreadable-response-counts-as-refusal',
    promise: 'A response that cannot be read makes the outcome unknown.',
    file: 'src/datasources/payment-service/mapping/responses.ts',
    find: "return json ? { kind: 'accepted', transaction: json } : { kind: 'unknown' };",
    replace:
      "return json ? { kind: 'accepted', transaction: json } : { kind: 'refused', httpStatus: 500, message: '' };",
  },
  {
    id: 'server-error-counts-as-unsent',
    promise: 'A 5xx response makes the outcome unknown.',
    file: 'src/datasources/payment-service/mapping/responses.ts',
    find: 'if (status === 429) throw unavailableError(rawResponse);',
    replace: 'if (status === 429 || status === 503) throw unavailableError(rawResponse);',
  },
  {
    id: 'replay-counts-as-first',
    promise: 'Only the call that created a transaction gets it with replayed: false.',
    file: 'src/core/create/create-service.ts',
    find: 'return { transaction: await matcher.lookUpOrReadFromJournal(attempt), replayed: true };',
    replace: 'return { transaction: await matcher.lookUpOrReadFromJournal(attempt), replayed: false };',
  },
  {
    id: 'purged-at-once',
    promise: 'Attempts are kept for the retention period.',
    file: 'src/core/recovery/retention-job.ts',
    find: 'const expiredBefore = clock.now() - this.#keepMs(target);',
    replace: 'const expiredBefore = clock.now();',
  },
  {
    id: 'lease-ends-at-once',
    promise: 'One confirm of a payment is sent at a time.',
    file: 'src/core/journal-session.ts',
    find: 'return this.clock.now() + this.journalTimeoutMs + LEASE_MS;',
    replace: 'return this.clock.now() - 1;',
  },
  {
    id: 'failure-not-audited',
    promise: 'Each mutation has an audit line, also if it fails.',
    file: 'src/resolvers/audit-mutations.ts',
    find: '      recordEntry({ ...common, outcome: outcomeOfError(error), transactionId: input.transactionId ?? null });\n',
    replace: '',
  },
  {
    id: 'confirm-by-wall-clock',
    promise: 'Leases of confirms are compared by the clock of the journal.',
    file: 'src/core/confirm/confirm-service.ts',
    find: '    await journalSession.ensureClockSync();\n',
    replace: '',
  },
  {
    id: 'unknown-never-looked-up',
    promise: 'Unknown outcomes are recovered.',
    file: 'src/core/recovery/recovery-job.ts',
    find: 'await Promise.all(dueAttempts.map(recover));',
    replace: 'void recover;',
  },
  {
    id: 'journal-replaces-open-attempt',
    promise: 'A key has one attempt that is open or succeeded.',
    file: 'test/simulation/journal-model.ts',
    find: '(isReleased(before) && before.id !== attempt.id)',
    replace: 'before.id !== attempt.id',
  },
  {
    id: 'journal-changes-settled-outcome',
    promise: 'A settled outcome does not change.',
    file: 'test/simulation/journal-model.ts',
    find: '    if (isOpen(attempt)) {\n      const settled',
    replace: '    if (attempt) {\n      const settled',
  },
  {
    id: 'journal-ignores-fence',
    promise: 'No attempt is written by a sender that does not know the fence.',
    file: 'test/simulation/journal-model.ts',
    find: 'fenceSince !== (this.#state.fence?.since ?? 0)',
    replace: 'fenceSince < 0',
  },
  {
    id: 'journal-ignores-reservation',
    promise: 'Two open payouts never have one external id.',
    file: 'test/simulation/journal-model.ts',
    find: 'const isFree = !reservesExternalId || ',
    replace: 'const isFree = true || ',
  },
  {
    id: 'journal-purges-open-attempts',
    promise: 'An attempt of unknown outcome is never purged.',
    file: 'test/simulation/journal-model.ts',
    find: '({ settledAt }) => settledAt !== null && settledAt >= from && settledAt < expiredBefore',
    replace: '({ startedAt }) => startedAt >= from && startedAt < expiredBefore',
  },
];

export const bugs = [...own, ...shared];
