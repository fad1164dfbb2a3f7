import { systemRuntime, type Runtime } from '../../../shared/runtime';
import type { Credentials } from '../credentials';
import { Exchange, minRemainingMs, type RawResponse } from './http-exchange';
import { HttpConnections, type Connections } from './connections';
import { ResiliencePolicy, type BulkheadName } from './resilience';
import { ServiceError } from '../service-error';
import type { Signer } from './signature';

/** A request, to be signed with the credentials of the channel: a GET with a query string, or a POST with a body. */
export type Call = { channel: string; path: string } & ({ query: string } | { body: string });

export interface SendOptions {
  /** The bulkhead in which the request takes a slot; null if it already holds a reserved slot. */
  lane: BulkheadName | null;
  /** Time limit in ms for the request and its repetitions; by default that of the transport. */
  timeoutMs?: number | undefined;
  /** Timestamp of the first signature in ms since 1970; default: now. The service rejects old timestamps. */
  signAt?: number | undefined;
  /** Called after a 401. Resolves to whether the request may be sent again. Default: true. */
  mayRepeat?: (() => Promise<boolean>) | undefined;
}

/** How one try of a request is signed. `skewMs` is added to the time of the gateway's clock. */
type Signing = { signer: Signer; skewMs: number } & Pick<SendOptions, 'signAt'>;

/** Wraps the exchange of a request, for tracing. Must not change the request or the response. */
type RequestInterceptor = (call: Call, exchange: () => Promise<RawResponse>) => Promise<RawResponse>;

interface TransportOptions {
  baseUrl: string;
  credentials: Credentials;
  timeoutMs: number;
  now(): number;
  interceptor?: RequestInterceptor | undefined;
  runtime?: Runtime;
  /** By default connections to `baseUrl`. */
  connections?: Connections;
}

/** Clock skew may explain a 401 if the measured skew differs by more than this from the skew in the signature. */
const MIN_SKEW_CHANGE_MS = 60_000;
/** Maximum clock skew that is corrected after a 401. */
const MAX_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
/** Maximum time for which the service's time is extrapolated from a Date header. */
const MAX_DATE_AGE_MS = 24 * 60 * 60 * 1000;
/** Maximum difference between elapsed time by Date headers and by the monotonic clock, due to latency and rounding. */
const MAX_DATE_ERROR_MS = 60_000;
/** Maximum drift between the monotonic clocks of two machines, as a ratio. */
const MAX_DRIFT = 0.0002;

/** Returns the Date header in milliseconds since 1970; undefined if it is missing or invalid. */
export function serviceTime({ headers }: RawResponse): number | undefined {
  const time = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(time) ? undefined : time;
}

/** Sends signed requests to the service. Follows no redirects. Sends a request again only after a 401. */
export class ServiceTransport {
  readonly runtime: Runtime;
  readonly policy: ResiliencePolicy;
  readonly #connections: Connections;
  readonly #pathPrefix: string;
  #skewMs = 0;
  /** Date header of the last response that certainly came from the service, and its arrival by the monotonic clock. */
  #lastDate: { header: unknown; arrivedAt: number } | undefined;

  constructor(private readonly options: TransportOptions) {
    const base = new URL(options.baseUrl);
    this.#pathPrefix = `${base.pathname}api/v1/`;
    this.runtime = options.runtime ?? systemRuntime;
    this.policy = new ResiliencePolicy(this.runtime);
    this.#connections = options.connections ?? new HttpConnections(base, options.timeoutMs);
  }

  /** Clock skew added in signatures: the service's clock minus the gateway's, in ms. 0 unless it has caused a 401. */
  get skewMs(): number {
    return this.#skewMs;
  }

  get timeoutMs(): number {
    return this.options.timeoutMs;
  }

  now(): number {
    return this.options.now();
  }

  /** Lower bound of the service's current time in ms since 1970, from its last Date header; undefined if unknown. */
  serviceNow(): number | undefined {
    const age = this.runtime.monotonic() - (this.#lastDate?.arrivedAt ?? -Infinity);
    const time = age < MAX_DATE_AGE_MS ? Date.parse(String(this.#lastDate?.header ?? '')) : NaN;
    return Number.isNaN(time) ? undefined : Math.floor(time + age * (1 - MAX_DRIFT));
  }

  /**
   * Stores the Date header of a response. Deletes it if it is missing, or if it advanced by clearly more or less than the
   * monotonic clock since the previous response.
   */
  recordServiceTime({ headers }: RawResponse): void {
    const arrivedAt = this.runtime.monotonic();
    const previous = this.#lastDate;
    this.#lastDate = { header: headers['date'], arrivedAt };
    // Do not parse an unchanged header: parsing is slow, and most headers equal the previous one.
    if (!previous || previous.header === headers['date']) return;
    const passed = Date.parse(String(headers['date'])) - Date.parse(String(previous.header));
    if (!(Math.abs(passed - (arrivedAt - previous.arrivedAt)) <= MAX_DATE_ERROR_MS))
      this.#lastDate = undefined;
  }

  /** Waits for a slot of a bulkhead. Returns a function that frees it. Throws a RequestFailure if it gets no slot. */
  reserve(lane: BulkheadName): Promise<() => void> {
    return this.policy.reserve(lane, this.timeoutMs - minRemainingMs(this.timeoutMs));
  }

  /**
   * Sends a request and returns the response with any status. After a 401, the service has certainly done nothing, so
   * the request is repeated within the same deadline: with the service's clock if that differs, then with the other
   * secret key if there is one. Later requests use the clock and key that worked.
   * @throws ServiceError if the channel has no credentials; RequestFailure if there is no response
   */
  async send(call: Call, options: SendOptions): Promise<RawResponse> {
    const { timeoutMs = this.timeoutMs, signAt } = options;
    const { credentials } = this.options;
    const signers = credentials.signersFor(call.channel);
    const signer = signers?.preferred;
    if (!signers || !signer) throw noCredentialsError();
    const deadline = this.runtime.monotonic() + timeoutMs;
    const exchange = (signing: Signing) => this.#exchange(call, options, deadline, signing);
    // Returns the signature time for a repetition; undefined if the request must not be repeated. Reads the time before
    // it calls mayRepeat(), so that the service rejects the repetition as too old if mayRepeat() takes long.
    const repeatAt = async (): Promise<number | undefined> => {
      const now = this.options.now();
      if (deadline - this.runtime.monotonic() < minRemainingMs(timeoutMs)) return undefined;
      return ((await options.mayRepeat?.()) ?? true) ? now : undefined;
    };
    let skewMs = this.#skewMs;
    let response = await exchange({ signer, skewMs, signAt });
    if (response.status !== 401) return response;
    const newSkewMs = this.#newSkew(response, skewMs);
    const clockRetryAt = newSkewMs === undefined ? undefined : await repeatAt();
    if (newSkewMs !== undefined && clockRetryAt !== undefined) {
      skewMs = newSkewMs;
      response = await exchange({ signer, skewMs, signAt: clockRetryAt });
      if (response.status !== 401) this.#skewMs = skewMs;
    }
    const otherSigner = signers.otherSigner(signer);
    const keyRetryAt = response.status === 401 && otherSigner ? await repeatAt() : undefined;
    if (otherSigner && keyRetryAt !== undefined) {
      response = await exchange({ signer: otherSigner, skewMs, signAt: keyRetryAt });
      if (response.status !== 401) {
        this.#skewMs = skewMs;
        credentials.onAccepted(signers, otherSigner);
      }
    }
    return response;
  }

  #exchange(call: Call, options: SendOptions, deadline: number, signing: Signing): Promise<RawResponse> {
    const run = (): Promise<RawResponse> => {
      const current = new Exchange(deadline - this.runtime.monotonic(), this.runtime);
      const start = () => current.start(() => this.#dispatch(call, signing, current));
      this.policy.run(options.lane, start).catch((error: unknown) => current.failUnsent(error));
      return current.response;
    };
    return this.options.interceptor ? this.options.interceptor(call, run) : run();
  }

  /**
   * Returns the measured clock skew in ms if it may explain a 401, else undefined. Sets #skewMs to 0 unless the measured
   * skew confirms the skew that was used.
   */
  #newSkew(response: RawResponse, usedSkewMs: number): number | undefined {
    const skewMs = (serviceTime(response) ?? NaN) - this.options.now();
    if (Math.abs(skewMs - usedSkewMs) <= MIN_SKEW_CHANGE_MS) return undefined;
    this.#skewMs = 0;
    return Math.abs(skewMs) < MAX_SKEW_MS ? skewMs : undefined;
  }

  /** Closes the connections to the service. Resolves when all requests in flight have ended. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** Signs and dispatches the request. Sends exactly the text that was signed. */
  #dispatch(call: Call, { signer, skewMs, signAt }: Signing, exchange: Exchange): void {
    const data = 'query' in call ? call.query : call.body;
    const path = this.#pathPrefix + call.path;
    const { now } = this.options;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...signer.headers(data, (signAt ?? now()) + skewMs),
    };
    if ('query' in call) {
      this.#connections.get({ path: `${path}?${data}`, headers }, exchange);
    } else {
      headers['content-type'] = 'application/json';
      this.#connections.post({ path, headers, body: data }, exchange);
    }
  }
}

const noCredentialsError = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    'The gateway has no credentials for this channel; this call sent nothing. Tell the operator.',
  );
