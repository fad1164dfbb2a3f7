import type { Logger } from 'pino';
import { withSettingFileError, type Config } from '../config';
import { ServiceClient } from '../datasources/payment-service/client';
import { Credentials } from '../datasources/payment-service/credentials';
import { PaymentsApi } from '../datasources/payment-service/payments';
import { PayoutsApi } from '../datasources/payment-service/payouts';
import { ServiceTransport } from '../datasources/payment-service/http/transport';
import { CallbackTokens } from '../core/callbacks/callback-tokens';
import { requestContext } from '../http/server/request-context';
import { MIN_POLL_AFTER_MS } from '../schema/payment';
import { registerServiceGauges } from './gauges';
import type { SharedDependencies } from './shared-dependencies';

/**
 * Loads the credentials of all channels. Throws a ConfigError if SERVICE_CREDENTIALS_FILE is invalid. With the sandbox,
 * ignores the file, because the sandbox must not receive credentials of a real service.
 */
function openCredentials({ service, sandbox }: Config, log: Logger): Credentials {
  const { credentialsFile, defaultCredentials } = service;
  if (sandbox && credentialsFile !== null)
    log.warn(
      { event: 'credentials_file_ignored' },
      'SERVICE_CREDENTIALS_FILE is ignored, because the gateway runs with the embedded sandbox',
    );
  const options = { credentialsFile: sandbox ? null : credentialsFile, defaultCredentials, log };
  return withSettingFileError('SERVICE_CREDENTIALS_FILE', () => new Credentials(options));
}

/** Creates the payment and payout APIs, which share one client. Throws a ConfigError if the credentials are invalid. */
export function createPaymentServiceClient({ config, clock, log, metrics, tracing }: SharedDependencies) {
  const { baseUrl, timeoutMs, notFoundStatus, notFoundFields } = config.service;
  const credentials = openCredentials(config, log);
  const now = (): number => clock.now();
  const { runInRequestSpan } = tracing ?? {};
  const transport = new ServiceTransport({ baseUrl, timeoutMs, credentials, now, runInRequestSpan });
  const callbackTokens = new CallbackTokens(config.journal.fingerprintKey.reveal());
  const isCallbackToken = (token: string): boolean => callbackTokens.decode(token) !== null;
  const getGatewaySecrets = () => ({
    credentials: credentials.allSecrets,
    isCallbackToken: config.publicUrl === null ? undefined : isCallbackToken,
  });
  const notFoundCriteria = { status: notFoundStatus, fieldNames: notFoundFields };
  const serviceClient = new ServiceClient(transport, notFoundCriteria, getGatewaySecrets, {
    onFailure: (report) =>
      log.warn(
        { event: 'service_request_failed', requestId: requestContext.getStore()?.requestId, ...report },
        'payment service request failed',
      ),
    onEnd: (requestLabel, resultLabel, durationMs) =>
      metrics.service.onRequestEnded(requestLabel, resultLabel, durationMs / 1000),
    onRetry: () => metrics.service.onLookupRetried(),
  });
  registerServiceGauges(metrics, transport);
  // pollAfterMs tells callers when to poll. It is the gateway's own first poll interval, but at least 2 s.
  const pollAfterMsOf = (phase: 'payer' | 'provider'): number =>
    Math.max(MIN_POLL_AFTER_MS, config.pollSettings.intervalsByPhase[phase][0]?.everyMs ?? 0);
  const pollAfterMsByPhase = { payer: pollAfterMsOf('payer'), provider: pollAfterMsOf('provider') };
  return {
    payments: new PaymentsApi(serviceClient, pollAfterMsByPhase),
    payouts: new PayoutsApi(serviceClient),
    callbackTokens,
    /** Whether a circuit breaker is open or half open. */
    isDown: (): boolean => Object.values(transport.policy.openFlagByBreaker()).includes(true),
    /** Whether lookups are queued because the maximum number of concurrent lookups is in flight. */
    hasQueuedLookups: (): boolean => transport.policy.bulkheadLoads().lookups.queuedCount > 0,
    /** Closes the client. Resolves when requests in flight have ended. */
    close: async (): Promise<void> => {
      credentials.close();
      await transport.close();
    },
  };
}
