import type { Random } from '../chaos/random';
import { createInput } from '../support/caller';
import { call, type Answer } from './api';
import { newRecord, type KeyRecord } from './checker';
import type { Cluster } from './cluster';
import type { Environment } from './environment';
import type { Machine } from './machine';
import type { Profile } from './profile';

const CHANNELS = ['7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10', '0d3a5b86-4f0e-4c39-8f4e-2a9b0c1d2e3f'];
const CLIENTS = ['shop', 'till'];
const AMOUNTS = ['10.00', '11.00', '25.50'];

/** Time in ms after which a caller repeats a call without a response. */
const CALLER_TIMEOUT_MS = 12_000;
/** Fraction of the retention period in which a caller uses a key. */
const USED_FRACTION = 0.5;

export const inputOf = ({ id, kind, key, channel, externalId }: KeyRecord, value: string): object =>
  createInput(kind, key, {
    channel,
    amount: { currency: 'INR', value },
    externalId: externalId ?? undefined,
    description: id,
  });

/** Returns the body of a create that the service received from somebody else than the gateway. */
const foreignBody = ({ kind, channel, externalId }: KeyRecord, value: string): Record<string, unknown> => ({
  channel,
  external_id: externalId,
  amount: { currency: 'INR', value },
  [`${kind}_method`]: kind === 'payment' ? { type: 'upi', email: 'ann@example.com' } : { type: 'imps' },
});

/**
 * Whether an instance may take an older transaction for that of a first create, sent before any response had shown the
 * service's time: an instance that starts after a step of the journal's clock does not know of the step.
 */
const mayMisjudgeAge = ({ rates }: Profile): boolean =>
  rates.journal_clock_step !== undefined && rates.kill !== undefined;

export class Traffic {
  readonly #random: Random;
  calls = 0;
  readonly #pending = new Map<string, Machine>();

  constructor(
    private readonly environment: Environment,
    private readonly cluster: Cluster,
  ) {
    this.#random = environment.world.random.fork();
  }

  start(): void {
    const { world, faults } = this.environment;
    const { keys, trafficMs } = faults.profile;
    for (let index = 0; index < keys; index += 1) {
      const record = this.#newKey(index);
      world.at(this.#random.between(0, trafficMs * 0.8), () => void this.#useKey(record));
    }
  }

  #newKey(index: number): KeyRecord {
    const { checker, faults, service } = this.environment;
    const random = this.#random;
    const client = random.one(CLIENTS);
    const kind = random.chance(0.6) ? 'payment' : 'payout';
    const hasExternalId = kind === 'payout' || random.chance(0.6);
    const isShared = faults.profile.reusesExternalIds && random.chance(0.4);
    const record = newRecord({
      client,
      key: `key-${index}`,
      kind,
      channel: random.one(CHANNELS),
      externalId: hasExternalId ? `order-${isShared ? random.between(0, 3) : `${index}-own`}` : null,
    });
    checker.keys.set(record.id, record);
    if (isShared && random.chance(0.3)) {
      const foreign = foreignBody(record, random.one(AMOUNTS));
      const agoMs = random.between(10, 3600) * 1000;
      if (!mayMisjudgeAge(faults.profile)) checker.foreign.push(service.addForeign(kind, foreign, agoMs));
    }
    return record;
  }

  /** Calls with one key until the outcome is known, and sometimes after that. */
  async #useKey(record: KeyRecord): Promise<void> {
    const random = this.#random;
    const { world, faults } = this.environment;
    const until = world.now + faults.profile.keepMs * USED_FRACTION;
    const tries = random.between(2, 12);
    for (let count = 0; count < tries && world.now < until && !faults.isOver; count += 1) {
      const clicks = random.chance(0.25) ? random.between(2, 4) : 1;
      const answers = Array.from({ length: clicks }, () => this.create(record, this.#amountOf(record)));
      // A caller that disconnects does not wait for the response.
      if (random.chance(0.85)) {
        const [answer] = await Promise.all(answers);
        if (answer?.transactionId && record.kind === 'payment' && random.chance(0.6))
          await this.#confirm(record);
        if (answer?.result.endsWith('Success') && random.chance(0.6)) return;
      }
      await world.sleep(random.chance(0.3) ? random.between(0, 50) : random.between(50, 8000));
    }
  }

  /** Sometimes chooses another amount. The service does not show the amount of a payout. */
  #amountOf({ kind }: KeyRecord): string | undefined {
    const { rates } = this.environment.faults.profile;
    const losesAttempts = (rates.failover ?? rates.restore) !== undefined;
    const mayDiffer = kind === 'payment' || !losesAttempts;
    const differs = mayDiffer && this.#random.chance(losesAttempts ? 0.25 : 0.08);
    return differs ? this.#random.one(AMOUNTS) : undefined;
  }

  async create(record: KeyRecord, amount = '10.00'): Promise<Answer | undefined> {
    const { checker, world } = this.environment;
    record.amounts.add(amount);
    const startedAt = world.now;
    const answer = await this.#call(record, { document: record.kind, input: inputOf(record, amount) });
    if (answer) checker.onAnswer(record, { amount, startedAt }, answer);
    return answer;
  }

  async #confirm(record: KeyRecord): Promise<void> {
    const random = this.#random;
    const { checker, world } = this.environment;
    const { channel, successId: transactionId = '' } = record;
    const count = random.between(1, 3);
    const isAtOnce = random.chance(0.4);
    const confirm = async (): Promise<void> => {
      const utr = random.chance(0.8) ? '111111111111' : '222222222222';
      const input = { channel, transactionId, confirmation: { upi: { utr } } };
      const answer = await this.#call(record, { document: 'confirm', input });
      if (answer) checker.onConfirmAnswer(transactionId, utr, answer);
    };
    if (isAtOnce) await Promise.all(Array.from({ length: count }, confirm));
    else
      for (let index = 0; index < count; index += 1) {
        await confirm();
        await world.sleep(random.between(10, 2000));
      }
  }

  async #call({ client, id }: KeyRecord, mutation: Parameters<typeof call>[2]): Promise<Answer | undefined> {
    const { world } = this.environment;
    const instance = this.cluster.any();
    this.calls += 1;
    const name = `${this.calls} ${id}`;
    if (!instance) return world.sleep(1000).then(() => undefined);
    const { machine, operations } = instance;
    world.trace(`call ${name} to ${machine.name}`);
    this.#pending.set(name, machine);
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    // The request arrives when the process is awake.
    machine.deliver(1, () => {
      void call(operations, client, mutation).then((answer) => {
        world.trace(`answer ${name} ${answer.result} ${answer.transactionId ?? ''}`);
        this.#pending.delete(name);
        resolve(answer);
      });
    });
    world.at(CALLER_TIMEOUT_MS, () => resolve(undefined));
    return promise;
  }

  get pending(): string[] {
    return [...this.#pending].filter(([, machine]) => machine.isAlive).map(([name]) => name);
  }
}
