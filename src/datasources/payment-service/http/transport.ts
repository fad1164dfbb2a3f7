import { Pool } from 'undici';
import type { Credentials, Signers } from '../credentials';
import { Exchange, minRemainingMs, type RawResponse } from './http-exchange';
import { UnpooledClient, type BodyRequest } from './unpooled-client';
import { ResiliencePolicy, type Bulkhead, type Slot } from './resilience';
import { ServiceError } from '../service-error';
import type { Signer } from './signature';

/** What a call sends: a query string, or a body, never both; signed for its channel. */
export type Call = { channel: string; path: string } & ({ query: string } | { body: string });

/** How a call is to be sent. */
export interface SendOptions {
  lane: Bulkhead;
  /** How long it may take in all, in milliseconds; the transport's own where it is left out. */
  timeoutMs?: number | undefined;
  /** Whether the call holds a slot of its lane already. */
  hasSlot?: boolean;
  /**
   * The time to sign it with first, by the wall clock; now where it is left out. One from before the call was recorded
   * makes the service refuse it when this process was suspended in between.
   */
  signAt?: number | undefined;
  /**
   * Asked before a call that was refused with 401 is sent again: whether the caller still has the right to send it. A
   * process that was suspended in between may have lost it. Yes where it is left out.
   */
  mayRepeat?(): Promise<boolean>;
}

/** Goes around one request and its answer, and changes nothing of them. Sent again it is the same call. */
export type RequestInterceptor = (call: Call, exchange: () => Promise<RawResponse>) => Promise<RawResponse>;

/** What a transport needs to know. */
export interface TransportOptions {
  baseUrl: string;
  credentials: Credentials;
  timeoutMs: number;
  now(): number;
  /** For whoever traces requests. */
  around?: RequestInterceptor | undefined;
}

const MAX_CONNECTIONS = 256;
/** The service accepts timestamps of the last five minutes: a smaller difference is not what it refused. */
const CLOCK_SKEW_THRESHOLD_MS = 60_000;
/** A Date header further off than a week is not believed. */
const MAX_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
/** An older Date header is not carried on. */
const MAX_DATE_AGE_MS = 24 * 60 * 60 * 1000;
/** How far two Dates may be from what the monotonic clock says between them: whole seconds, and time on the way. */
const MAX_DATE_ERROR_MS = 60_000;
/** How far the monotonic clocks of two machines may drift apart, as a share of the time that has passed. */
const MAX_DRIFT = 0.0002;

/** The service's clock by its Date header, in milliseconds since 1970; undefined where it does not say. */
export function serviceTime({ headers }: RawResponse): number | undefined {
  const time = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(time) ? undefined : time;
}

/**
 * Sends signed requests to one origin over pools of connections; no redirects, and no retries but for clock and
 * credentials.
 */
export class ServiceTransport {
  /** For lookups: connections are kept and used again. */
  readonly #lookups: Pool;
  /**
   * For calls that move money: a connection of its own for each. One that was kept may be closed by the service in
   * the very moment in which a request is written to it, and then nobody knows whether the request arrived.
   */
  readonly #money: UnpooledClient;
  readonly #guard = new ResiliencePolicy();
  readonly #prefix: string;
  readonly #options: TransportOptions;
  /** How far the service's clock is from ours, as far as it mattered. */
  #skewMs = 0;
  /** The Date header of the service's last own answer, and when it arrived on the monotonic clock. */
  #lastDate: { header: unknown; at: number } | undefined;

  constructor(options: TransportOptions) {
    const base = new URL(options.baseUrl);
    this.#options = options;
    this.#prefix = `${base.pathname}api/v1/`;
    this.#lookups = new Pool(base.origin, {
      connections: MAX_CONNECTIONS,
      connect: { timeout: options.timeoutMs },
      // One deadline covers all of a call: see Exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    this.#money = new UnpooledClient(base, options.timeoutMs);
  }

  /** Whether the service counts as down, and what is under way. */
  get guard(): Pick<ResiliencePolicy, 'breakers' | 'lanes' | 'hasFreeSlot'> {
    return this.#guard;
  }

  /** How far the service's clock is from ours, as far as it mattered, in milliseconds. */
  get skewMs(): number {
    return this.#skewMs;
  }

  /** The service's own time now, at the earliest, by its last Date header, in milliseconds since 1970; undefined where it is not known. */
  serviceNow(): number | undefined {
    const age = performance.now() - (this.#lastDate?.at ?? -Infinity);
    const time = age < MAX_DATE_AGE_MS ? Date.parse(String(this.#lastDate?.header ?? '')) : NaN;
    return Number.isNaN(time) ? undefined : Math.floor(time + age * (1 - MAX_DRIFT));
  }

  /** Keeps the time of an answer that is certainly the service's own. One that contradicts the time before is not kept. */
  noteTime({ headers }: RawResponse): void {
    const at = performance.now();
    const before = this.#lastDate;
    this.#lastDate = { header: headers['date'], at };
    // Dates are the same for a second, and mostly not looked at: reading one costs more than all else of this.
    if (!before || before.header === headers['date']) return;
    const passed = Date.parse(String(headers['date'])) - Date.parse(String(before.header));
    if (!(Math.abs(passed - (at - before.at)) <= MAX_DATE_ERROR_MS)) this.#lastDate = undefined;
  }

  /** Milliseconds since 1970 by the wall clock. */
  now(): number {
    return this.#options.now();
  }

  /**
   * Waits for a slot of a lane, for calls that are recorded before they are sent.
   * @throws CallFailure with reason `refused`: nothing was sent
   */
  reserve(lane: Bulkhead): Promise<Slot> {
    return this.#guard.reserve(lane, this.timeoutMs - minRemainingMs(this.timeoutMs));
  }

  /** How long a call may take in all, in milliseconds. */
  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  /**
   * Sends a call and returns the answer, whatever its status. After a 401, at which the service has done nothing, what
   * may mend it is tried once each within the same deadline: the service's own clock where it differs, then the other
   * secret key where there are two. What helped is kept.
   * @throws ServiceError where the channel has no credentials
   */
  async send(call: Call, options: SendOptions): Promise<RawResponse> {
    const { timeoutMs = this.timeoutMs } = options;
    const signers = this.#options.credentials.of(call.channel);
    const signer = signers?.preferred;
    if (!signers || !signer) throw noCredentials();
    const deadline = performance.now() + timeoutMs;
    const attempt: Attempt = { signer, skewMs: this.#skewMs, deadline, signAt: options.signAt };
    const raw = await this.#exchange(call, options, attempt);
    return raw.status === 401
      ? this.#retryAfter401({ call, options, timeoutMs, signers, raw, attempt })
      : raw;
  }

  /** Sends what was refused with 401 again, with what may mend it. */
  async #retryAfter401({
    call,
    options,
    timeoutMs,
    signers,
    ...refused
  }: UnauthorizedAttempt): Promise<RawResponse> {
    const { deadline, signer } = refused.attempt;
    const mayRepeat = async (): Promise<boolean> =>
      deadline - performance.now() >= minRemainingMs(timeoutMs) && ((await options.mayRepeat?.()) ?? true);
    let { attempt, raw } = refused;
    const skewMs = this.#differentClock(raw, attempt.skewMs);
    if (skewMs !== undefined && (await mayRepeat())) {
      attempt = { ...attempt, skewMs, signAt: undefined };
      raw = await this.#exchange(call, options, attempt);
      if (raw.status !== 401) this.#skewMs = skewMs;
    }
    const other = signers.fallbackSigner(signer);
    if (raw.status === 401 && other && (await mayRepeat())) {
      attempt = { ...attempt, signer: other, signAt: undefined };
      raw = await this.#exchange(call, options, attempt);
      if (raw.status !== 401) {
        this.#skewMs = attempt.skewMs;
        this.#options.credentials.onAccepted(signers, other);
      }
    }
    return raw;
  }

  /** How far the service's clock is from ours, where that may be why it refused; undefined where it is not. */
  #differentClock(raw: RawResponse, assumedMs: number): number | undefined {
    const skewMs = (serviceTime(raw) ?? NaN) - this.#options.now();
    if (Math.abs(skewMs - assumedMs) <= CLOCK_SKEW_THRESHOLD_MS) return undefined;
    // What was assumed is not confirmed: whoever comes next starts without it.
    this.#skewMs = 0;
    return Math.abs(skewMs) < MAX_SKEW_MS ? skewMs : undefined;
  }

  /** Ends the connections once the calls under way have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#lookups.close(), this.#money.close()]);
  }

  #exchange(call: Call, options: SendOptions, attempt: Attempt): Promise<RawResponse> {
    const { around } = this.#options;
    return around ? around(call, () => this.#run(call, options, attempt)) : this.#run(call, options, attempt);
  }

  #run(call: Call, { lane, hasSlot }: SendOptions, attempt: Attempt): Promise<RawResponse> {
    const exchange = new Exchange(attempt.deadline - performance.now());
    const dispatch = (): void => {
      const request = this.#request(call, attempt);
      if (request.method === 'GET') this.#lookups.dispatch(request, exchange);
      else this.#money.dispatch(request, exchange);
    };
    const begin = (): Promise<RawResponse> => exchange.begin(dispatch);
    const ended = hasSlot ? this.#guard.runInSlot(begin) : this.#guard.run(lane, begin);
    ended.catch((error: unknown) => exchange.refuse(error));
    return exchange.answer;
  }

  /** The request, signed now: the very characters that are signed are sent. */
  #request(call: Call, { signer, skewMs, signAt }: Attempt): LookupRequest | BodyRequest {
    const isLookup = 'query' in call;
    const data = isLookup ? call.query : call.body;
    const path = this.#prefix + call.path;
    const { now } = this.#options;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...signer.headers(data, (signAt ?? now()) + skewMs),
    };
    if (isLookup) return { method: 'GET', path: `${path}?${data}`, headers };
    headers['content-type'] = 'application/json';
    return { method: 'POST', path, headers, body: data };
  }
}

interface LookupRequest {
  method: 'GET';
  path: string;
  headers: Record<string, string>;
}

/** A call that was refused with 401, and how. */
interface UnauthorizedAttempt {
  call: Call;
  options: SendOptions;
  timeoutMs: number;
  signers: Signers;
  raw: RawResponse;
  attempt: Attempt;
}

interface Attempt {
  signer: Signer;
  skewMs: number;
  /** On the clock of performance.now(). */
  deadline: number;
  signAt: number | undefined;
}

const noCredentials = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    'The gateway has no credentials for this channel; this call sent nothing. Tell the operator.',
  );
