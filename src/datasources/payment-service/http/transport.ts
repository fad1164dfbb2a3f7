import { Pool } from 'undici';
import type { Credentials, Signers } from '../credentials';
import { Exchange, minRemainingMs, type RawResponse } from './http-exchange';
import { UnpooledClient } from './unpooled-client';
import { ResiliencePolicy, type Bulkhead, type Slot } from './resilience';
import { ServiceError } from '../service-error';
import type { Signer } from './signature';

/** A request: a query string or a body, signed with the credentials of the channel. */
export type Call = { channel: string; path: string } & ({ query: string } | { body: string });

export interface SendOptions {
  lane: Bulkhead;
  /** Time limit in ms; by default that of the transport. */
  timeoutMs?: number | undefined;
  /** Whether the request already holds a slot. */
  hasSlot?: boolean;
  /**
   * Time of the first signature by the wall clock; by default now. With a time from before the attempt was recorded the
   * service rejects the request of a process that was suspended in between.
   */
  signAt?: number | undefined;
  /** Called before a request is sent again after a 401; false when another instance took over the attempt meanwhile. */
  mayRepeat?(): Promise<boolean>;
}

/** Wraps a request and its response, for tracing. Must not change them. */
export type RequestInterceptor = (call: Call, exchange: () => Promise<RawResponse>) => Promise<RawResponse>;

export interface TransportOptions {
  baseUrl: string;
  credentials: Credentials;
  timeoutMs: number;
  now(): number;
  interceptor?: RequestInterceptor | undefined;
}

const MAX_CONNECTIONS = 256;
/** The service accepts timestamps of the last five minutes: a smaller skew does not cause a 401. */
const CLOCK_SKEW_THRESHOLD_MS = 60_000;
/** A larger skew is not believed. */
const MAX_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
/** An older Date header is not extrapolated. */
const MAX_DATE_AGE_MS = 24 * 60 * 60 * 1000;
/** Maximum difference between two Date headers and the monotonic clock: rounding to seconds, and latency. */
const MAX_DATE_ERROR_MS = 60_000;
/** Maximum drift between the monotonic clocks of two machines, as a ratio. */
const MAX_DRIFT = 0.0002;

/** The Date header in milliseconds since 1970; undefined when missing or invalid. */
export function serviceTime({ headers }: RawResponse): number | undefined {
  const time = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(time) ? undefined : time;
}

/** Sends signed requests to the service. No redirects, and no retries except after a 401. */
export class ServiceTransport {
  readonly #lookups: Pool;
  /**
   * A new connection for each POST. The service may close a reused connection while a request is written to it, and
   * then it is unknown whether the request arrived.
   */
  readonly #money: UnpooledClient;
  readonly #policy = new ResiliencePolicy();
  readonly #prefix: string;
  readonly #options: TransportOptions;
  #skewMs = 0;
  /** Date header of the last response that is certainly the service's, and its arrival by the monotonic clock. */
  #lastDate: { header: unknown; at: number } | undefined;

  constructor(options: TransportOptions) {
    const base = new URL(options.baseUrl);
    this.#options = options;
    this.#prefix = `${base.pathname}api/v1/`;
    this.#lookups = new Pool(base.origin, {
      connections: MAX_CONNECTIONS,
      connect: { timeout: options.timeoutMs },
      // The deadline of the Exchange covers these.
      headersTimeout: 0,
      bodyTimeout: 0,
      pipelining: 1,
    });
    this.#money = new UnpooledClient(base, options.timeoutMs);
  }

  get policy(): Pick<ResiliencePolicy, 'breakers' | 'lanes' | 'hasFreeSlot'> {
    return this.#policy;
  }

  /** The service's clock minus ours in ms; 0 unless it caused a 401. */
  get skewMs(): number {
    return this.#skewMs;
  }

  get timeoutMs(): number {
    return this.#options.timeoutMs;
  }

  now(): number {
    return this.#options.now();
  }

  /** Lower bound of the service's time, extrapolated from the last Date header; undefined when unknown. */
  serviceNow(): number | undefined {
    const age = performance.now() - (this.#lastDate?.at ?? -Infinity);
    const time = age < MAX_DATE_AGE_MS ? Date.parse(String(this.#lastDate?.header ?? '')) : NaN;
    return Number.isNaN(time) ? undefined : Math.floor(time + age * (1 - MAX_DRIFT));
  }

  /** Stores the Date header of a response that is certainly the service's, unless it contradicts the one before. */
  noteTime({ headers }: RawResponse): void {
    const at = performance.now();
    const before = this.#lastDate;
    this.#lastDate = { header: headers['date'], at };
    // Parsing is slow, and most headers repeat the one before.
    if (!before || before.header === headers['date']) return;
    const passed = Date.parse(String(headers['date'])) - Date.parse(String(before.header));
    if (!(Math.abs(passed - (at - before.at)) <= MAX_DATE_ERROR_MS)) this.#lastDate = undefined;
  }

  /**
   * Reserves a slot, for a request that is recorded before it is sent.
   * @throws RequestFailure with reason `refused`: nothing was sent
   */
  reserve(lane: Bulkhead): Promise<Slot> {
    return this.#policy.reserve(lane, this.timeoutMs - minRemainingMs(this.timeoutMs));
  }

  /**
   * Sends a request and returns the response, whatever its status. After a 401, with which the service certainly did
   * nothing, repeats it within the same deadline: by the service's clock if it differs, then with the other secret key
   * if there is one. Keeps the clock or key that worked.
   * @throws ServiceError when the channel has no credentials
   */
  async send(call: Call, options: SendOptions): Promise<RawResponse> {
    const { timeoutMs = this.timeoutMs, signAt } = options;
    const signers = this.#options.credentials.of(call.channel);
    const signer = signers?.preferred;
    if (!signers || !signer) throw noCredentials();
    const deadline = performance.now() + timeoutMs;
    const exchange = (attempt: Attempt): Promise<RawResponse> => {
      const run = (): Promise<RawResponse> => {
        const current = new Exchange(deadline - performance.now());
        const start = () => current.start(() => this.#dispatch(call, attempt, current));
        const ended = options.hasSlot ? this.#policy.runInSlot(start) : this.#policy.run(options.lane, start);
        ended.catch((error: unknown) => current.refuse(error));
        return current.response;
      };
      return this.#options.interceptor ? this.#options.interceptor(call, run) : run();
    };
    const attempt: Attempt = { signer, skewMs: this.#skewMs, signAt };
    const raw = await exchange(attempt);
    if (raw.status !== 401) return raw;
    const mayRepeat = async (): Promise<boolean> =>
      deadline - performance.now() >= minRemainingMs(timeoutMs) && ((await options.mayRepeat?.()) ?? true);
    return this.#retryAfter401(raw, attempt, { signers, exchange, mayRepeat });
  }

  async #retryAfter401(
    rejected: RawResponse,
    { signer, skewMs }: Attempt,
    { signers, exchange, mayRepeat }: Retry,
  ): Promise<RawResponse> {
    let raw = rejected;
    let usedSkewMs = skewMs;
    const newSkewMs = this.#newSkew(raw, skewMs);
    if (newSkewMs !== undefined && (await mayRepeat())) {
      usedSkewMs = newSkewMs;
      raw = await exchange({ signer, skewMs: usedSkewMs });
      if (raw.status !== 401) this.#skewMs = usedSkewMs;
    }
    const other = signers.fallbackSigner(signer);
    if (raw.status === 401 && other && (await mayRepeat())) {
      raw = await exchange({ signer: other, skewMs: usedSkewMs });
      if (raw.status !== 401) {
        this.#skewMs = usedSkewMs;
        this.#options.credentials.onAccepted(signers, other);
      }
    }
    return raw;
  }

  /** The clock skew if it may have caused a 401, else undefined. */
  #newSkew(raw: RawResponse, usedSkewMs: number): number | undefined {
    const skewMs = (serviceTime(raw) ?? NaN) - this.#options.now();
    if (Math.abs(skewMs - usedSkewMs) <= CLOCK_SKEW_THRESHOLD_MS) return undefined;
    // The skew used so far is wrong: later requests start without it.
    this.#skewMs = 0;
    return Math.abs(skewMs) < MAX_SKEW_MS ? skewMs : undefined;
  }

  /** Resolves when all requests in flight have ended. */
  async close(): Promise<void> {
    await Promise.all([this.#lookups.close(), this.#money.close()]);
  }

  /** Signs and dispatches the request: exactly the signed characters are sent. */
  #dispatch(call: Call, { signer, skewMs, signAt }: Attempt, exchange: Exchange): void {
    const data = 'query' in call ? call.query : call.body;
    const path = this.#prefix + call.path;
    const { now } = this.#options;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...signer.headers(data, (signAt ?? now()) + skewMs),
    };
    if ('query' in call) {
      this.#lookups.dispatch({ method: 'GET', path: `${path}?${data}`, headers }, exchange);
    } else {
      headers['content-type'] = 'application/json';
      this.#money.dispatch({ method: 'POST', path, headers, body: data }, exchange);
    }
  }
}

interface Attempt {
  signer: Signer;
  skewMs: number;
  /** As in SendOptions. */
  signAt?: number | undefined;
}

interface Retry {
  signers: Signers;
  exchange(attempt: Attempt): Promise<RawResponse>;
  mayRepeat(): Promise<boolean>;
}

const noCredentials = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    'The gateway has no credentials for this channel; this call sent nothing. Tell the operator.',
  );
