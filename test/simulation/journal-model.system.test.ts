import type { Attempt, Journal, OutcomeDetails } from '../../src/datasources/journal/journal';
import { Random } from '../chaos/random';
import { describeJournals } from '../journal/support/fixture';
import { newAttempt, newConfirm, newPayout } from '../journal/support/samples';
import { BEGUN, JournalModel } from './journal-model';

const HISTORIES = 40;
const CALLS = 60;
const OWNERS = ['one', 'two'];

type Call = (journal: Journal | JournalModel) => unknown;

/** Sorts rows whose order the journal does not promise. */
const sorted = <T>(rows: T[], keyOf: (row: T) => string): T[] =>
  rows.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

/** A random history of calls on few keys, external ids, transactions and owners, so that they collide. */
class History {
  readonly #ids: string[] = [];
  readonly #confirms: string[] = [];
  #now = 1_000_000;

  constructor(
    private readonly random: Random,
    private readonly service: string,
  ) {}

  next(): Call {
    const { random } = this;
    this.#now += random.one([0, 1, 500, 6000]);
    const [id, owner, now] = [random.one([...this.#ids, newAttempt().id]), random.one(OWNERS), this.#now];
    const claim = { service: this.service, owner, now, leaseUntil: now + 3000 };
    return random.weighted<() => Call>([
      [30, () => this.#insert()],
      [30, () => this.#record(id)],
      [10, () => (journal) => journal.claim(id, claim)],
      [10, () => async (journal) => sorted(await journal.claimDue(claim, 100), (due) => due.id)],
      [5, () => (journal) => journal.renew(owner, now + 5000, this.#ids)],
      [10, () => this.#read(id)],
      [12, () => this.#confirm()],
      [4, () => this.#purge()],
    ])();
  }

  #attempt() {
    const { random, service } = this;
    // A fence other than that of the journal. The key is new: for a used key only PostgreSQL returns the attempt.
    const isOfOtherFence = random.chance(0.05);
    const given = {
      service,
      client: random.one(['shop', 'till']),
      key: isOfOtherFence ? `key-${this.#now}` : `key-${random.between(0, 5)}`,
      channel: random.one(['channel-1', 'channel-2']),
      externalId: `order-${random.between(0, 3)}`,
      value: random.one(['10.00', '11.00']),
      owner: random.one(OWNERS),
      leaseUntil: this.#now + 4000,
      startedAt: this.#now,
      sendUntil: this.#now + 3000,
      serviceStartedAt: random.one([null, this.#now]),
      fenceSince: isOfOtherFence ? 7 : 0,
    };
    return random.chance(0.5) ? newPayout(given) : newAttempt(given);
  }

  #insert(): Call {
    const attempt = this.#attempt();
    this.#ids.push(attempt.id);
    return (journal) => journal.insertAttempt(attempt);
  }

  #record(id: string): Call {
    const { random } = this;
    const settledAt = this.#now;
    const transactionId = `tx-${random.between(0, 6)}`;
    const absence = { lookupCount: 2, spanMs: 300, observerId: random.one(OWNERS) };
    const outcome = random.one<OutcomeDetails>([
      { outcome: 'succeeded', transactionId, wireStatus: 'CHECKOUT', settledAt },
      { outcome: 'rejected', settledAt },
      { outcome: 'not_sent', settledAt },
      { outcome: 'unknown', nextRecheckAt: this.#now + 1000 },
      { outcome: 'unknown', nextRecheckAt: this.#now, absence },
    ]);
    return (journal) => journal.recordOutcome(id, outcome);
  }

  #read(id: string): Call {
    const { random, service } = this;
    const attempt: Attempt = { ...this.#attempt(), ...BEGUN, seq: 0 };
    const transactionId = `tx-${random.between(0, 6)}`;
    return random.one<Call>([
      (journal) => journal.find(attempt),
      (journal) => journal.findById(service, id),
      (journal) => journal.findByTransaction(service, attempt.kind, transactionId),
      (journal) => journal.hasRival(attempt),
    ]);
  }

  #confirm(): Call {
    const { random, service } = this;
    const payment = { service, channel: 'channel-1', transactionId: `tx-${random.between(0, 1)}` };
    const inputHash = `hash-${random.between(0, 2)}`;
    const now = this.#now;
    if (random.chance(0.5) || this.#confirms.length === 0) {
      const owner = random.one(OWNERS);
      const claim = newConfirm({ ...payment, inputHash, owner, now, leaseUntil: now + 4000 });
      this.#confirms.push(claim.confirmId);
      return (journal) => journal.beginConfirm(claim);
    }
    if (random.chance(0.3))
      return async (journal) => sorted(await journal.confirmedInputs(payment), (input) => input.inputHash);
    const id = random.one(this.#confirms);
    const outcome = random.one(['known', 'unknown', 'not_carried_out'] as const);
    const input = { ...payment, inputHash, status: 'processing', confirmedAt: now };
    const confirmed = random.chance(0.5) ? [input] : [];
    return (journal) => journal.endConfirm(id, { outcome, confirmedInputs: confirmed });
  }

  #purge(): Call {
    const expiredBefore = this.#now - this.random.one([0, 5000, 20_000]);
    const step = { expiredBefore, maxExaminedCount: 100, after: null };
    return async (journal) => {
      await journal.purgeStep({ target: 'attempts', ...step });
      await journal.purgeStep({ target: 'confirmed', ...step });
    };
  }
}

async function resultOf(call: Call, journal: Journal | JournalModel): Promise<unknown> {
  const result: unknown = await new Promise((resolve) => resolve(call(journal))).catch(
    (error: unknown) => (error as Error).name,
  );
  const text = JSON.stringify(result ?? null, (name, value: unknown) => (name === 'seq' ? undefined : value));
  return JSON.parse(text) as unknown;
}

describeJournals('The in-memory model of the journal', (fixture) => {
  test('returns the same results as the real journal for the same random calls', async () => {
    const { journal } = fixture;
    // PostgreSQL raises the fence of a new database at the first read.
    await journal.readFenceState();
    await journal.setFence(null);
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const history = new History(new Random(seed), `service-${seed}`);
      const model = new JournalModel(() => 0);
      for (let place = 1; place <= CALLS; place += 1) {
        const call = history.next();
        const [actual, expected] = [await resultOf(call, journal), await resultOf(call, model)];
        expect({ seed, place, result: actual }).toEqual({ seed, place, result: expected });
      }
    }
  });
});
