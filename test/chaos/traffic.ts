import type { CreateInput, Result } from '../history/format';
import type { Recorder } from '../history/recorder';
import { CHANNEL, createInput, type CallResult, type Caller, type Json, type Kind } from '../support/caller';
import { CONFIRMATION_LABELS, confirmationOf } from './history-files';
import { pause, type Random } from './random';

export interface Key {
  kind: Kind;
  key: string;
  input: Json;
  /** Whether another key may have the same external id. If so, a payment may stay unknown. */
  isShared: boolean;
}

interface TrafficOptions {
  gateways: { any(): Promise<Caller> };
  recorder: Recorder;
  random: Random;
  name: string;
  /** Maximum number of actions per second; unlimited by default. */
  rate?: number;
  /** Whether the journal may lose attempts. If so, external ids are unique, and inputs of payouts do not change. */
  mayLoseAttempts?: boolean;
}

/** Maximum time in ms for which settling waits for payments whose external id another key may have. */
const SHARED_SETTLE_MS = 20_000;
/** Longer than any call takes: only a suspended or killed gateway does not respond within it. */
const TIMEOUT_MS = 5000;
const MAX_CALLS = 12;
const MAX_CONFIRMS = 4;
const MAX_PAYMENTS = 200;
const CONCURRENT_LOOKUPS = 40;

const ATTEMPT = `query ($key: ID!) { found: attempt(idempotencyKey: $key) { outcome transactionId amount { currency value } } }`;
const lookUp = (field: string, type: string): string =>
  `query ($channel: UUID!, $externalId: String) { found: ${field}(channel: $channel, externalId: $externalId) { ... on ${type} { transactionId status } } }`;
const LOOKUPS = { payment: lookUp('payment', 'PaymentResource'), payout: lookUp('payout', 'PayoutResource') };

type Invoked = Parameters<Recorder['invoke']>[0];

const isKnown = ({ type = '' }: Result): boolean => /Success|Rejected|InvalidInput|Conflict/.test(type);

const resultOf = (end: CallResult): Result => ({
  type: end.result,
  error: end.error,
  message: end.error && end.message,
  transactionId: end.transactionId,
  status: end.status,
  replayed: end.replayed,
  rules: end.fields?.map(({ rule }) => rule),
});

/** Callers that call twice, disconnect, time out, and retry with the same key. Records every call. */
export class Traffic {
  readonly keys: Key[] = [];
  readonly #payments: string[] = [];
  #nextActionAt = 0;

  constructor(private readonly options: TrafficOptions) {}

  async run(callers: number, isOver: () => boolean): Promise<void> {
    const call = async (process: number): Promise<void> => {
      while (!isOver()) {
        await this.#waitForRate();
        await this.#act(process, isOver);
      }
    };
    await Promise.all(Array.from({ length: callers }, (_, process) => call(process)));
  }

  async create(key: Key, process = 0, over = key.input, timeoutMs = TIMEOUT_MS): Promise<Result> {
    const { kind } = key;
    const { channel, externalId = null, amount, method } = createInput(kind, key.key, over);
    const operation = kind === 'payment' ? 'createPayment' : 'createPayout';
    const [type] = Object.keys(Object(method) as Json);
    const input = { channel, externalId, amount, method: type } as CreateInput;
    const result = await this.#record({ process, operation, key: key.key, input }, async (program) =>
      resultOf(await program.create(kind, key.key, over, AbortSignal.timeout(timeoutMs))),
    );
    if (result.transactionId && result.type === 'PaymentSuccess') {
      this.#payments.push(result.transactionId);
      if (this.#payments.length > MAX_PAYMENTS) this.#payments.shift();
    }
    return result;
  }

  #attempt({ key }: Key, process = 0): Promise<Result> {
    return this.#lookUp({ process, operation: 'attempt', key }, ATTEMPT, { key });
  }

  async firstSuccess(): Promise<void> {
    while ((await this.create(this.#newKey('payment'))).type !== 'PaymentSuccess') await pause(20);
  }

  repeatAll(): Promise<void> {
    return inBatches(this.keys, (key) => this.create(key));
  }

  /**
   * Looks up every attempt, and repeats the creates of unknown outcome, until every attempt is settled that can be.
   * Without repeats this takes minutes: lookups get rare, and those of different instances do not add up.
   * @param isCreated whether the service has a transaction of a key
   */
  async settle(isCreated: (key: Key) => boolean, limitMs: number): Promise<number> {
    const startedAt = performance.now();
    const elapsed = (): number => performance.now() - startedAt;
    let open = await this.#openKeys(this.keys, isCreated);
    // A payment with a shared external id can be settled only if the create of the other key was not sent.
    const limitOf = ({ isShared }: Key): number => (isShared ? Math.min(limitMs, SHARED_SETTLE_MS) : limitMs);
    while (open.some((key) => elapsed() < limitOf(key))) {
      await inBatches(open, (key) => this.create(key));
      await pause(500);
      open = await this.#openKeys(open, isCreated);
    }
    return elapsed();
  }

  async #openKeys(keys: readonly Key[], isCreated: (key: Key) => boolean): Promise<Key[]> {
    const open: Key[] = [];
    await inBatches(keys, async (key) => {
      const { outcome, error, amount } = await this.#attempt(key);
      const isOpen = outcome === 'UNKNOWN' && (key.kind === 'payment' || isCreated(key));
      if (!isOpen && error === undefined && outcome !== 'IN_PROGRESS') return;
      const input = amount ? { ...key.input, amount } : key.input;
      open.push({ ...key, input, isShared: key.isShared && key.kind === 'payment' && outcome === 'UNKNOWN' });
    });
    return open;
  }

  async #waitForRate(): Promise<void> {
    const { rate } = this.options;
    if (rate === undefined) return;
    const now = performance.now();
    this.#nextActionAt = Math.max(this.#nextActionAt, now) + 1000 / rate;
    await pause(this.#nextActionAt - now);
  }

  async #act(process: number, isOver: () => boolean): Promise<void> {
    const { random } = this.options;
    await random.weighted<() => Promise<unknown>>([
      [62, () => this.#createUntilKnown(process, isOver)],
      [10, () => this.#withKey((key) => this.create(key, process))],
      [8, () => this.#withKey((key) => this.#changeInput(key, process))],
      [10, () => this.#confirm(process)],
      [7, () => this.#withKey((key) => this.#attempt(key, process))],
      [3, () => this.#withKey((key) => this.#lookUpExternalId(key, process))],
    ])();
  }

  async #withKey(act: (key: Key) => Promise<unknown>): Promise<void> {
    if (this.keys.length > 0) await act(this.options.random.one(this.keys));
  }

  async #createUntilKnown(process: number, isOver: () => boolean): Promise<void> {
    const { random } = this.options;
    const key = this.#newKey(random.chance(0.6) ? 'payment' : 'payout');
    for (let attempts = 0; attempts < MAX_CALLS && !isOver(); attempts += 1) {
      const clicks = random.chance(0.15) ? random.between(2, 5) : 1;
      const ends = await Promise.all(Array.from({ length: clicks }, () => this.create(key, process)));
      // A caller that disconnects.
      if (random.chance(0.03)) void this.create(key, process, key.input, 30);
      if (ends.some(isKnown)) return;
      await pause(random.between(10, 600));
    }
  }

  #newKey(kind: Kind): Key {
    const { random, name, mayLoseAttempts = false } = this.options;
    const input: Json = kind === 'payment' && random.chance(0.15) ? { externalId: undefined } : {};
    if (random.chance(0.3)) input['amount'] = { currency: 'INR', value: `${random.between(1, 500)}.5` };
    const isAsOther = !mayLoseAttempts && random.chance(0.03);
    const other = isAsOther ? this.keys.at(-random.between(1, 20)) : undefined;
    const { externalId } = createInput(kind, other?.key ?? '', other?.input);
    const isShared = other !== undefined && externalId !== undefined;
    if (isShared) {
      input['externalId'] = externalId;
      other.isShared = true;
    }
    const key: Key = { kind, key: `${name}-${this.keys.length}`, input, isShared };
    this.keys.push(key);
    return key;
  }

  /** Repeats a key with another amount, which is a conflict unless the key is free. */
  async #changeInput(key: Key, process: number): Promise<void> {
    // The service does not show the amount of a payout.
    if (key.kind === 'payout' && this.options.mayLoseAttempts) return;
    await this.create(key, process, { ...key.input, amount: { currency: 'INR', value: '777.00' } });
  }

  async #confirm(process: number): Promise<void> {
    const { random } = this.options;
    if (this.#payments.length === 0) return;
    const id = random.one(this.#payments);
    const confirmation = random.one(CONFIRMATION_LABELS);
    const clicks = random.chance(0.2) ? 2 : 1;
    const call = { process, operation: 'confirmPayment' as const, key: id, input: { confirmation } };
    const confirm = (): Promise<Result> =>
      this.#record(call, async (program) =>
        resultOf(await program.confirm(id, confirmationOf(confirmation))),
      );
    for (let count = 0; count < MAX_CONFIRMS; count += 1) {
      const ends = await Promise.all(Array.from({ length: clicks }, confirm));
      if (ends.some(isKnown)) return;
      await pause(random.between(10, 600));
    }
  }

  async #lookUpExternalId({ kind, key, input }: Key, process: number): Promise<void> {
    const { externalId } = createInput(kind, key, input);
    if (typeof externalId !== 'string') return;
    const variables = { channel: CHANNEL, externalId };
    await this.#lookUp({ process, operation: kind, key: externalId }, LOOKUPS[kind], variables);
  }

  #lookUp(call: Invoked, query: string, variables: object): Promise<Result> {
    return this.#record(call, async (program) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await program.request<{ found: Result | null } | null>(query, variables, signal);
      const [error] = response.errors ?? [];
      if (error) return { error: error.extensions.code };
      return response.data?.found ?? { transactionId: null, outcome: null };
    });
  }

  async #record(call: Invoked, send: (program: Caller) => Promise<Result>): Promise<Result> {
    const program = await this.options.gateways.any();
    const complete = this.options.recorder.invoke(call);
    const result = await send(program).catch((): Result => ({ error: 'NO_RESPONSE' }));
    complete(result);
    return result;
  }
}

async function inBatches<T>(values: readonly T[], act: (value: T) => Promise<unknown>): Promise<void> {
  for (let place = 0; place < values.length; place += CONCURRENT_LOOKUPS)
    await Promise.all(values.slice(place, place + CONCURRENT_LOOKUPS).map(act));
}
