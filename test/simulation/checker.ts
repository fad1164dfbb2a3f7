import type { Attempt } from '../../src/datasources/journal/journal';
import type { Entry, Kind } from '../support/payment-service/ledger';
import type { Answer } from './api';
import type { Database } from './database';
import type { Faults } from './faults';
import { SERVICE_NAME } from './instance';
import { isOpen, isReleased } from './journal-model';
import type { Machine } from './machine';
import { JOURNAL_FAULTS } from './profile';
import type { ServiceRequest } from './service';
import type { World } from './world';

interface KeyChoice {
  client: string;
  key: string;
  kind: Kind;
  channel: string;
  /** Null: the gateway derives it from the key. */
  externalId: string | null;
}

export const newRecord = (choice: KeyChoice) => ({
  ...choice,
  /** Its creates carry this id as their description. */
  id: `${choice.client}/${choice.key}`,
  amounts: new Set<string>(),
  entries: [] as Entry[],
  /** Transaction of the first success that a caller received. */
  successId: undefined as string | undefined,
  /** Simulated times at which the first transaction was created, and at which a caller first received a success. */
  createdAt: Infinity,
  succeededAt: Infinity,
  freshSuccesses: 0,
});

export type KeyRecord = ReturnType<typeof newRecord>;

/** Time in ms after a failover in which instances write the creates in flight again. */
const REWRITE_MS = 10_000;
/** Time in ms after a step of the journal's clock, or a suspension, until every instance has read the new time. */
const CLOCK_READ_MS = 30_000;
/** Time in ms after a fault of a machine or the database in which leases may end although their owner is alive. */
const CALM_MS = 25_000;

export class Checker {
  readonly violations: string[] = [];
  readonly keys = new Map<string, KeyRecord>();
  readonly foreign: Entry[] = [];
  creates = 0;
  /** Confirms whose success a caller received, each as `transaction input`. */
  readonly #confirmed = new Set<string>();
  readonly #confirming = new Map<string, Machine>();
  /** Simulated time at which an attempt was first written, by its id. */
  readonly #begunAt = new Map<string, number>();
  readonly #sent = new Set<string>();
  readonly #recordedAt = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
    private readonly database: Database,
  ) {
    database.model.onTransition = (before, after) => this.#onTransition(before, after);
    database.onFence = () => {
      if (database.lostAt === -Infinity)
        this.fail('the fence goes up only if the journal has lost attempts', '');
    };
  }

  fail(invariant: string, detail: string): void {
    this.world.trace(`VIOLATION ${invariant}: ${detail}`);
    this.violations.push(`${invariant}: ${detail}`);
  }

  onPost({ path, data }: ServiceRequest, machine: Machine): void {
    const body = JSON.parse(data) as { description?: string; id?: string; utr?: string };
    if (path.endsWith('/confirm/')) {
      if (this.#confirmed.has(`${body.id} ${body.utr}`) && this.#hasReliableLeases())
        this.fail('an input that confirmed a payment is not sent again', `${body.id}`);
      return this.#onConfirmSent(body.id ?? '', machine);
    }
    const record = this.#record(body.description);
    const attempt = this.database.model.find({ service: SERVICE_NAME, ...record });
    if (attempt) this.#sent.add(attempt.id);
    const hasJustFailedOver = this.world.now - this.database.lostAt < REWRITE_MS;
    if ((!attempt || isReleased(attempt)) && !hasJustFailedOver)
      this.fail('a create is in the journal before it is sent', `${record.id} ${attempt?.outcome ?? ''}`);
  }

  #onConfirmSent(transactionId: string, machine: Machine): void {
    const other = this.#confirming.get(transactionId);
    // A suspended instance does not renew its leases.
    const disturbedAt = Math.max(this.faults.disturbedAt, machine.pausedUntil, other?.pausedUntil ?? 0);
    const isCalm = this.world.now - disturbedAt > CALM_MS;
    const renewsLeases = JOURNAL_FAULTS.every((fault) => this.faults.profile.rates[fault] === undefined);
    if (other?.isAlive && isCalm && renewsLeases)
      this.fail('one confirm of a payment is sent at a time', transactionId);
    this.#confirming.set(transactionId, machine);
  }

  /** After a step of the journal's clock, the lease of a confirm in flight may count as expired. */
  #hasReliableLeases(): boolean {
    return this.world.now - this.faults.clockStepAt > CLOCK_READ_MS;
  }

  onPostEnd({ path, data }: ServiceRequest): void {
    if (path.endsWith('/confirm/')) this.#confirming.delete((JSON.parse(data) as { id: string }).id);
  }

  onCreate(entry: Entry): void {
    this.creates += 1;
    const record = this.#record(entry.description);
    record.entries.push(entry);
    record.createdAt = Math.min(record.createdAt, this.world.now);
    if (record.entries.length > 1)
      this.fail('one key creates at most once', `${record.id} ${record.entries.length} times`);
    if (entry.kind === 'payout' && this.#isTaken(entry))
      this.fail('no payout is sent under an external id that was taken', record.id);
    const attempt = this.database.model.find({ service: SERVICE_NAME, ...record });
    const hasLost = this.database.lostAt > -Infinity;
    if (!hasLost && (!attempt || isReleased(attempt)))
      this.fail('a key is not released while its create is under way', record.id);
  }

  #isTaken({ kind, channel, externalId, transactionId }: Entry): boolean {
    return [...this.foreign, ...[...this.keys.values()].flatMap(({ entries }) => entries)]
      .filter((other) => other.kind === kind && other.channel === channel)
      .some((other) => other.externalId === externalId && other.transactionId !== transactionId);
  }

  /** Checks the response to a create. `startedAt`: simulated time at which the call began. */
  onAnswer(record: KeyRecord, { amount, startedAt }: { amount: string; startedAt: number }, answer: Answer) {
    const { result, rules } = answer;
    this.#checkAudit(record.id, answer);
    if (result.endsWith('Success')) return this.#onSuccess(record, amount, answer);
    if (result.startsWith('bug')) return this.fail('no call fails by a bug', result);
    if (result === 'RejectedByServiceError' && record.createdAt < startedAt)
      this.fail('a rejected create created nothing', record.id);
    if (/^(Rejected|InvalidInput)/.test(result) && record.succeededAt < startedAt)
      this.fail('a success is not contradicted later', `${record.id} ${result}`);
    if (result === 'InvalidInputError' && !(rules.includes('unused') && this.#isExternalIdShared(record)))
      this.fail('no valid create is refused', `${record.id} ${rules.join()}`);
    if (result === 'IdempotencyConflictError' && record.amounts.size === 1)
      this.fail('a create conflicts with another input only', record.id);
  }

  #onSuccess(record: KeyRecord, amount: string, { transactionId, replayed }: Answer): void {
    const entry = record.entries.find((each) => each.transactionId === transactionId);
    if (!entry) return this.fail('a success names what the key created', `${record.id} ${transactionId}`);
    if (entry.amount.value !== amount)
      this.fail('a success names what the input asked for', `${record.id} ${amount}`);
    if (record.successId !== undefined && record.successId !== transactionId)
      this.fail('a success is not contradicted later', `${record.id} ${transactionId}`);
    record.successId = transactionId;
    record.succeededAt = Math.min(record.succeededAt, this.world.now);
    if (replayed === false) record.freshSuccesses += 1;
    if (record.freshSuccesses > 1) this.fail('one call at most created the transaction', record.id);
  }

  onConfirmAnswer(transactionId: string, input: string, answer: Answer): void {
    this.#checkAudit(transactionId, answer);
    if (answer.result.startsWith('bug')) this.fail('no call fails by a bug', answer.result);
    const name = `${transactionId} ${input}`;
    if (answer.result === 'PaymentSuccess') this.#confirmed.add(name);
    else if (this.#confirmed.has(name) && /Rejected|Invalid/.test(answer.result) && this.#hasReliableLeases())
      this.fail('a confirmed input is not refused later', `${name} ${answer.result}`);
  }

  #checkAudit(name: string, { audit, result, isError, transactionId }: Answer): void {
    const [line] = audit;
    const isRecorded =
      audit.length === 1 &&
      line?.outcome === result &&
      (isError || !transactionId || line.transactionId === transactionId);
    if (!isRecorded) this.fail('each mutation has one audit line', `${name} ${result} ${line?.outcome}`);
  }

  #isExternalIdShared({ kind, channel, externalId, id }: KeyRecord): boolean {
    const others = [...this.keys.values()].filter((other) => other.id !== id && other.channel === channel);
    const isSame = (other: Pick<KeyRecord, 'kind' | 'externalId'>): boolean =>
      other.kind === kind && other.externalId === externalId;
    return externalId !== null && [...others, ...this.foreign].some(isSame);
  }

  #onTransition(before: Attempt | null, after: Attempt | null): void {
    if (!after) {
      if (before && isOpen(before)) this.fail('no open attempt is purged', `${before.client}/${before.key}`);
      return;
    }
    const id = `${after.client}/${after.key}`;
    const isSame = before?.id === after.id;
    if (!isSame) {
      this.faults.openWindow(id);
      if (!this.#begunAt.has(after.id)) this.#begunAt.set(after.id, this.world.now);
    }
    if (before && !isSame && !isReleased(before))
      this.fail('a key that is not released keeps its attempt', id);
    if (before && isSame) this.#checkTransition(before, after);
    if (!isOpen(after)) this.faults.closeWindow(id);
    const { createdAt = Infinity, entries = [] } = this.keys.get(id) ?? {};
    if (after.outcome === 'succeeded') {
      this.#recordedAt.set(after.transactionId ?? '', this.world.now);
      if (!entries.some(({ transactionId }) => transactionId === after.transactionId))
        this.fail('the journal records what the key created', `${id} ${after.transactionId}`);
    }
    // A journal that has lost attempts may release the key of an earlier attempt: the fence protects later creates. The
    // key of an attempt that began after the create must not be released.
    const hasLost = this.database.lostAt > -Infinity;
    const isLater = (this.#begunAt.get(after.id) ?? 0) > createdAt;
    if (isReleased(after) && createdAt < Infinity && (isLater || !hasLost))
      this.fail('a key that created something is not released', id);
  }

  #checkTransition(before: Attempt, after: Attempt): void {
    const id = `${after.client}/${after.key}`;
    const isUnknown = before.outcome === 'unknown';
    // A rejection may be recorded after a takeover.
    if (!isOpen(before) || (isUnknown && after.outcome === 'in_progress'))
      this.fail('attempts follow the state diagram', `${id} ${before.outcome} -> ${after.outcome}`);
    const isByLookups = isUnknown && before.absence.spanMs >= this.faults.profile.settleMs / 2;
    // The instance that wrote an attempt may record late that it was not sent.
    const wasSent = this.#sent.has(after.id);
    if (isByLookups && wasSent && after.outcome === 'not_sent' && after.kind === 'payout')
      this.fail('a payout is never released by lookups', id);
  }

  recordedTransaction({ path, data }: ServiceRequest): string | undefined {
    const { purges, transitMs } = this.faults.profile;
    if (path.endsWith('/confirm/') || purges || transitMs < 5000) return undefined;
    const { description } = JSON.parse(data) as { description: string };
    const { kind, id } = this.#record(description);
    const isDurable = ({ transactionId }: Attempt): boolean =>
      this.world.now - (this.#recordedAt.get(transactionId ?? '') ?? Infinity) > 2000;
    const found = this.database.model.attempts
      .filter((attempt) => attempt.outcome === 'succeeded' && attempt.kind === kind)
      .find((attempt) => `${attempt.client}/${attempt.key}` !== id && isDurable(attempt));
    return found?.transactionId ?? undefined;
  }

  /**
   * Whether recovery can settle an attempt. It cannot settle a payout that does not exist, an attempt that shares its
   * external id, one whose rivals may have been purged, or one of unknown age: the service's time is unknown, and the
   * journal's clock has stepped.
   */
  canBeSettled(attempt: Attempt): boolean {
    const record = this.#record(`${attempt.client}/${attempt.key}`);
    const begunAt = this.#begunAt.get(attempt.id) ?? 0;
    const isAgeUnknown =
      attempt.serviceStartedAt === null && this.faults.clockStepAt > begunAt - CLOCK_READ_MS;
    const isPastRetention = this.world.now - begunAt > this.faults.profile.keepMs;
    // The journal has lost a later attempt with other input, which created the transaction.
    const isOtherInput = record.entries.some(({ amount }) => amount.value !== attempt.value);
    if (isAgeUnknown || isPastRetention || isOtherInput || this.#isExternalIdShared(record)) return false;
    return attempt.kind === 'payment' || record.entries.length > 0;
  }

  #record(id: string | undefined): KeyRecord {
    const record = this.keys.get(id ?? '');
    if (!record) throw new Error(`The simulation has no key ${id}.`);
    return record;
  }
}
