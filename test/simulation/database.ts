import {
  JournalUnavailable,
  type Journal,
  type PurgeStepResult,
} from '../../src/datasources/journal/journal';
import type { Faults } from './faults';
import { JournalModel } from './journal-model';
import type { Machine } from './machine';
import { JOURNAL_FAULTS } from './profile';
import type { World } from './world';

/** Time limit of a journal call in ms, as that of the real journals. */
const TIME_LIMIT_MS = 400;
/** Age in ms at which the background writer has synced a commit. */
const SYNCED_AFTER_MS = 600;

const notSimulated = (): Promise<never> => Promise.reject(new Error('The simulation does not call this.'));

interface Kind {
  isWrite?: boolean;
  isDurable?: boolean;
  key?: string;
  shown?: string;
}

/** The database server of the journal, with its faults. All instances share it. */
export class Database {
  readonly model: JournalModel;
  clockOffsetMs = 0;
  isDiskFull = false;
  /** Simulated time until which nothing is executed: statements wait, or are refused if `isDown`. */
  #stalledUntil = 0;
  #downUntil = 0;
  /** Number of restarts. A statement that arrived before a restart is never executed after it. */
  #runs = 0;
  lostAt = -Infinity;
  onFence: () => void = () => undefined;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
  ) {
    this.model = new JournalModel(() => this.now());
  }

  now(): number {
    return this.world.now + this.clockOffsetMs;
  }

  stepClock(ms: number): void {
    const offset = this.clockOffsetMs + ms;
    // As in practice, the offset stays far below the retention period.
    const maxOffset = this.faults.profile.keepMs / 6;
    this.clockOffsetMs = Math.max(-maxOffset, Math.min(maxOffset, offset));
  }

  stall(ms: number): void {
    this.#stalledUntil = this.world.now + ms;
  }

  crash(downMs: number): void {
    this.model.syncUntil(this.world.now - SYNCED_AFTER_MS);
    const lost = this.model.crash();
    this.#restart(downMs);
    this.world.trace(`database crashed, ${lost} commits lost`);
  }

  /** Promotes a standby that is `lagMs` behind, or restores a copy of that age. */
  failOver(lagMs: number, downMs: number): void {
    const lost = this.model.failOver(this.world.now - lagMs);
    if (lost > 0) this.lostAt = this.world.now;
    this.#restart(downMs);
    this.world.trace(`database failed over, ${lost} commits lost`);
  }

  #restart(downMs: number): void {
    this.#runs += 1;
    this.#downUntil = this.world.now + downMs;
  }

  heal(): void {
    this.#stalledUntil = 0;
    this.#downUntil = 0;
    this.isDiskFull = false;
  }

  /** Sends a statement from a machine. Rejects like a driver: with JournalUnavailable, within the time limit. */
  call<T>(machine: Machine, name: string, kind: Kind, run: () => T): Promise<T> {
    const { faults, world } = this;
    const { random } = faults;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const fault = faults.choose(JOURNAL_FAULTS);
    if (fault) faults.count(fault, kind.key);
    const fail = (): void => reject(new JournalUnavailable(new Error(name)));
    const timer = machine.runtime.after(TIME_LIMIT_MS, fail);
    const answer = (settle: () => void): void => {
      if (fault === 'journal_unanswered') return;
      machine.deliver(random.between(0, 3), () => {
        timer.cancel();
        settle();
      });
    };
    const slowMs = fault === 'journal_slow' ? random.between(200, 3000) : 0;
    const arrive = (arrivedIn: number): void => {
      if (arrivedIn !== this.#runs || world.now < this.#downUntil || fault === 'journal_failed')
        return answer(fail);
      if (world.now < this.#stalledUntil)
        return world.at(this.#stalledUntil - world.now, () => arrive(arrivedIn));
      if (this.isDiskFull && kind.isWrite) return answer(fail);
      try {
        const result = this.#execute(name, kind, run);
        answer(() => resolve(result));
      } catch (error) {
        answer(() => reject(error as Error));
      }
    };
    world.at(random.between(0, 3) + slowMs, () => arrive(this.#runs));
    return promise;
  }

  #execute<T>(name: string, { isWrite, isDurable = true, key = '', shown: id = '' }: Kind, run: () => T): T {
    this.model.syncUntil(this.world.now - SYNCED_AFTER_MS);
    try {
      const result = isWrite ? this.model.commit(this.world.now, isDurable, run) : run();
      const shown = typeof result === 'object' && result && 'kind' in result ? result.kind : typeof result;
      this.world.trace(`journal ${name} ${key} ${String(shown)} ${id}`);
      return result;
    } catch (error) {
      this.world.trace(`journal ${name} ${key} ${String(error)}`);
      throw error;
    }
  }

  connect(machine: Machine): Journal {
    const { model } = this;
    const read = <T>(name: string, run: () => T): Promise<T> => this.call(machine, name, {}, run);
    const write = <T>(name: string, run: () => T, kind: Kind = {}): Promise<T> =>
      this.call(machine, name, { isWrite: true, ...kind }, run);
    return {
      timeLimitMs: TIME_LIMIT_MS,
      time: () => read('time', () => this.now()),
      insertAttempt: (attempt) =>
        write('insertAttempt', () => model.insertAttempt(attempt), {
          key: `${attempt.client}/${attempt.key}`,
          shown: attempt.id,
        }),
      recordOutcome: (id, outcome) =>
        write(`recordOutcome ${outcome.outcome}`, () => model.recordOutcome(id, outcome), {
          isDurable: false,
          key: `attempt ${id}`,
        }),
      find: (key) => read('find', () => model.find(key)),
      findByTransaction: (service, kind, id) =>
        read('findByTransaction', () => model.findByTransaction(service, kind, id)),
      hasRival: (attempt) => read('hasRival', () => model.hasRival(attempt)),
      findSucceededOnChannel: (attempt) =>
        read('findSucceededOnChannel', () => model.findSucceededOnChannel(attempt)),
      renew: (owner, leaseUntil, ids) => write('renew', () => model.renew(owner, leaseUntil, ids)),
      claim: (id, claim) => write('claim', () => model.claim(id, claim)),
      claimDue: (claim, limit) => write('claimDue', () => model.claimDue(claim, limit)),
      beginConfirm: (claim) => write('beginConfirm', () => model.beginConfirm(claim)),
      endConfirm: (id, result) => write('endConfirm', () => model.endConfirm(id, result)),
      confirmedInputs: (payment) => read('confirmedInputs', () => model.confirmedInputs(payment)),
      findById: (service, id) => read('findById', () => model.findById(service, id)),
      purgeStep: (step) =>
        write<PurgeStepResult | null>('purgeStep', () => model.purgeStep(step), { isDurable: false }),
      readFenceState: () => write('readFenceState', () => model.readFenceState()),
      setFence: (reason) =>
        write('setFence', () => {
          this.onFence();
          return model.setFence(reason);
        }),
      // The simulation has no operators, metrics and record of changes; its callers read no lists, and may see what
      // others created.
      findAny: notSimulated,
      unknown: notSimulated,
      countUnknown: notSimulated,
      checkWrite: notSimulated,
      findCreated: notSimulated,
      list: notSimulated,
      mayBeFollowed: (ids) => Promise.resolve(ids.map(() => false)),
      recordObservation: () => Promise.resolve('not_followed'),
      claimFollowed: notSimulated,
      scheduleFollowed: notSimulated,
      countFollowed: notSimulated,
      readChanges: notSimulated,
      newestChange: notSimulated,
      ping: notSimulated,
      close: notSimulated,
    };
  }
}
