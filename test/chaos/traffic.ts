import type { CallResult, Json, Kind } from '../support/caller';
import type { Gateways } from './gateways';
import { pause, type Random, type Tally } from './random';

/** All results that callers got for one key. */
export interface KeyHistory {
  kind: Kind;
  key: string;
  /** The input of the first call. */
  input: Json;
  ends: CallResult[];
  /** Whether a caller has learned the outcome. */
  known: boolean;
}

interface TrafficOptions {
  gateways: Pick<Gateways, 'any'>;
  random: Random;
  results: Tally;
  name: string;
  /** Whether a payout is repeated with another amount, too. The service does not show the amount of a payout. */
  payoutInputsChange?: boolean;
}

/** Longer than any call takes: only a suspended or killed gateway does not respond within it. */
const TIMEOUT_MS = 5000;
const MAX_CALLS = 12;

export const isKnown = ({ result = '' }: CallResult): boolean =>
  /Success|Rejected|InvalidInput|Conflict/.test(result);

/** Callers that call twice, disconnect, time out, and retry with the same key. */
export class Traffic {
  readonly histories: KeyHistory[] = [];

  constructor(private readonly options: TrafficOptions) {}

  async run(callers: number, isOver: () => boolean): Promise<void> {
    const call = async (): Promise<void> => {
      while (!isOver()) await this.#act(isOver);
    };
    await Promise.all(Array.from({ length: callers }, call));
  }

  async ask(history: KeyHistory, over: Json = history.input): Promise<CallResult> {
    const { gateways, results } = this.options;
    const program = await gateways.any();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const end = await program
      .create(history.kind, history.key, over, signal)
      .catch((): CallResult => ({ error: 'NO_ANSWER' }));
    history.ends.push(end);
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
    const history = this.#newCall();
    for (let attempts = 0; attempts < MAX_CALLS && !isOver(); attempts += 1) {
      const clicks = random.chance(0.15) ? random.between(2, 5) : 1;
      const ends = await Promise.all(Array.from({ length: clicks }, () => this.ask(history)));
      if (random.chance(0.03)) this.sendAndIgnore(history);
      history.known ||= ends.some(isKnown);
      if (history.known) return;
      await pause(random.between(10, 600));
    }
  }

  #newCall(): KeyHistory {
    const { random, name } = this.options;
    const kind = random.chance(0.6) ? 'payment' : 'payout';
    const key = `${name}-${this.histories.length}`;
    const over: Json = kind === 'payment' && random.chance(0.15) ? { externalId: undefined } : {};
    if (random.chance(0.3)) over['amount'] = { currency: 'INR', value: `${random.between(1, 500)}.5` };
    const history: KeyHistory = { kind, key, input: over, ends: [], known: false };
    this.histories.push(history);
    return history;
  }

  sendAndIgnore(history: KeyHistory): void {
    const call = this.options.gateways
      .any()
      .then((program) => program.create(history.kind, history.key, history.input, AbortSignal.timeout(30)));
    void call.then(
      (end) => void history.ends.push(end),
      () => this.options.results.add('disconnected'),
    );
  }

  async #repeat(): Promise<void> {
    if (this.histories.length > 0) await this.ask(this.options.random.one(this.histories));
  }

  /** Repeats a key with another amount, which is a conflict unless the key was released. */
  async #changeInput(): Promise<void> {
    const { random, payoutInputsChange = true } = this.options;
    const candidates = this.histories.filter(({ kind }) => kind === 'payment' || payoutInputsChange);
    const history = candidates.length > 0 ? random.one(candidates) : undefined;
    if (history) await this.ask(history, { ...history.input, amount: { currency: 'INR', value: '777.00' } });
  }

  async #confirm(): Promise<void> {
    const { gateways, random, results } = this.options;
    const paid = this.histories.filter(({ kind }) => kind === 'payment').slice(-200);
    const history = paid.length > 0 ? random.one(paid) : undefined;
    const id = history?.ends.find(({ result }) => result === 'PaymentSuccess')?.transactionId;
    if (!id) return;
    const end = await (await gateways.any()).confirm(id).catch((): CallResult => ({ error: 'NO_ANSWER' }));
    results.add(`confirm: ${end.result ?? end.error ?? 'nothing'}`);
  }
}
