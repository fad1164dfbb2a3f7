import type { WireObject } from '../../shared/wire-object';
import {
  isOwnNotFound,
  lookupFault,
  notTried,
  readLookupAnswer,
  parseMutationResponse,
  readMoneyFailure,
  type MutationOutcome,
  type NotFoundAnswer,
  type ExpectedFields,
} from './mapping/responses';
import type { Credentials } from './credentials';
import type { Bulkhead, Slot } from './http/resilience';
import { LookupRetries } from './http/retry-budget';
import {
  callOf,
  failureOf,
  classifyResponse,
  type RequestObserver,
  type CallResult,
} from './request-observer';
import { RequestFailure, type RawResponse } from './http/http-exchange';
import { ServiceError } from './service-error';
import { serviceTime, type Call, type SendOptions, type ServiceTransport } from './http/transport';

/** What a transaction is looked up by: at least one of the two ids (spec 4.1, 4.3). */
export interface LookupKey {
  channel: string;
  transactionId?: string;
  externalId?: string;
  /** What the request behind the lookup handed in and must not come back; not sent. */
  secrets?: readonly string[];
  /** An amount that an answer must not contradict; not sent. */
  amount?: { currency: string; value: string };
}

/** The service's response to a lookup. */
export interface LookupResponse {
  /** Null: it has no such transaction. */
  answer: WireObject | null;
  /** Whether the service itself said so, and not something in front of it; true where there is an answer. */
  isOwn: boolean;
  /** When, by the service's own clock, in milliseconds since 1970; undefined where it did not say. */
  serviceTime: number | undefined;
}

/** A slot towards the service, for a call that is recorded before it is sent. */
export interface MoneySlot extends Slot {
  /** Until when the call has to be answered, by `performance.now()`. */
  deadline: number;
  /** The time to sign it with: from before it is recorded. */
  signAt: number;
}

/** The bulkhead that calls of one kind go through on their way to the service. */
export interface SendQueue {
  /** Whether a call would be sent at once. */
  hasFreeSlot(): boolean;
  /** Waits for a slot. Throws a ServiceError where none is free in time: nothing was sent. */
  reserve(channel: string): Promise<MoneySlot>;
  /** The service's own time now, in milliseconds since 1970; null where it is not known. */
  serviceNow(): number | null;
}

/** Options of a call that moves money. */
export interface MoneySendOptions {
  /** The slot it was given; it waits for one of its own where this is left out. */
  slot?: MoneySlot;
  /** Whether it may be signed anew and sent again after a 401. */
  mayRepeat?(): Promise<boolean>;
}

/** What the operator learns of a call that did not go well; nothing else of request or answer. */
export interface RequestFailureReport {
  /** The path below api/v1/, and whether it was a lookup. */
  call: string;
  /** The channel, where its credentials were refused or are missing. */
  channel?: string;
  /** The HTTP status, where there was an answer. */
  status?: number;
  /** The system's word, where there was none. */
  code?: string;
  ms: number;
}

interface MoneyCall {
  channel: string;
  path: string;
  lane: Bulkhead;
  body: string;
  options?: MoneySendOptions | undefined;
}

/** The two kinds of call the service knows: lookups, and calls that move money. */
export class ServiceClient {
  readonly #retries: LookupRetries;

  constructor(
    private readonly transport: ServiceTransport,
    private readonly notFound: NotFoundAnswer,
    /** The gateway's own secrets, which no answer may carry to a caller. */
    private readonly own: { credentials: Pick<Credentials, 'known'>; isToken?(text: string): boolean },
    /** Hears of every call that did not go well, for the operator; of every one that has ended, and of those tried again. */
    private readonly heard: { fault(fault: RequestFailureReport): void } & RequestObserver,
  ) {
    this.#retries = new LookupRetries(() => heard.retried());
  }

  /**
   * A lookup. Tried again while that may help: at most three times and within one deadline.
   */
  lookUp(path: string, key: LookupKey): Promise<LookupResponse> {
    const call = { channel: key.channel, path, query: lookupQuery(key) };
    const read = (raw: RawResponse): LookupResponse => {
      const { notFound } = this;
      const answer = readLookupAnswer(raw, { ...key, ...this.#redactionContext() }, notFound.status);
      const isOwn = answer !== null || isOwnNotFound(raw, notFound);
      if (answer) this.transport.noteTime(raw);
      return { answer, isOwn, serviceTime: serviceTime(raw) };
    };
    return this.#retries.run(this.transport.timeoutMs, (timeoutMs) =>
      this.#send(call, { lane: 'lookups', timeoutMs }).then(read, (failure: unknown) => {
        throw lookupFault(failure);
      }),
    );
  }

  /**
   * Sends a create or confirm once. It is never repeated here: whether it may be is a question of money, not of
   * transport. Throws only where it is certain that the service did not act.
   */
  async postOnce(
    { lane, options: { slot, mayRepeat } = {}, ...call }: MoneyCall,
    asked: ExpectedFields,
  ): Promise<MutationOutcome<WireObject>> {
    const question = { ...asked, ...this.#redactionContext() };
    const timeoutMs = slot && slot.deadline - performance.now();
    const sent = this.#send(call, {
      lane,
      timeoutMs,
      hasSlot: slot !== undefined,
      signAt: slot?.signAt,
      ...(mayRepeat && { mayRepeat }),
    });
    return sent.then((raw) => {
      const outcome = parseMutationResponse(raw, question);
      if (outcome.kind === 'accepted') this.transport.noteTime(raw);
      return outcome;
    }, readMoneyFailure);
  }

  /** The queue of the creates of one kind, whose calls are recorded before they are sent. */
  queue(path: string, lane: Bulkhead): SendQueue {
    const { transport } = this;
    return {
      hasFreeSlot: () => transport.guard.hasFreeSlot(lane),
      reserve: (channel) => this.#reserve({ channel, path, lane }),
      serviceNow: () => transport.serviceNow() ?? null,
    };
  }

  async #reserve({ channel, path, lane }: Pick<MoneyCall, 'channel' | 'path' | 'lane'>): Promise<MoneySlot> {
    const startedAt = performance.now();
    const { transport } = this;
    try {
      const { release } = await transport.reserve(lane);
      return { release, deadline: startedAt + transport.timeoutMs, signAt: transport.now() };
    } catch (failure) {
      this.#ended({ channel, path, body: '' }, startedAt, failureOf(failure), faultOf(failure));
      throw notTried();
    }
  }

  #redactionContext(): Pick<ExpectedFields, 'credentials' | 'isToken'> {
    const { credentials, isToken } = this.own;
    return { credentials: credentials.known, isToken };
  }

  /** Sends a call and tells the operator when it did not go well. */
  #send(call: Call, options: SendOptions): Promise<RawResponse> {
    const startedAt = performance.now();
    return this.transport.send(call, options).then(
      (raw) => {
        this.#ended(call, startedAt, classifyResponse(raw, this.notFound.status), this.#faultIn(raw));
        return raw;
      },
      (failure: unknown) => {
        this.#ended(call, startedAt, failureOf(failure), faultOf(failure));
        throw failure;
      },
    );
  }

  #ended(call: Call, startedAt: number, result: CallResult, fault: ErrorReport | null): void {
    const ms = performance.now() - startedAt;
    this.heard.ended(callOf(call), result, ms);
    if (!fault) return;
    const { ofChannel, ...facts } = fault;
    const name = `${'query' in call ? 'GET' : 'POST'} ${call.path}`;
    this.heard.fault({
      call: name,
      ...facts,
      ...(ofChannel && { channel: call.channel }),
      ms: Math.round(ms),
    });
  }

  /** What the operator has to know of an answer; null where it went well. */
  #faultIn({ status }: RawResponse): ErrorReport | null {
    if (status < 300 || (status === this.notFound.status && status !== 401)) return null;
    return { status, ofChannel: status === 401 };
  }
}

/** What went wrong, and whether the operator has to know on which channel: where its credentials were refused or are missing. */
type ErrorReport = Pick<RequestFailureReport, 'status' | 'code'> & { ofChannel: boolean };

/** What the operator has to know of a call without an answer. */
function faultOf(failure: unknown): ErrorReport {
  if (failure instanceof ServiceError) return { code: 'NO_CREDENTIALS', ofChannel: true };
  return { code: failure instanceof RequestFailure ? failure.code : 'UNKNOWN', ofChannel: false };
}

/** The query string: written once, signed and sent as it is. */
export function lookupQuery({ channel, transactionId, externalId }: LookupKey): string {
  const parts = [`channel=${encodeURIComponent(channel)}`];
  if (transactionId !== undefined) parts.push(`transaction_id=${encodeURIComponent(transactionId)}`);
  if (externalId !== undefined) parts.push(`external_id=${encodeURIComponent(externalId)}`);
  return parts.join('&');
}

/** The typed form of what was accepted; any other outcome as it is. */
export const mapAccepted = <A, B>(outcome: MutationOutcome<A>, map: (answer: A) => B): MutationOutcome<B> =>
  outcome.kind === 'accepted' ? { kind: 'accepted', answer: map(outcome.answer) } : outcome;
