import type { Attempt, AttemptOutcome } from '../../src/datasources/journal/journal';
import type {
  DispatchController,
  HttpExchange,
} from '../../src/datasources/payment-service/http/http-exchange';
import { call } from '../simulation/api';
import { newRecord } from '../simulation/checker';
import { Environment } from '../simulation/environment';
import { startInstance, type Instance } from '../simulation/instance';
import { isOpen } from '../simulation/journal-model';
import { Machine } from '../simulation/machine';
import { connectionsTo, receive } from '../simulation/network';
import { DAY, MINUTE, SECOND, type Profile } from '../simulation/profile';
import type { ServiceRequest, ServiceResponse } from '../simulation/service';
import { inputOf } from '../simulation/traffic';

/** A step of a trail of model/create.pml. The model prints its name and two numbers. */
interface Step {
  name: string;
  first: number;
  second: number;
}

export interface Trail {
  steps: Step[];
  result: {
    /** Transactions of the service. */
    creates: number;
    /** Outcome of the attempt that holds the key; undefined: none does. */
    outcome: AttemptOutcome | undefined;
    /** Callers whose call has succeeded. */
    succeeded: number[];
  };
}

/** States of the journal's row in the model. */
const OUTCOMES = [undefined, 'in_progress', 'unknown', 'succeeded', 'not_sent'] as const;

/** Reads a trail that `npm run model -- --trails` wrote: its steps, and the values of the variables at its end. */
export function readTrail(text: string): Trail {
  const steps = [...text.matchAll(/^ *EVENT (\w+) (\d+) (\d+)$/gm)].map(([, name = '', first, second]) => ({
    name,
    first: Number(first),
    second: Number(second),
  }));
  const created = [...text.matchAll(/^\s+created\[\d\] = (\d+)$/gm)].map(([, count]) => Number(count));
  return {
    steps,
    result: {
      creates: created.reduce((sum, count) => sum + count, 0),
      outcome: OUTCOMES[Number(/^\s+state = (\d+)$/m.exec(text)?.[1])],
      succeeded: steps.filter(({ name }) => name === 'succeed').map(({ first }) => first),
    },
  };
}

/** Time of the model's tick: half of the settling time. */
const TICK_MS = 2.5 * MINUTE;
/** Time that is enough for what an instance does without waiting. */
const SHORT_MS = 100;
/** Time after which an instance has noticed a failover and waited for the creates of the other instances. */
const FENCE_SETTLED_MS = 15 * SECOND;
/** In the model, a lookup with this result or a higher one found no transaction. */
const NOTHING_FOUND = 8;
/** Arguments of the step `fail_over`. `lost`: nothing. `kind`: the server restarts, and no standby takes over. */
const NOTHING_LOST = 3;
const RESTARTS = 1;

const PROFILE: Profile = {
  instances: 2,
  keys: 1,
  trafficMs: 0,
  timeoutMs: MINUTE,
  settleMs: 2 * TICK_MS,
  keepMs: 30 * DAY,
  fenceMs: DAY,
  rates: {},
  transitMs: 0,
  lagMs: 0,
  pauseMs: 0,
  reusesExternalIds: false,
  acceptsRepeatedConfirms: false,
  shows: 'newest',
  sendsDate: true,
  serviceSkewMs: 0,
  purges: false,
};

const KEY = {
  client: 'shop',
  key: 'key',
  kind: 'payment',
  channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
  externalId: 'order-1',
} as const;
const AMOUNT = '10.00';

/** A create that an instance sends. It waits for the steps of the trail. */
class Post {
  isSent = false;
  isAborted = false;
  isInFlight = false;
  response: ServiceResponse | undefined;
  readonly controller: DispatchController = { abort: () => void (this.isAborted = true) };

  constructor(
    readonly machine: Machine,
    readonly request: ServiceRequest,
    readonly exchange: HttpExchange,
  ) {}
}

export interface Replay {
  /** Steps that the simulation did not follow, and results that differ from those of the model. */
  differences: string[];
  violations: string[];
  trace: string[];
}

type Follow = (first: number, second: number, later: readonly Step[]) => boolean | Promise<boolean>;

/** Repeats the steps of a trail in the simulation: the gateway's own code, in this order, without other faults. */
export class Replayer {
  readonly #environment = new Environment(1, PROFILE, true);
  readonly #world = this.#environment.world;
  readonly #database = this.#environment.database;
  readonly #service = this.#environment.service;
  readonly #checker = this.#environment.checker;
  readonly #key = newRecord(KEY);
  readonly #instances: (Instance | undefined)[] = [];
  /** Creates that wait for their next step; those without an attempt's number are new. */
  readonly #posts: Post[] = [];
  readonly #postOf = new Map<number, Post>();
  /** The instance that each caller has called, and whether the call has begun. */
  readonly #calls = new Map<number, { instance: number; hasBegun: boolean }>();
  readonly #differences: string[] = [];
  readonly #succeeded = new Set<number>();
  /** Outcomes that the attempt of the key has had since the last step began: a trail ends within a step. */
  readonly #outcomes = new Set<AttemptOutcome | undefined>();
  #lookups = 0;

  /** Makes a step happen; tells whether the simulation followed it. */
  readonly #steps: Record<string, Follow> = {
    call: (caller, instance) => this.#calls.set(caller, { instance, hasBegun: false }).has(caller),
    begin: (attempt, caller) => this.#begin(attempt, caller),
    join: (caller, _, later) => this.#join(caller, later),
    send: (attempt) => this.#send(attempt),
    refuse: (attempt) => this.#refuse(attempt),
    create: (attempt) => this.#create(attempt),
    respond: (attempt, status) => this.#respond(attempt, status),
    give_up: (attempt, found) => {
      this.#show(found < NOTHING_FOUND);
      return this.#passUntil(() => this.#postOf.get(attempt)?.isAborted === true, 2 * PROFILE.timeoutMs);
    },
    recover: (_, found) => this.#lookUp(found < NOTHING_FOUND),
    take_over: (_, found) => this.#lookUp(found < NOTHING_FOUND),
    tick: () => this.#pass(TICK_MS),
    kill: (place) => this.#kill(place),
    start: (place) => {
      this.#start(place);
      return this.#pass(SHORT_MS);
    },
    fail_over: (lost, kind) => this.#failOver(lost, kind),
    purge: () => {
      const { model } = this.#database;
      const step = { target: 'attempts', expiredBefore: Infinity, maxExaminedCount: 1, after: null } as const;
      return model.commit(this.#world.now, true, () => model.purgeStep(step)).deletedCount >= 0;
    },
    succeed: (caller) => this.#passUntil(() => this.#succeeded.has(caller), SECOND),
    // Nothing to do: an instance responds by itself, and the model may respond at any time.
    answer: () => true,
    settle: () => this.#pass(FENCE_SETTLED_MS),
  };

  constructor() {
    this.#key.amounts.add(AMOUNT);
    this.#checker.keys.set(this.#key.id, this.#key);
    const check = this.#database.model.onTransition;
    this.#database.model.onTransition = (before, after) => {
      this.#outcomes.add(after?.outcome);
      check(before, after);
    };
    this.#start(0);
    this.#start(1);
  }

  async run({ steps, result }: Trail): Promise<Replay> {
    await this.#pass(SHORT_MS);
    for (const [place, step] of steps.entries()) {
      const name = `${step.name} ${step.first} ${step.second}`;
      this.#world.trace(`step ${name}`);
      this.#outcomes.clear();
      this.#outcomes.add(this.#row?.outcome);
      const isFollowed = await this.#steps[step.name]?.(step.first, step.second, steps.slice(place + 1));
      if (!isFollowed) this.#differences.push(`step ${place}, ${name}`);
    }
    await this.#compare(result);
    await this.#end();
    const { violations } = this.#checker;
    return { differences: this.#differences, violations, trace: this.#world.lines };
  }

  async #compare({ creates, outcome, succeeded }: Trail['result']): Promise<void> {
    const hasOutcome = (): boolean =>
      this.#outcomes.has(outcome) ||
      this.#row?.outcome === outcome ||
      // The model has no separate outcome for a create that the service refused.
      (outcome === 'not_sent' && this.#row?.outcome === 'rejected');
    const isSame = (): boolean => hasOutcome() && succeeded.every((caller) => this.#succeeded.has(caller));
    if ((await this.#passUntil(isSame, 5 * SECOND)) && creates === this.#checker.creates) return;
    const [model, simulation] = [
      { creates, outcome, succeeded },
      { creates: this.#checker.creates, outcome: this.#row?.outcome, succeeded: [...this.#succeeded] },
    ].map((each) => JSON.stringify(each));
    this.#differences.push(`result ${simulation} instead of ${model}`);
  }

  get #row(): Attempt | undefined {
    return this.#database.model.attempts[0];
  }

  get #isOpen(): boolean {
    return this.#row !== undefined && isOpen(this.#row);
  }

  async #pass(ms: number): Promise<true> {
    await this.#world.runUntil(this.#world.now + ms);
    return true;
  }

  async #passUntil(condition: () => boolean, limitMs: number): Promise<boolean> {
    const until = this.#world.now + limitMs;
    while (!condition() && this.#world.now < until) await this.#pass(SHORT_MS);
    return condition();
  }

  #start(place: number): void {
    const machine = new Machine(`instance ${place}`, this.#world, { offsetMs: 0 });
    const network = connectionsTo((request, exchange) => {
      const sent = new Post(machine, request, exchange);
      if (request.method === 'POST') return void this.#posts.push(sent);
      exchange.onRequestStart(sent.controller);
      machine.deliver(1, () => {
        this.#lookups += 1;
        const response = this.#service.handle(request);
        this.#world.trace(`${machine.name} looks up: ${response.status}`);
        if (!sent.isAborted) receive(exchange, sent.controller, response);
      });
    });
    this.#instances[place] = startInstance(machine, this.#environment, network);
  }

  #beginCall(caller: number): void {
    const known = this.#calls.get(caller);
    const instance = this.#instances[known?.instance ?? -1];
    if (!known || !instance || known.hasBegun) return;
    known.hasBegun = true;
    const startedAt = this.#world.now;
    const { machine, operations } = instance;
    const input = inputOf(this.#key, AMOUNT);
    machine.deliver(1, () => {
      void call(operations, KEY.client, { document: 'payment', input }).then((answer) => {
        this.#world.trace(`answer ${answer.result}`);
        if (!answer.isError && answer.transactionId) this.#succeeded.add(caller);
        this.#checker.onAnswer(this.#key, { amount: AMOUNT, startedAt }, answer);
      });
    });
  }

  async #begin(attempt: number, caller: number): Promise<boolean> {
    this.#beginCall(caller);
    await this.#passUntil(() => this.#posts.length > 0, 5 * SECOND);
    const post = this.#posts.shift();
    if (post) this.#postOf.set(attempt, post);
    return post !== undefined;
  }

  async #join(caller: number, later: readonly Step[]): Promise<boolean> {
    // The model lets the lease of a dead instance end at any time.
    if (later.some(({ name }) => name === 'take_over'))
      await this.#pass(Math.max(0, (this.#row?.leaseUntil ?? 0) - this.#database.now()) + SECOND);
    this.#beginCall(caller);
    return this.#pass(SHORT_MS);
  }

  async #send(attempt: number): Promise<boolean> {
    // Sent again after a rejected signature, or by a bug after a lost response.
    if (this.#postOf.get(attempt)?.isSent) {
      await this.#passUntil(() => this.#posts.length > 0, 2 * PROFILE.timeoutMs);
      const again = this.#posts.shift();
      if (again) this.#postOf.set(attempt, again);
    }
    // Sent by a bug before it is in the journal.
    if (!this.#postOf.has(attempt))
      for (const [caller, { hasBegun }] of this.#calls) if (!hasBegun) await this.#begin(attempt, caller);
    const post = this.#postOf.get(attempt);
    if (!post?.machine.isAlive || post.isSent) return false;
    post.exchange.onRequestStart(post.controller);
    if (post.isAborted) return false;
    post.isSent = post.isInFlight = true;
    this.#checker.onPost(post.request, post.machine);
    return this.#pass(SHORT_MS);
  }

  async #refuse(attempt: number): Promise<boolean> {
    const post = this.#postOf.get(attempt);
    if (!post?.machine.isAlive || post.isSent) return false;
    post.exchange.onResponseError(undefined, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }));
    return this.#pass(SHORT_MS);
  }

  #create(attempt: number): boolean {
    const post = this.#postOf.get(attempt);
    if (!post?.isInFlight) return false;
    post.isInFlight = false;
    post.response = this.#service.handle(post.request);
    return post.response.status === 201;
  }

  async #respond(attempt: number, status: number): Promise<boolean> {
    const post = this.#postOf.get(attempt);
    const response = status === 201 ? post?.response : this.#service.response(status, { message: 'no' });
    if (!post?.machine.isAlive || post.isAborted || !response) return false;
    post.isInFlight = false;
    receive(post.exchange, post.controller, response);
    return this.#pass(SHORT_MS);
  }

  /** Lets an instance look up open attempts. `isShown`: whether lookups find the existing transactions. */
  async #lookUp(isShown: boolean): Promise<boolean> {
    this.#show(isShown);
    const before = this.#lookups;
    const isLookedUp = await this.#passUntil(() => this.#lookups > before || !this.#isOpen, TICK_MS);
    await this.#pass(SHORT_MS);
    // The simulation looks up more often than the model, and may have settled the attempt before.
    return isLookedUp;
  }

  #show(isShown: boolean): void {
    for (const entry of this.#service.ledger.entries) entry.visibleAt = isShown ? 0 : Infinity;
  }

  #kill(place: number): boolean {
    const instance = this.#instances[place];
    if (!instance) return false;
    instance.machine.isAlive = false;
    this.#instances[place] = undefined;
    for (const [caller, { instance: called }] of this.#calls)
      if (called === place) this.#calls.delete(caller);
    this.#posts.splice(0, Infinity, ...this.#posts.filter(({ machine }) => machine.isAlive));
    return true;
  }

  /** The database restarts, or a standby takes over. @param lost what is lost: see `restore` in model/create.pml */
  async #failOver(lost: number, kind: number): Promise<boolean> {
    if (lost < NOTHING_LOST) this.#database.model.crash();
    if (kind === RESTARTS) this.#database.crash(SHORT_MS);
    else this.#database.failOver(lost > 0 && lost < NOTHING_LOST ? 2 * TICK_MS : 0, SHORT_MS);
    return this.#pass(2 * SHORT_MS);
  }

  /** Ends all faults: starts dead instances, waits until open attempts are settled, and calls once more. */
  async #end(): Promise<void> {
    this.#show(true);
    [0, 1].filter((place) => !this.#instances[place]).forEach((place) => this.#start(place));
    // Requests in flight arrive after the calls have ended.
    await this.#pass(2 * PROFILE.timeoutMs);
    for (const attempt of this.#postOf.keys()) this.#create(attempt);
    const isSettled = await this.#passUntil(() => !this.#isOpen, 3 * PROFILE.settleMs);
    if (!isSettled) this.#checker.fail('every outcome that can be known is known in time', this.#key.id);
  }
}
