import { check } from './checker';
import {
  JOURNAL_LOST,
  type CreateInput,
  type HistoryLine,
  type LedgerLine,
  type Operation,
  type Result,
} from './format';
import { Recorder } from './recorder';
import { EXCEPTIONS, type Exception, type Rule } from './run';

const AMOUNT = { currency: 'INR', value: '5.5' };
const INPUT: CreateInput = { channel: 'c', externalId: 'x', amount: AMOUNT, method: 'upi' };
const OTHER: CreateInput = { ...INPUT, amount: { currency: 'INR', value: '777.00' } };
const ENTRY: LedgerLine = {
  kind: 'payment',
  transactionId: 'T1',
  key: 'k',
  channel: 'c',
  externalId: 'x',
  amount: { ...AMOUNT, value: '5.50' },
  method: 'upi',
  requestedAt: 15,
  createdAt: 15,
  visibleAt: 15,
  confirms: [],
};
const SECOND: LedgerLine = { ...ENTRY, transactionId: 'T2', requestedAt: 35, createdAt: 35, visibleAt: 35 };
const PAYOUT: LedgerLine = { ...ENTRY, kind: 'payout' };
const ok: Result = { type: 'PaymentSuccess', transactionId: 'T1', replayed: false };
const replayed: Result = { ...ok, replayed: true };
const second: Result = { ...ok, transactionId: 'T2' };
const replayedSecond: Result = { ...second, replayed: true };
const rejected: Result = { type: 'RejectedByServiceError' };
const lost: Result = { error: 'NO_RESPONSE' };
const conflict: Result = { type: 'IdempotencyConflictError' };
const invalid = (rule: string): Result => ({ type: 'InvalidInputError', rules: [rule] });
/** The results of lookups of an attempt that created T1 and T2. */
const succeeded: Result = { outcome: 'SUCCEEDED', transactionId: 'T1' };
const succeededOther: Result = { ...succeeded, amount: OTHER.amount };
const succeededSecond: Result = { outcome: 'SUCCEEDED', transactionId: 'T2' };
const notSent: Result = { outcome: 'NOT_SENT' };
const unknown: Result = { outcome: 'UNKNOWN' };
const none: Result = { outcome: null };

/** Records calls one after the other: the first from 10 to 20, the second from 30 to 40, and so on. */
class Calls {
  readonly lines: HistoryLine[] = [];
  #time = 0;
  readonly #recorder = new Recorder(
    (line) => this.lines.push(line),
    () => this.#time,
  );

  call(operation: Operation, result: Result | undefined, input?: unknown, key = 'k'): this {
    this.#time += 10;
    const complete = this.#recorder.invoke({ process: 1, operation, key, input: input as CreateInput });
    this.#time += 10;
    if (result) complete(result);
    return this;
  }

  create(result?: Result, input = INPUT, key = 'k'): this {
    return this.call('createPayment', result, input, key);
  }

  payout(result?: Result, input = INPUT, key = 'k'): this {
    return this.call('createPayout', result, input, key);
  }

  attempt(result: Result): this {
    return this.call('attempt', result);
  }

  lookUp(transactionId: string | null, externalId: string): this {
    return this.call('payment', { transactionId }, undefined, externalId);
  }

  confirm(result: Result, confirmation = 'A'): this {
    return this.call('confirmPayment', result, { confirmation }, 'T1');
  }

  fault(name: string): this {
    this.#recorder.fault(name);
    return this;
  }

  settings(settleMs: number, retentionMs: number): this {
    this.#recorder.settings({ settleMs, retentionMs });
    return this;
  }
}

const calls = (): Calls => new Calls();
const carriedOut = (
  ...times: [requestedAt: number, carriedOutAt?: number, confirmation?: string][]
): LedgerLine => ({
  ...ENTRY,
  confirms: times.map(([requestedAt, carriedOutAt = requestedAt, confirmation = 'A']) => ({
    confirmation,
    requestedAt,
    carriedOutAt,
  })),
});
const rulesOf = (history: HistoryLine[], ledger: LedgerLine[]): Rule[] =>
  check(history, ledger).violations.map(({ rule }) => rule);

type Case = [history: Calls, ...ledger: LedgerLine[]];

const ACCEPTED: Record<string, Case> = {
  'no calls': [calls()],
  'a create with a lost response that the service executed': [calls().create(lost).attempt(succeeded), ENTRY],
  'a create with a lost response that the service did not execute': [calls().create(lost).attempt(notSent)],
  'a create that never reached a killed gateway': [calls().create().attempt(none)],
  'a rejected create, then one with another input': [calls().create(rejected, OTHER).create(second), SECOND],
  'a create, its replay and a conflict': [calls().create(ok).create(replayed).create(conflict, OTHER), ENTRY],
  'a create that is executed after a later call was rejected': [
    calls().create(lost).create(rejected).create(replayed).attempt(succeeded),
    { ...ENTRY, createdAt: 45, visibleAt: 45 },
  ],
  'a payout refused for its external id': [calls().payout(ok).payout(invalid('unused'), INPUT, 'l'), PAYOUT],
  'lookups that find the payment late': [calls().create(ok).lookUp(null, 'x').lookUp('T1', 'x'), ENTRY],
  'confirms with two inputs, and a replay': [
    calls().create(ok).confirm(ok).confirm(ok, 'B').confirm(replayed),
    carriedOut([35], [55, 55, 'B']),
  ],
};

const VIOLATIONS: Partial<Record<Rule, Record<string, Case>>> = {
  createdTwice: {
    'two transactions with one key': [calls().create(lost).create(ok).attempt(succeeded), ENTRY, SECOND],
  },
  unexplained: {
    'a transaction with a key that nobody used': [calls(), ENTRY],
    'a transaction with an amount that nobody sent': [calls().create(lost, OTHER).attempt(succeeded), ENTRY],
    'a transaction from before the call': [calls().create(ok), { ...ENTRY, requestedAt: 5, createdAt: 5 }],
  },
  failedButCreated: { 'a transaction whose call failed': [calls().create(rejected), ENTRY] },
  createdAfterOk: {
    'a success, after which a later call creates a transaction': [
      calls().create(ok).create(lost).attempt(succeeded),
      { ...SECOND, transactionId: 'T1' },
    ],
  },
  wrongTransaction: {
    'a success that names a transaction which does not exist': [calls().create(ok)],
    'a success with the transaction of another key': [calls().create(ok, INPUT, 'l').create(ok), ENTRY],
    'a success with another amount': [calls().create(ok).create(replayed, OTHER), ENTRY],
    'a payout that names a payment': [calls().create(ok).payout(replayed), ENTRY],
    'an attempt with another transaction': [calls().create(ok).attempt(succeededSecond), ENTRY],
    'an attempt with another amount': [calls().create(ok).attempt(succeededOther), ENTRY],
    'a lookup that shows another transaction': [calls().create(ok).lookUp('T1', 'y'), ENTRY],
  },
  twoTransactions: {
    'successes with two transactions': [calls().create(ok).create(replayedSecond), ENTRY, SECOND],
  },
  twoFirstResults: { 'two successes that are not replayed': [calls().create(ok).create(ok), ENTRY] },
  twoInputs: { 'successes for two different inputs': [calls().create(ok).create(replayed, OTHER), ENTRY] },
  denied: {
    'a success, then a rejection': [calls().create(ok).create(rejected), ENTRY],
    'an executed create whose attempt is not found': [calls().create(lost).attempt(none), ENTRY],
  },
  groundlessConflict: { 'a conflict despite the same input': [calls().create(ok).create(conflict), ENTRY] },
  groundlessRejection: {
    'a valid input that is rejected as invalid': [calls().create(invalid('past'))],
    'an input that is refused for an external id that nobody used': [calls().payout(invalid('unused'))],
  },
  payoutExternalId: {
    'two payouts with one external id': [
      calls().payout(ok).payout(second, INPUT, 'l'),
      PAYOUT,
      { ...SECOND, kind: 'payout', key: 'l' },
    ],
  },
  confirmedTwice: {
    'a confirm that is carried out twice': [
      calls().create(ok).confirm(lost).confirm(ok),
      carriedOut([35], [55]),
    ],
  },
  confirmUnexplained: {
    'a confirm that nobody sent': [calls().create(ok), carriedOut([35])],
    'a confirm whose call failed': [calls().create(ok).confirm(rejected), carriedOut([35])],
  },
  notConfirmed: {
    'a confirm that was never carried out': [calls().create(ok).confirm(ok), ENTRY],
    'a confirm that was not carried out, although another one was': [
      calls().create(ok).confirm(ok).confirm(ok, 'B'),
      carriedOut([35]),
    ],
  },
  internalError: { 'an internal error': [calls().create({ error: 'INTERNAL_SERVER_ERROR' }).attempt(none)] },
  unsettled: {
    'a payment whose outcome stays unknown': [calls().create(lost).attempt(unknown)],
    'a created payout whose outcome stays unknown': [calls().payout(lost).attempt(unknown), PAYOUT],
    'an attempt that stays in progress': [calls().payout(lost).attempt({ outcome: 'IN_PROGRESS' })],
    'an unknown outcome that is not looked up after the create': [calls().attempt(notSent).create(lost)],
  },
};

const EXCEPTED: Record<Exception, Case> = {
  retention: [calls().settings(1, 15).create(ok).create(second), ENTRY, SECOND],
  shownLate: [
    calls().settings(15, 1e9).create(lost).create(second).attempt(succeededSecond),
    { ...ENTRY, createdAt: 39, visibleAt: 39 },
    SECOND,
  ],
  lostAndHidden: [
    calls().create(ok).fault(JOURNAL_LOST).create(second),
    { ...ENTRY, visibleAt: 9999 },
    SECOND,
  ],
  lostAttempt: [calls().create(ok).fault(JOURNAL_LOST).attempt(none), ENTRY],
  unknownPayout: [calls().payout(lost).attempt(unknown)],
  indistinguishable: [calls().create(ok, INPUT, 'l').create(lost).attempt(unknown), { ...ENTRY, key: 'l' }],
  confirmLate: [calls().create(ok).confirm(lost).confirm(ok), carriedOut([35, 57], [55])],
  confirmAttributed: [
    calls().create(ok).confirm(lost, 'B').confirm(lost).confirm(replayed, 'B'),
    carriedOut([55]),
  ],
};

const EXCEPTION_ROWS = Object.entries(EXCEPTED).map(
  ([exception, given]) => [exception, EXCEPTIONS[exception as Exception], given] as const,
);
const VIOLATION_ROWS = Object.entries(VIOLATIONS).flatMap(([rule, cases]) =>
  Object.entries(cases).map(([what, given]) => [rule as Rule, what, given] as const),
);

describe('The checker of histories', () => {
  test.each(Object.entries(ACCEPTED))('accepts a history with %s', (_, [{ lines }, ...ledger]) => {
    expect(check(lines, ledger)).toMatchObject({ violations: [], exceptions: new Map() });
  });

  test.each(VIOLATION_ROWS)('reports "%s" in a history with %s', (rule, _, [{ lines }, ...ledger]) => {
    expect(rulesOf(lines, ledger)).toContain(rule);
    for (const { lines: named } of check(lines, ledger).violations)
      for (const line of named) expect(lines[line - 1]).toBeDefined();
  });

  test.each(EXCEPTION_ROWS)(
    'reports no violation for the documented exception %s: %s',
    (exception, _, [{ lines }, ...ledger]) => {
      expect(check(lines, ledger)).toMatchObject({ violations: [], exceptions: new Map([[exception, 1]]) });
    },
  );

  test('reports a history as malformed if a line is missing, repeated or has another key', () => {
    const { lines } = calls().create(ok).create(replayed);
    expect(rulesOf(lines, [ENTRY])).toEqual([]);
    expect(rulesOf(lines.slice(1), [ENTRY])).toContain('malformed');
    expect(rulesOf([...lines, lines[1]!], [ENTRY])).toContain('malformed');
    expect(rulesOf([lines[0]!, ...lines], [ENTRY])).toContain('malformed');
    expect(rulesOf(lines.with(1, { ...lines[1]!, key: 'l' } as HistoryLine), [ENTRY])).toContain('malformed');
  });
});
