import type { WireObject } from '../../shared/wire-object';
import {
  isOwnNotFound,
  notTried,
  parseMutationResponse,
  readLookupResponse,
  toLookupError,
  toMutationOutcome,
  type ExpectedFields,
  type MutationOutcome,
  type NotFoundResponse,
} from './mapping/responses';
import type { Credentials } from './credentials';
import type { Bulkhead, Slot } from './http/resilience';
import { LookupRetries } from './http/retry-budget';
import { endOfFailure, endOfResponse, reportEnd, type RequestObserver } from './request-observer';
import type { RawResponse } from './http/http-exchange';
import { serviceTime, type Call, type SendOptions, type ServiceTransport } from './http/transport';

/** Identifies a transaction by at least one of its ids (spec 4.1, 4.3). */
export interface LookupKey {
  channel: string;
  transactionId?: string;
  externalId?: string;
  /** Values of the caller's request that the response must not expose; not sent. */
  secrets?: readonly string[];
  /** An amount that the response must not contradict; not sent. */
  amount?: { currency: string; value: string };
}

/** The service's response to a lookup. */
export interface LookupResponse {
  /** Null when there is no such transaction. */
  transaction: WireObject | null;
  /** Whether the response is the service's own, and not that of a proxy; true for a transaction. */
  isOwn: boolean;
  /** Time of the response by the service's clock in milliseconds since 1970; undefined when unknown. */
  serviceTime: number | undefined;
}

/** A reserved slot for a request that is recorded before it is sent. */
export interface MoneySlot extends Slot {
  /** Latest time of the response, by `performance.now()`. */
  deadline: number;
  /** Time of the signature, from before the attempt was recorded. */
  signAt: number;
}

/** The bulkhead of one kind of create. */
export interface SendQueue {
  hasFreeSlot(): boolean;
  /** Waits for a slot. Throws a ServiceError when none is free in time: nothing was sent. */
  reserve(channel: string): Promise<MoneySlot>;
  /** The service's time in milliseconds since 1970; null when unknown. */
  serviceNow(): number | null;
}

export interface MoneySendOptions {
  /** Without it the request waits for a slot. */
  slot?: MoneySlot;
  /** Whether the request may be signed and sent again after a 401. */
  mayRepeat?(): Promise<boolean>;
}

interface MoneyCall {
  channel: string;
  path: string;
  lane: Bulkhead;
  body: string;
  options?: MoneySendOptions | undefined;
}

/** Lookups, and requests that move money. */
export class ServiceClient {
  readonly #retries: LookupRetries;

  constructor(
    private readonly transport: ServiceTransport,
    private readonly notFound: NotFoundResponse,
    /** The gateway's own secrets, which responses must not expose. */
    private readonly own: { credentials: Pick<Credentials, 'known'>; isToken?(text: string): boolean },
    private readonly observer: RequestObserver,
  ) {
    this.#retries = new LookupRetries(() => observer.retried());
  }

  /** Looks a transaction up, with at most three tries within one deadline. */
  lookUp(path: string, key: LookupKey): Promise<LookupResponse> {
    const call = { channel: key.channel, path, query: lookupQuery(key) };
    const read = (raw: RawResponse): LookupResponse => {
      const json = readLookupResponse(raw, { ...key, ...this.#redactionContext() }, this.notFound.status);
      if (json) this.transport.noteTime(raw);
      const isOwn = json !== null || isOwnNotFound(raw, this.notFound);
      return { transaction: json, isOwn, serviceTime: serviceTime(raw) };
    };
    return this.#retries.run(this.transport.timeoutMs, (timeoutMs) =>
      this.#send(call, { lane: 'lookups', timeoutMs }).then(read, (failure: unknown) => {
        throw toLookupError(failure);
      }),
    );
  }

  /**
   * Sends a create or confirm once. Never repeats it, except after a 401 when `mayRepeat` allows it. Throws only when the
   * service certainly did nothing.
   */
  postOnce(
    { lane, options: { slot, mayRepeat } = {}, ...call }: MoneyCall,
    expected: ExpectedFields,
  ): Promise<MutationOutcome<WireObject>> {
    const fields = { ...expected, ...this.#redactionContext() };
    const sent = this.#send(call, {
      lane,
      timeoutMs: slot && slot.deadline - performance.now(),
      hasSlot: slot !== undefined,
      signAt: slot?.signAt,
      ...(mayRepeat && { mayRepeat }),
    });
    return sent.then((raw) => {
      const outcome = parseMutationResponse(raw, fields);
      if (outcome.kind === 'accepted') this.transport.noteTime(raw);
      return outcome;
    }, toMutationOutcome);
  }

  queue(path: string, lane: Bulkhead): SendQueue {
    const { transport } = this;
    return {
      hasFreeSlot: () => transport.policy.hasFreeSlot(lane),
      serviceNow: () => transport.serviceNow() ?? null,
      reserve: async (channel) => {
        const startedAt = performance.now();
        try {
          const { release } = await transport.reserve(lane);
          return { release, deadline: startedAt + transport.timeoutMs, signAt: transport.now() };
        } catch (failure) {
          const call = { channel, path, body: '' };
          reportEnd(this.observer, call, { startedAt, ...endOfFailure(failure) });
          throw notTried();
        }
      },
    };
  }

  #redactionContext(): Pick<ExpectedFields, 'credentials' | 'isToken'> {
    const { credentials, isToken } = this.own;
    return { credentials: credentials.known, isToken };
  }

  #send(call: Call, options: SendOptions): Promise<RawResponse> {
    const startedAt = performance.now();
    return this.transport.send(call, options).then(
      (raw) => {
        reportEnd(this.observer, call, { startedAt, ...endOfResponse(raw, this.notFound.status) });
        return raw;
      },
      (failure: unknown) => {
        reportEnd(this.observer, call, { startedAt, ...endOfFailure(failure) });
        throw failure;
      },
    );
  }
}

/** The query string, signed and sent unchanged. */
export function lookupQuery({ channel, transactionId, externalId }: LookupKey): string {
  const parts = [`channel=${encodeURIComponent(channel)}`];
  if (transactionId !== undefined) parts.push(`transaction_id=${encodeURIComponent(transactionId)}`);
  if (externalId !== undefined) parts.push(`external_id=${encodeURIComponent(externalId)}`);
  return parts.join('&');
}

/** Maps an accepted response; leaves other outcomes unchanged. */
export const mapAccepted = <A, B>(outcome: MutationOutcome<A>, map: (json: A) => B): MutationOutcome<B> =>
  outcome.kind === 'accepted' ? { kind: 'accepted', response: map(outcome.response) } : outcome;
