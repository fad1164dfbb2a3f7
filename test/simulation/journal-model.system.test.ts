import type { Attempt, Journal, Outcome } from '../../src/datasources/journal/journal';
import { describeJournals } from '../journal/support/fixture';
import { newAttempt, newConfirm, newPayout } from '../journal/support/samples';
import { BEGUN, JournalModel } from './journal-model';
import { SeededRandom } from './random';

const HISTORIES = 40;
const CALLS = 60;

type Call = (journal: Journal | JournalModel) => unknown;

/** A random history of calls on few keys, external ids, transactions and owners, so that they collide. */
class History {
  readonly #ids: string[] = [];
  readonly #confirms: string[] = [];
  #now = 1_000_000;

  constructor(
    private readonly random: SeededRandom,
    private readonly service: string,
  ) {}

  next(): Call {
    const { random } = this;
    this.#now += random.one([0, 1, 500, 6000]);
    return random.weighted<() => Call>([
      [30, () => this.#insert()],
      [30, () => this.#record()],
      [10, () => this.#claim()],
      [10, () => this.#claimDue()],
      [5, () => this.#renew()],
      [10, () => this.#read()],
      [12, () => this.#confirm()],
      [4, () => this.#purge()],
    ])();
  }

  #attempt() {
    const { random, service } = this;
    const client = random.one(['shop', 'till']);
    // Never the fence of the journal. The key is new, because for a used key only PostgreSQL returns its attempt.
    const isOfOtherFence = random.chance(0.05);
    const given = {
      service,
      client,
      key: isOfOtherFence ? `key-${this.#now}` : `key-${random.between(0, 5)}`,
      channel: random.one(['channel-1', 'channel-2']),
      externalId: `order-${random.between(0, 3)}`,
      value: random.one(['10.00', '11.00']),
      owner: random.one(['one', 'two']),
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

  #id(): string {
    return this.#ids.length > 0 ? this.random.one(this.#ids) : newAttempt().id;
  }

  #record(): Call {
    const { random } = this;
    const id = this.#id();
    const settledAt = this.#now;
    const transactionId = `tx-${random.between(0, 6)}`;
    const observer = random.one(['one', 'two']);
    const outcome = random.one<Outcome>([
      { outcome: 'succeeded', transactionId, status: 'CHECKOUT', settledAt },
      { outcome: 'rejected', settledAt },
      { outcome: 'not_sent', settledAt },
      { outcome: 'unknown', nextRecheckAt: this.#now + 1000 },
      { outcome: 'unknown', nextRecheckAt: this.#now, absence: { lookups: 2, spanMs: 300, observer } },
    ]);
    return (journal) => journal.recordOutcome(id, outcome);
  }

  #newClaim() {
    const owner = this.random.one(['one', 'two']);
    return { service: this.service, owner, now: this.#now, leaseUntil: this.#now + 3000 };
  }

  #claim(): Call {
    const id = this.#id();
    const claim = this.#newClaim();
    return (journal) => journal.claim(id, claim);
  }

  #claimDue(): Call {
    const claim = this.#newClaim();
    return async (journal) => {
      const due = await journal.claimDue(claim, 100);
      return due.sort((a, b) => (a.id < b.id ? -1 : 1));
    };
  }

  #renew(): Call {
    const owner = this.random.one(['one', 'two']);
    const leaseUntil = this.#now + 5000;
    return (journal) => journal.renew(owner, leaseUntil);
  }

  #read(): Call {
    const { random, service } = this;
    const wanted = this.#attempt();
    const { client, key, kind } = wanted;
    const transactionId = `tx-${random.between(0, 6)}`;
    const attempt: Attempt = { ...wanted, ...BEGUN, seq: 0 };
    const id = this.#id();
    return random.one<Call>([
      (journal) => journal.find({ service, client, key }),
      (journal) => journal.findById(service, id),
      (journal) => journal.findByTransaction(service, kind, transactionId),
      (journal) => journal.hasRival(attempt),
      (journal) => journal.countUnknown(service),
      (journal) => journal.unknown(service, 100),
    ]);
  }

  #confirm(): Call {
    const { random, service } = this;
    const payment = { service, channel: 'channel-1', transactionId: `tx-${random.between(0, 1)}` };
    const inputHash = `hash-${random.between(0, 2)}`;
    if (random.chance(0.5) || this.#confirms.length === 0) {
      const owner = random.one(['one', 'two']);
      const now = this.#now;
      const claim = newConfirm({ ...payment, inputHash, owner, now, leaseUntil: now + 4000 });
      this.#confirms.push(claim.id);
      return (journal) => journal.beginConfirm(claim);
    }
    if (random.chance(0.3))
      return async (journal) =>
        (await journal.confirmedInputs(payment)).sort((a, b) => (a.inputHash < b.inputHash ? -1 : 1));
    const id = random.one(this.#confirms);
    const outcome = random.one(['known', 'unknown', 'not_carried_out'] as const);
    const input = { ...payment, inputHash, status: 'processing', confirmedAt: this.#now };
    const confirmed = random.chance(0.5) ? [input] : [];
    return (journal) => journal.endConfirm(id, { outcome, confirmed });
  }

  #purge(): Call {
    const settledBefore = this.#now - this.random.one([0, 5000, 20_000]);
    const step = { settledBefore, limit: 100, after: null };
    return async (journal) => {
      await journal.purgeStep({ target: 'attempts', ...step });
      await journal.purgeStep({ target: 'confirmed', ...step });
    };
  }
}

/** Returns a result, or the name of an error, without sequence numbers. */
async function resultOf(call: Call, journal: Journal | JournalModel): Promise<unknown> {
  const result: unknown = await new Promise((resolve) => resolve(call(journal))).catch(
    (error: unknown) => (error as Error).name,
  );
  const text = JSON.stringify(result ?? null, (name, value: unknown) => (name === 'seq' ? undefined : value));
  return JSON.parse(text) as unknown;
}

describeJournals('The model of the journal', (fixture) => {
  test('returns the same results for the same calls', async () => {
    const { journal } = fixture;
    // PostgreSQL raises the fence of a new database at the first read.
    await journal.readState();
    await journal.setFence(null);
    for (let seed = 1; seed <= HISTORIES; seed += 1) {
      const history = new History(new SeededRandom(seed), `service-${seed}`);
      const model = new JournalModel(() => 0);
      for (let place = 1; place <= CALLS; place += 1) {
        const call = history.next();
        const [actual, expected] = [await resultOf(call, journal), await resultOf(call, model)];
        expect({ seed, place, result: actual }).toEqual({ seed, place, result: expected });
      }
    }
  });
});
