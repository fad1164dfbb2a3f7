import { withSettingFileError, type Config } from '../../config';
import type { Attempt } from '../../datasources/journal/journal';
import { ServiceClient } from '../../datasources/payment-service/client';
import { Credentials } from '../../datasources/payment-service/credentials';
import { ServiceTransport } from '../../datasources/payment-service/http/transport';
import { PaymentsApi } from '../../datasources/payment-service/payments';
import { PayoutsApi } from '../../datasources/payment-service/payouts';
import { ServiceError, type ServiceErrorKind } from '../../datasources/payment-service/service-error';
import { sleep } from '../../shared/timeout';
import { RateLimiter } from './rate-limiter';
import type { TransactionResource } from '../../schema/transaction';

export type LookupOutcome =
  /** The response of the service. `transaction` is null if the service has no such transaction. */
  | { transaction: TransactionResource | null }
  /**
   * There was no usable response, and retries did not help. `failureWord`: the reason as a fixed word. `isOutage`:
   * whether the error was UNAVAILABLE, TIMEOUT or AUTH_FAILED.
   */
  | { failureWord: string; isOutage: boolean };

/** Temporary errors, after which a lookup is retried. Other errors would recur. */
const RETRYABLE_ERROR_KINDS: ReadonlySet<ServiceErrorKind> = new Set(['UNAVAILABLE', 'TIMEOUT']);
const OUTAGE_ERROR_KINDS: ReadonlySet<ServiceErrorKind> = new Set([...RETRYABLE_ERROR_KINDS, 'AUTH_FAILED']);
const MAX_LOOKUP_TRIES = 5;
const FIRST_RETRY_DELAY_MS = 500;
const MAX_RETRY_DELAY_MS = 30_000;

/** Looks transactions up at the payment service for a command, at a limited rate and with retries. */
export class LookupClient implements AsyncDisposable {
  /**
   * Number of ended requests. It includes retries, and requests that failed before they were sent. It does not include
   * repetitions of a request after a 401.
   */
  requestCount = 0;
  readonly #payments: PaymentsApi;
  readonly #payouts: PayoutsApi;
  readonly #credentials;
  readonly #transport;
  readonly #rateLimiter: RateLimiter;
  readonly #disposalController = new AbortController();

  /**
   * @param requestsPerSecond maximum number of requests per second
   * @throws ConfigError if the credentials cannot be used
   */
  constructor(serviceSettings: Config['service'], requestsPerSecond: number) {
    const { baseUrl, timeoutMs, credentialsFile, defaultCredentials } = serviceSettings;
    const openCredentials = () => new Credentials({ credentialsFile, defaultCredentials });
    const credentials = withSettingFileError('SERVICE_CREDENTIALS_FILE', openCredentials);
    this.#credentials = credentials;
    this.#transport = new ServiceTransport({ baseUrl, timeoutMs, credentials, now: () => Date.now() });
    const getSecrets = () => ({ credentials: credentials.allSecrets });
    const { notFoundStatus, notFoundFields: fieldNames } = serviceSettings;
    const notFoundCriteria = { status: notFoundStatus, fieldNames };
    const serviceClient = new ServiceClient(this.#transport, notFoundCriteria, getSecrets, {
      onFailure: () => undefined,
      onEnd: () => (this.requestCount += 1),
      onRetry: () => this.#rateLimiter.reserveWaitMs(),
    });
    this.#rateLimiter = new RateLimiter(requestsPerSecond);
    this.#payments = new PaymentsApi(serviceClient);
    this.#payouts = new PayoutsApi(serviceClient);
  }

  /**
   * Looks up an attempt's transaction, by its id if the attempt has it, otherwise by the external id. Resolves with
   * a failure after a ServiceError that is not retryable, after MAX_LOOKUP_TRIES tries, or if a proxy may have sent the
   * response. Rejects if this object is disposed while the lookup waits for the rate limit or for a retry.
   */
  async lookUp({ kind, channel, transactionId, externalId }: Attempt): Promise<LookupOutcome> {
    const { signal } = this.#disposalController;
    const idFields = transactionId === null ? { externalId } : { transactionId };
    for (let tryNumber = 1; ; tryNumber += 1) {
      await sleep(this.#rateLimiter.reserveWaitMs(), undefined, { signal });
      try {
        const api = kind === 'payment' ? this.#payments : this.#payouts;
        const { transaction, isFromService } = await api.lookUpWithResponseOrigin({ channel, ...idFields });
        // The response of a proxy does not prove that the transaction does not exist.
        if (!isFromService) return { failureWord: 'not_found_by_proxy', isOutage: false };
        return { transaction };
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        if (tryNumber >= MAX_LOOKUP_TRIES || !RETRYABLE_ERROR_KINDS.has(error.kind)) {
          const failureWord = error.kind.toLowerCase().replace(/^(lookup_)?/, 'lookup_');
          return { failureWord, isOutage: OUTAGE_ERROR_KINDS.has(error.kind) };
        }
        const backoffMs = FIRST_RETRY_DELAY_MS * 2 ** (tryNumber - 1) * (0.5 + Math.random());
        const delayMs = Math.min(Math.max(backoffMs, error.retryAfterMs ?? 0), MAX_RETRY_DELAY_MS);
        await sleep(delayMs, undefined, { signal });
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposalController.abort();
    this.#credentials.close();
    await this.#transport.close();
  }
}
