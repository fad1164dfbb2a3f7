import {
  JOURNAL_LOST,
  type Completion,
  type HistoryLine,
  type Invocation,
  type JournalSettings,
  type LedgerLine,
} from './format';

export interface Call {
  invocation: Invocation;
  completion?: Completion;
  /** Numbers of their lines in the history, from 1. */
  lines: number[];
}

export const RULES = {
  malformed: 'The history is complete: each call is invoked once, then completed at most once',
  createdTwice: 'A key creates at most one transaction',
  unexplained: 'Each transaction was requested by a call of its key with its input',
  failedButCreated: 'A call that failed created nothing',
  createdAfterOk: 'After a key has succeeded no later call of it creates',
  wrongTransaction: 'A success names an existing transaction of its key and its input',
  twoTransactions: 'All successes of a key name the same transaction',
  twoFirstResults: 'At most one success of a key is not replayed',
  twoInputs: 'Two inputs with one key never both succeed',
  denied: 'A transaction that exists is never reported as not created',
  groundlessConflict: 'A conflict has a call with another input as its cause',
  groundlessRejection: 'A valid input is not rejected as invalid',
  payoutExternalId: 'An external id has at most one payout',
  confirmedTwice: 'A confirmation is carried out at most once',
  confirmUnexplained: 'Each confirm that was carried out was requested, and its call did not fail',
  notConfirmed: 'A confirm that succeeds was carried out',
  internalError: 'No call ends with INTERNAL_SERVER_ERROR',
  unsettled: 'Each unknown outcome is settled at the end',
} as const;

export type Rule = keyof typeof RULES;

/** Cases that docs/exactly-once.md excludes from the guarantee, or leaves to an operator. */
export const EXCEPTIONS = {
  retention: 'The key is older than JOURNAL_RETENTION_DAYS',
  shownLate: 'The service executed or showed a create later than UNKNOWN_SETTLE_SECONDS',
  lostAndHidden: 'The journal lost the attempt, and the service showed its transaction too late',
  lostAttempt: 'A lookup of an attempt that the journal had just lost',
  unknownPayout: 'The outcome of a payout that was not created stays unknown until an operator settles it',
  indistinguishable: 'The outcome of a payment that shares its external id with another key stays unknown',
  confirmLate: 'The service received or executed a confirm after its call had ended with an unknown outcome',
  confirmAttributed: 'A payment moved on after two confirms of unknown outcome, and both count as executed',
} as const;

export type Exception = keyof typeof EXCEPTIONS;

export interface Violation {
  rule: Rule;
  key: string;
  message: string;
  lines: number[];
}

export const mayHaveExecuted = ({ completion }: Call): boolean => completion?.event !== 'fail';
export const isOk = ({ completion }: Call): boolean => completion?.event === 'ok';
export const endOf = ({ completion }: Call): number => completion?.time ?? Infinity;

export class Groups<T> extends Map<string, T[]> {
  add(key: string, value: T): void {
    const group = this.get(key);
    if (group) group.push(value);
    else this.set(key, [value]);
  }

  of(key: string): readonly T[] {
    return this.get(key) ?? [];
  }
}

const MAX_LINES = 12;

export class Run {
  readonly violations: Violation[] = [];
  /** How often the documented limits of the guarantee applied. */
  readonly exceptions = new Map<Exception, number>();
  readonly creates = new Groups<Call>();
  readonly attempts = new Groups<Call>();
  readonly confirms = new Groups<Call>();
  readonly lookups: Call[] = [];
  readonly createsByExternalId = new Groups<Call>();
  readonly entries = new Groups<LedgerLine>();
  readonly entryById = new Map<string, LedgerLine>();
  readonly journalLosses: number[] = [];
  settings: JournalSettings = { settleMs: Infinity, retentionMs: Infinity };
  readonly calls: number;
  readonly #calls = new Map<number, Call>();

  constructor(history: Iterable<HistoryLine>, ledger: Iterable<LedgerLine>) {
    for (const entry of ledger) {
      this.entries.add(entry.key, entry);
      this.entryById.set(entry.transactionId, entry);
    }
    let line = 0;
    for (const event of history) this.#add(event, (line += 1));
    this.calls = this.#calls.size;
    this.#calls.clear();
  }

  report(rule: Rule, key: string, message: string, calls: readonly Call[] = []): void {
    const lines = calls.flatMap((call) => call.lines).sort((a, b) => a - b);
    this.violations.push({ rule, key, message, lines: lines.slice(0, MAX_LINES) });
  }

  except(exception: Exception): void {
    this.exceptions.set(exception, (this.exceptions.get(exception) ?? 0) + 1);
  }

  #add(event: HistoryLine, line: number): void {
    if (event.event === 'settings') this.settings = event;
    else if (event.event === 'fault') {
      if (event.name === JOURNAL_LOST) this.journalLosses.push(event.time);
    } else if (event.event === 'invoke') this.#invoke(event, line);
    else this.#complete(event, line);
  }

  #invoke(invocation: Invocation, line: number): void {
    const { call: number, key, operation, input } = invocation;
    const call: Call = { invocation, lines: [line] };
    if (this.#calls.has(number)) this.report('malformed', key, `call ${number} is invoked twice`, [call]);
    this.#calls.set(number, call);
    if (operation.startsWith('create')) this.creates.add(key, call);
    else if (operation === 'attempt') this.attempts.add(key, call);
    else if (operation === 'confirmPayment') this.confirms.add(key, call);
    else this.lookups.push(call);
    if (input && 'externalId' in input && input.externalId !== null)
      this.createsByExternalId.add(input.externalId, call);
  }

  #complete(completion: Completion, line: number): void {
    const { call: number, key, operation, time } = completion;
    const call = this.#calls.get(number);
    const invocation = call?.invocation;
    if (!call || invocation?.key !== key || invocation.operation !== operation || invocation.time > time)
      return this.report('malformed', key, `line ${line} completes call ${number}, which was not invoked`);
    call.lines.push(line);
    if (call.completion) return this.report('malformed', key, `call ${number} is completed twice`, [call]);
    call.completion = completion;
    if (completion.result.error === 'INTERNAL_SERVER_ERROR')
      this.report('internalError', key, `${operation} ended with INTERNAL_SERVER_ERROR`, [call]);
  }
}
