import type { Amount, CreateInput, LedgerLine } from './format';
import { endOf, isOk, mayHaveExecuted, type Call, type Exception, type Rule, type Run } from './run';

/** Time in ms for which a gateway creates nothing after it has noticed that the journal may have lost attempts. */
const FENCE_SETTLING_MS = 2000;
const NOT_CREATED: ReadonlySet<string | null | undefined> = new Set([null, 'NOT_SENT', 'REJECTED']);
const OPEN: ReadonlySet<string | null | undefined> = new Set(['UNKNOWN', 'IN_PROGRESS']);

const inputOf = ({ invocation }: Call): CreateInput => invocation.input as CreateInput;
const kindOf = ({ invocation }: Call): string =>
  invocation.operation === 'createPayout' ? 'payout' : 'payment';

function decimal(value: string): string {
  const [whole = '', fraction = ''] = value.split('.');
  return `${whole.replace(/^0+(?=\d)/, '')}.${fraction.padEnd(2, '0')}`;
}

export const isSameAmount = (a: Amount, b: Amount): boolean =>
  a.currency === b.currency && decimal(a.value) === decimal(b.value);

const textOf = (kind: string, { channel, externalId, amount, method }: CreateInput): string =>
  [kind, channel.toLowerCase(), externalId, amount.currency, decimal(amount.value), method].join(' ');

const canonical = (call: Call): string => textOf(kindOf(call), inputOf(call));

const isInputOf = (call: Call, entry: LedgerLine): boolean => {
  const externalId = inputOf(call).externalId ?? entry.externalId;
  return textOf(kindOf(call), { ...inputOf(call), externalId }) === textOf(entry.kind, entry);
};

/** Returns the exception that explains a second create for a key or external id; undefined if none does. */
function exceptionOf(run: Run, first: LedgerLine, second: LedgerLine): Exception | undefined {
  const { retentionMs, settleMs } = run.settings;
  if (second.requestedAt - first.createdAt > retentionMs) return 'retention';
  if (Math.max(first.createdAt, first.visibleAt) - first.requestedAt > settleMs) return 'shownLate';
  const losses = run.journalLosses.filter((at) => first.requestedAt <= at && at <= second.requestedAt);
  const isHidden = losses.some((lostAt) => first.visibleAt > lostAt + FENCE_SETTLING_MS);
  return isHidden ? 'lostAndHidden' : undefined;
}

export class KeyRules {
  readonly #creates: readonly Call[];
  readonly #attempts: readonly Call[];
  readonly #entries: readonly LedgerLine[];
  readonly #oks: readonly Call[];

  constructor(
    private readonly run: Run,
    private readonly key: string,
  ) {
    this.#creates = run.creates.of(key);
    this.#attempts = run.attempts.of(key);
    this.#entries = run.entries.of(key).toSorted((a, b) => a.requestedAt - b.requestedAt);
    const found = this.#attempts.filter((call) => call.completion?.result.outcome === 'SUCCEEDED');
    this.#oks = [...this.#creates, ...found].filter(isOk);
  }

  check(): void {
    this.#checkSuccesses();
    this.#checkDenials();
    this.#checkRefusals();
    this.#checkSettled();
    if (this.#isExcepted()) return;
    for (const entry of this.#entries) this.#checkExplained(entry);
    this.#checkOnce();
  }

  #report(rule: Rule, message: string, calls: readonly Call[]): void {
    this.run.report(rule, this.key, message, calls);
  }

  /** Whether exceptions explain every further create of the key. Counts these exceptions. */
  #isExcepted(): boolean {
    const [first, ...others] = this.#entries;
    const exceptions = first ? others.map((other) => exceptionOf(this.run, first, other)) : [];
    if (exceptions.length === 0 || exceptions.includes(undefined)) return false;
    for (const exception of exceptions) if (exception) this.run.except(exception);
    return true;
  }

  #checkOnce(): void {
    if (this.#entries.length > 1) {
      const ids = this.#entries.map(({ transactionId }) => transactionId).join(', ');
      this.#report('createdTwice', `${this.#entries.length} transactions: ${ids}`, this.#creates);
    }
    const ids = new Set(this.#oks.map(({ completion }) => completion?.result.transactionId));
    if (ids.size > 1) this.#report('twoTransactions', `successes name ${[...ids].join(', ')}`, this.#oks);
    const creates = this.#oks.filter((call) => this.#creates.includes(call));
    const first = creates.filter(({ completion }) => completion?.result.replayed === false);
    if (first.length > 1) this.#report('twoFirstResults', `${first.length} are not replayed`, first);
    const inputs = new Set(creates.map(canonical));
    if (inputs.size > 1) this.#report('twoInputs', `${inputs.size} inputs succeeded`, creates);
  }

  #checkExplained(entry: LedgerLine): void {
    const { transactionId, requestedAt } = entry;
    const requests = this.#creates.filter(
      (call) => isInputOf(call, entry) && call.invocation.time <= requestedAt,
    );
    if (requests.length === 0)
      return this.#report('unexplained', `nobody requested ${transactionId}`, this.#creates);
    // A call that has succeeded sends nothing afterwards.
    const candidates = requests.filter(
      (call) => mayHaveExecuted(call) && !(isOk(call) && endOf(call) < requestedAt),
    );
    if (candidates.length === 0) return this.#report('failedButCreated', `${transactionId} exists`, requests);
    const okAt = Math.min(...this.#oks.map(endOf));
    if (candidates.every(({ invocation }) => invocation.time > okAt))
      this.#report('createdAfterOk', `${transactionId} was created later`, [...this.#oks, ...candidates]);
  }

  #checkSuccesses(): void {
    for (const call of this.#oks) {
      const { transactionId } = call.completion!.result;
      const wrong = this.#faultOf(call, this.run.entryById.get(transactionId ?? ''));
      if (wrong) this.#report('wrongTransaction', `${transactionId} ${wrong}`, [call]);
    }
  }

  #faultOf(call: Call, entry: LedgerLine | undefined): string | undefined {
    const { amount } = call.completion!.result;
    if (!entry) return 'does not exist';
    if (entry.key !== this.key) return `belongs to ${entry.key}`;
    if (call.invocation.input && !isInputOf(call, entry)) return 'has another input';
    if (amount && !isSameAmount(amount, entry.amount)) return 'has another amount';
    return entry.createdAt > endOf(call) ? 'was created after this success' : undefined;
  }

  #checkDenials(): void {
    const [entry] = this.#entries;
    if (!entry) return;
    const later = (call: Call): boolean => call.invocation.time > entry.createdAt;
    for (const call of this.#creates.filter(later)) {
      const { type = '' } = call.completion?.result ?? {};
      if (type === 'InvalidInputError' || type === 'RejectedByServiceError')
        this.#report('denied', `${type}, but ${entry.transactionId} existed`, [call]);
    }
    for (const call of this.#attempts.filter(later).filter(isOk)) {
      const { outcome } = call.completion!.result;
      if (!NOT_CREATED.has(outcome)) continue;
      if (endOf(call) - entry.createdAt > this.run.settings.retentionMs) this.run.except('retention');
      else if (this.run.journalLosses.some((at) => entry.requestedAt <= at && at <= endOf(call)))
        this.run.except('lostAttempt');
      else this.#report('denied', `attempt: ${outcome}, but ${entry.transactionId} existed`, [call]);
    }
  }

  #checkRefusals(): void {
    for (const call of this.#creates) {
      const { type, rules = [] } = call.completion?.result ?? {};
      const isConflict = type === 'IdempotencyConflictError';
      const isInvalid = type === 'InvalidInputError';
      if (!isConflict && !isInvalid) continue;
      const others = this.run.createsByExternalId.of(inputOf(call).externalId ?? '');
      const earlier = [...this.#creates, ...others].filter(
        ({ invocation }) => invocation.time <= endOf(call),
      );
      const hasOtherKey = earlier.some(({ invocation }) => invocation.key !== this.key);
      if (isConflict && earlier.every((other) => canonical(other) === canonical(call)))
        this.#report('groundlessConflict', 'no other input was sent with this key', [call]);
      if (isInvalid && !(hasOtherKey && rules.includes('unused')))
        this.#report('groundlessRejection', `rules ${rules.join(', ')}`, [call]);
    }
  }

  #checkSettled(): void {
    const open = this.#creates.filter(({ completion }) => (completion?.event ?? 'unknown') === 'unknown');
    if (open.length === 0) return;
    const last = this.#attempts.filter(isOk).at(-1);
    const outcome = last?.completion?.result.outcome;
    const lastEnd = Math.max(...this.#creates.map(({ completion }) => completion?.time ?? 0));
    if (!last || last.invocation.time < lastEnd)
      return this.#report('unsettled', 'the history has no later lookup of the attempt', open);
    if (!OPEN.has(outcome)) return;
    const isPayment = this.#creates.every((call) => kindOf(call) === 'payment');
    const isShared = this.#creates
      .flatMap((call) => this.run.createsByExternalId.of(inputOf(call).externalId ?? ''))
      .some((other) => other.invocation.key !== this.key);
    if (outcome === 'UNKNOWN' && !isPayment && this.#entries.length === 0)
      return this.run.except('unknownPayout');
    if (outcome === 'UNKNOWN' && isPayment && isShared) return this.run.except('indistinguishable');
    this.#report('unsettled', `attempt: ${outcome}`, [...open, last]);
  }
}

export function checkPayoutExternalIds(run: Run): void {
  const payouts = [...run.entryById.values()].filter(({ kind }) => kind === 'payout');
  const groups = Map.groupBy(payouts, ({ channel, externalId }) => `${channel} ${externalId}`);
  for (const group of groups.values()) {
    const [first, ...others] = group.toSorted((a, b) => a.requestedAt - b.requestedAt);
    for (const other of others) {
      const exception = exceptionOf(run, first!, other);
      const message = `${first!.transactionId} and ${other.transactionId} (${other.key})`;
      if (exception) run.except(exception);
      else run.report('payoutExternalId', first!.key, message, run.creates.of(other.key));
    }
  }
}
