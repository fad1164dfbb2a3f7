import type { End, Json, Kind } from '../support/caller';
import type { Gateways } from './gateways';
import { pause, type Random, type Tally } from './random';

/** All results that callers got for one key. */
export interface Told {
  kind: Kind;
  key: string;
  /** The input of the first call. */
  over: Json;
  ends: End[];
  known: boolean;
}

interface TrafficOptions {
  gateways: Gateways;
  random: Random;
  results: Tally;
  name: string;
}

/** Longer than any call takes: only a suspended or killed gateway does not respond within it. */
const PATIENCE_MS = 5000;
const MAX_TRIES = 12;

const isKnown = ({ result = '' }: End): boolean => /Success|Rejected|InvalidInput|Conflict/.test(result);

/** Callers that call twice, disconnect, time out, and retry with the same key. */
export class Traffic {
  readonly told: Told[] = [];

  constructor(private readonly options: TrafficOptions) {}

  async run(callers: number, isOver: () => boolean): Promise<void> {
    const call = async (): Promise<void> => {
      while (!isOver()) await this.#act(isOver);
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async ask(told: Told, over: Json = told.over): Promise<End> {
    const { gateways, results } = this.options;
    const program = await gateways.any();
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const end = await program
      .create(told.kind, told.key, over, signal)
      .catch((): End => ({ error: 'NO_ANSWER' }));
    told.ends.push(end);
    results.add(end.result ?? end.error ?? 'nothing');
    return end;
  }

  async #act(isOver: () => boolean): Promise<void> {
    const { random } = this.options;
    await random.weighted<() => Promise<unknown>>([
      [70, () => this.#createUntilKnown(isOver)],
      [12, () => this.#repeat()],
      [8, () => this.#changeInput()],
      [10, () => this.#confirm()],
    ])();
  }

  async #createUntilKnown(isOver: () => boolean): Promise<void> {
    const { random } = this.options;
    const told = this.#newCall();
    for (let tries = 0; tries < MAX_TRIES && !isOver(); tries += 1) {
      const clicks = random.chance(0.15) ? random.between(2, 5) : 1;
      const ends = await Promise.all(Array.from({ length: clicks }, () => this.ask(told)));
      if (random.chance(0.03)) this.#leave(told);
      told.known ||= ends.some(isKnown);
      if (told.known) return;
      await pause(random.between(10, 600));
    }
  }

  #newCall(): Told {
    const { random, name } = this.options;
    const kind = random.chance(0.6) ? 'payment' : 'payout';
    const key = `${name}-${this.told.length}`;
    const over: Json = kind === 'payment' && random.chance(0.15) ? { externalId: undefined } : {};
    if (random.chance(0.3)) over['amount'] = { currency: 'INR', value: `${random.between(1, 500)}.5` };
    const told: Told = { kind, key, over, ends: [], known: false };
    this.told.push(told);
    return told;
  }

  #leave(told: Told): void {
    const call = this.options.gateways
      .any()
      .then((program) => program.create(told.kind, told.key, told.over, AbortSignal.timeout(30)));
    void call.then(
      (end) => void told.ends.push(end),
      () => this.options.results.add('left'),
    );
  }

  async #repeat(): Promise<void> {
    if (this.told.length > 0) await this.ask(this.options.random.one(this.told));
  }

  /** Another amount under a used key: a conflict, unless the key was released. */
  async #changeInput(): Promise<void> {
    const told = this.told.length > 0 ? this.options.random.one(this.told) : undefined;
    if (told) await this.ask(told, { ...told.over, amount: { currency: 'INR', value: '777.00' } });
  }

  async #confirm(): Promise<void> {
    const { gateways, random, results } = this.options;
    const paid = this.told.filter(({ kind }) => kind === 'payment').slice(-200);
    const told = paid.length > 0 ? random.one(paid) : undefined;
    const id = told?.ends.find(({ result }) => result === 'PaymentSuccess')?.transactionId;
    if (!id) return;
    const end = await (await gateways.any()).confirm(id).catch((): End => ({ error: 'NO_ANSWER' }));
    results.add(`confirm: ${end.result ?? end.error ?? 'nothing'}`);
  }
}
