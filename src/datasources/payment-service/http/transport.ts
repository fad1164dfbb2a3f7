import { systemRuntime, type Runtime } from '../../../shared/runtime';
import type { Credentials } from '../credentials';
import { HttpExchange, minMsLeftToStart, type RawResponse } from './http-exchange';
import { HttpConnections, type ServiceConnections } from './connections';
import { ResiliencePolicy, type BulkheadName } from './resilience';
import { ServiceError } from '../service-error';
import type { Signer } from './signature';

/** A call to the payment service: a GET with a query string, or a POST with a body. Not signed yet. */
export type ApiCall = { channel: string; apiPath: string } & ({ queryString: string } | { body: string });

export interface SendOptions {
  /** Bulkhead (concurrency limit) in which the request needs a slot; null if it already holds a reserved slot. */
  bulkheadName: BulkheadName | null;
  /** Caller whose own concurrency limit also applies; undefined for none. */
  callerId?: string | undefined;
  /** Time limit in ms for the request and its retries. Default: `timeoutMs` of the transport. */
  timeoutMs?: number | undefined;
  /** Timestamp of the first signature in ms since 1970. Default: now. The service rejects old timestamps. */
  signatureTime?: number | undefined;
  /** Called before a retry after a 401. If it resolves to false, the request is not retried. */
  mayRetryAfter401?: (() => Promise<boolean>) | undefined;
}

/** Parameters of one signature. `skewMs` is added to the timestamp, to correct the gateway's clock. */
type SigningOptions = { signer: Signer; skewMs: number } & Pick<SendOptions, 'signatureTime'>;

/** Wraps the exchange of a request, for tracing. Must not change the request or the response. */
type RunInRequestSpan = (call: ApiCall, runExchange: () => Promise<RawResponse>) => Promise<RawResponse>;

interface TransportOptions {
  baseUrl: string;
  credentials: Credentials;
  timeoutMs: number;
  now(): number;
  runInRequestSpan?: RunInRequestSpan | undefined;
  runtime?: Runtime;
  /** Default: HTTP connections to `baseUrl`. */
  connections?: ServiceConnections;
}

/** If measured and applied clock skew differ by more than this, in ms, the clock may be the cause of a 401. */
const SKEW_ERROR_TOLERANCE_MS = 60_000;
/** Maximum clock skew in ms that is corrected after a 401. */
const MAX_CORRECTED_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
/** Maximum age in ms of a Date header from which the service's current time is calculated. */
const MAX_DATE_AGE_MS = 24 * 60 * 60 * 1000;
/**
 * Maximum deviation in ms of the service's clock from the monotonic clock between two responses. More is a clock step.
 */
const MAX_SERVICE_CLOCK_STEP_MS = 60_000;
/** Maximum drift between the monotonic clocks of two machines, as a ratio. */
const MAX_CLOCK_DRIFT_RATIO = 0.0002;

/** Returns the Date header in milliseconds since 1970; undefined if it is missing or invalid. */
export function dateHeaderMs({ headers }: RawResponse): number | undefined {
  const timeMs = Date.parse(String(headers['date'] ?? ''));
  return Number.isNaN(timeMs) ? undefined : timeMs;
}

/** Sends signed requests to the service. Follows no redirects. Sends a request again only after a 401. */
export class ServiceTransport {
  readonly runtime: Runtime;
  readonly policy: ResiliencePolicy;
  readonly #connections: ServiceConnections;
  readonly #pathPrefix: string;
  #skewMs = 0;
  /** Date header of the last response that is certainly the service's. `arrivedAt`: in ms by the monotonic clock. */
  #lastDate: { dateHeader: unknown; arrivedAt: number } | undefined;

  constructor(private readonly options: TransportOptions) {
    const baseUrl = new URL(options.baseUrl);
    this.#pathPrefix = `${baseUrl.pathname}api/v1/`;
    this.runtime = options.runtime ?? systemRuntime;
    this.policy = new ResiliencePolicy(this.runtime);
    this.#connections = options.connections ?? new HttpConnections(baseUrl, options.timeoutMs);
  }

  /**
   * Correction in ms that is added to timestamps in signatures: service clock minus gateway clock. It is 0 until a 401
   * shows that a correction is necessary.
   */
  get skewMs(): number {
    return this.#skewMs;
  }

  get timeoutMs(): number {
    return this.options.timeoutMs;
  }

  /** Lower bound of the service's current time in ms since 1970, from its last Date header; undefined if unknown. */
  serviceTimeLowerBound(): number | undefined {
    const ageMs = this.runtime.monotonic() - (this.#lastDate?.arrivedAt ?? -Infinity);
    const dateMs = ageMs < MAX_DATE_AGE_MS ? Date.parse(String(this.#lastDate?.dateHeader ?? '')) : NaN;
    return Number.isNaN(dateMs) ? undefined : Math.floor(dateMs + ageMs * (1 - MAX_CLOCK_DRIFT_RATIO));
  }

  /**
   * Stores the Date header of a response. Must be called only for responses that are certainly the service's. If the
   * header is missing or invalid, or shows that the service's clock was stepped, serviceTimeLowerBound() returns
   * undefined until one or two further responses have a valid header.
   */
  recordDateHeader({ headers }: RawResponse): void {
    const arrivedAt = this.runtime.monotonic();
    const previousDate = this.#lastDate;
    this.#lastDate = { dateHeader: headers['date'], arrivedAt };
    // Do not parse an unchanged header: parsing is slow, and most headers equal the previous one.
    if (!previousDate || previousDate.dateHeader === headers['date']) return;
    const serviceElapsedMs =
      Date.parse(String(headers['date'])) - Date.parse(String(previousDate.dateHeader));
    if (!(Math.abs(serviceElapsedMs - (arrivedAt - previousDate.arrivedAt)) <= MAX_SERVICE_CLOCK_STEP_MS))
      this.#lastDate = undefined;
  }

  /** Reserves a slot, like ResiliencePolicy.reserve(). Stops waiting when too little time is left for a request. */
  async reserve(bulkheadName: BulkheadName, callerId: string) {
    const responseDeadline = this.runtime.monotonic() + this.timeoutMs;
    const maxWaitMs = this.timeoutMs - minMsLeftToStart(this.timeoutMs);
    const release = await this.policy.reserve(bulkheadName, callerId, maxWaitMs);
    return { release, deadline: responseDeadline, signatureTime: this.options.now() };
  }

  /**
   * Sends a request and returns the response, whatever its status. Retries only after a 401, which means that the
   * service did nothing. If the service's clock differs, retries with a timestamp by that clock. If the status is still
   * 401 and the channel has another secret key, retries with that key. All tries share one deadline. Later requests use
   * the clock correction and the secret key that worked.
   * @throws ServiceError if the channel has no credentials; RequestFailure if there is no complete response
   */
  async send(call: ApiCall, options: SendOptions): Promise<RawResponse> {
    const { timeoutMs = this.timeoutMs, signatureTime } = options;
    const { credentials } = this.options;
    const signers = credentials.signersFor(call.channel);
    const [signer, otherSigner] = signers?.preferredFirst ?? [];
    if (!signers || !signer) throw noCredentialsError();
    const deadline = this.runtime.monotonic() + timeoutMs;
    const sendSigned = (signing: SigningOptions) => this.#sendOnce(call, options, deadline, signing);
    // Returns the timestamp for a retry; undefined if the request must not be retried. Reads the clock before it calls
    // mayRetryAfter401(): if mayRetryAfter401() takes too long, the service rejects the retry as too old.
    const retryTimestampIfAllowed = async (): Promise<number | undefined> => {
      const now = this.options.now();
      if (deadline - this.runtime.monotonic() < minMsLeftToStart(timeoutMs)) return undefined;
      return ((await options.mayRetryAfter401?.()) ?? true) ? now : undefined;
    };
    let skewMs = this.#skewMs;
    let response = await sendSigned({ signer, skewMs, signatureTime });
    if (response.status !== 401) return response;
    const newSkewMs = this.#remeasureSkew(response, skewMs);
    const clockRetryTimestamp = newSkewMs === undefined ? undefined : await retryTimestampIfAllowed();
    if (newSkewMs !== undefined && clockRetryTimestamp !== undefined) {
      skewMs = newSkewMs;
      response = await sendSigned({ signer, skewMs, signatureTime: clockRetryTimestamp });
      if (response.status !== 401) this.#skewMs = skewMs;
    }
    const otherKeyRetryTimestamp =
      response.status === 401 && otherSigner ? await retryTimestampIfAllowed() : undefined;
    if (otherSigner && otherKeyRetryTimestamp !== undefined) {
      response = await sendSigned({ signer: otherSigner, skewMs, signatureTime: otherKeyRetryTimestamp });
      if (response.status !== 401) {
        this.#skewMs = skewMs;
        credentials.preferSigner(signers, otherSigner);
      }
    }
    return response;
  }

  #sendOnce(call: ApiCall, options: SendOptions, deadline: number, signing: SigningOptions) {
    const runExchange = (): Promise<RawResponse> => {
      const exchange = new HttpExchange(deadline - this.runtime.monotonic(), this.runtime);
      const start = () => exchange.start(() => this.#dispatch(call, signing, exchange));
      const { bulkheadName, callerId } = options;
      this.policy.run(bulkheadName, start, callerId).catch((error: unknown) => exchange.failUnsent(error));
      return exchange.response;
    };
    return this.options.runInRequestSpan ? this.options.runInRequestSpan(call, runExchange) : runExchange();
  }

  /**
   * Measures the clock skew by the Date header of a response with the status 401. `usedSkewMs` is the skew with which
   * the rejected request was signed.
   * - If the measured skew is within SKEW_ERROR_TOLERANCE_MS of `usedSkewMs`, the clock is not the cause of the 401.
   *   Then keeps #skewMs, and returns undefined.
   * - Otherwise, resets #skewMs to 0. Returns the measured skew in ms, with which to sign the retry. If the skew is
   *   unknown or too large, returns undefined.
   */
  #remeasureSkew(response: RawResponse, usedSkewMs: number): number | undefined {
    const skewMs = (dateHeaderMs(response) ?? NaN) - this.options.now();
    if (Math.abs(skewMs - usedSkewMs) <= SKEW_ERROR_TOLERANCE_MS) return undefined;
    this.#skewMs = 0;
    return Math.abs(skewMs) < MAX_CORRECTED_SKEW_MS ? skewMs : undefined;
  }

  /** Closes the connections to the service. Resolves when all requests in flight have ended. */
  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** Signs and dispatches the request. Sends exactly the text that was signed. */
  #dispatch(call: ApiCall, signing: SigningOptions, exchange: HttpExchange): void {
    const signedText = 'queryString' in call ? call.queryString : call.body;
    const requestPath = this.#pathPrefix + call.apiPath;
    const { signer, skewMs, signatureTime = this.options.now() } = signing;
    const headers: Record<string, string> = {
      accept: 'application/json',
      ...signer.headers(signedText, signatureTime + skewMs),
    };
    if ('queryString' in call) {
      this.#connections.get({ path: `${requestPath}?${signedText}`, headers }, exchange);
    } else {
      headers['content-type'] = 'application/json';
      this.#connections.post({ path: requestPath, headers, body: signedText }, exchange);
    }
  }
}

const noCredentialsError = (): ServiceError =>
  new ServiceError(
    'AUTH_FAILED',
    'The gateway has no credentials for this channel; this call sent nothing. Tell the operator.',
  );
