import type { Logger } from 'pino';
import type { Clock } from './clock';
import { ConfigError, SANDBOX_CREDENTIALS, type Config } from './config';
import { ServiceClient } from './datasources/service/client';
import { Credentials, type CredentialEvent } from './datasources/service/credentials';
import { PaymentService } from './datasources/service/payments';
import { PayoutService } from './datasources/service/payouts';
import { ServiceTransport, type AroundExchange } from './datasources/service/transport';
import { CallbackTokens } from './operations/callback-tokens';
import { requestScope } from './http/request-scope';
import type { Metrics } from './metrics/metrics';
import { faultOfFile } from './watched-file';
import { pollAfterFor } from './watching-settings';

const CREDENTIALS_FILE = 'SERVICE_CREDENTIALS_FILE';

/** The credentials of every channel. A ConfigError tells what is wrong with the file, or with the settings beside it. */
function openCredentials({ service, sandbox }: Config, log: Logger): Credentials {
  const { apiKey, secretKey, credentialsFile } = service;
  const unset = [apiKey === SANDBOX_CREDENTIALS.apiKey, secretKey === SANDBOX_CREDENTIALS.secretKey];
  const isDefault = sandbox !== null || !unset.includes(true);
  if (!isDefault && unset.includes(false))
    throw new ConfigError(['SERVICE_API_KEY and SERVICE_SECRET_KEY: set both or neither.']);
  const heard = (event: CredentialEvent): void => {
    if (event.kind === 'reloaded') return log.info(`${CREDENTIALS_FILE} was read again`);
    const { kind, ...facts } = event;
    if (kind === 'switched') return log.info(facts, 'the service has changed over to another secret key');
    log.error(facts, `${CREDENTIALS_FILE} has changed and cannot be used: the credentials before stay`);
  };
  if (sandbox && credentialsFile !== null)
    log.warn(`${CREDENTIALS_FILE} is not read: this is the sandbox, no real service.`);
  try {
    return new Credentials({
      // The sandbox knows one merchant, and what is meant for a real service is not shown to it.
      file: sandbox ? null : credentialsFile,
      settings: isDefault ? { apiKey, secretKeys: [secretKey] } : undefined,
      heard,
    });
  } catch (error) {
    throw new ConfigError([`${CREDENTIALS_FILE}: ${faultOfFile(error)}.`]);
  }
}

/** What a connection to the service tells of itself, and what it is asked through. */
interface Observers {
  metrics: Metrics;
  /** Carries out every exchange, where it is traced. */
  around?: AroundExchange | undefined;
}

/** A signed way to the payment service. Throws a ConfigError where the credentials cannot be used. */
export function connectService(config: Config, clock: Clock, log: Logger, { metrics, around }: Observers) {
  const { baseUrl, timeoutMs, notFoundStatus, notFoundFields } = config.service;
  const credentials = openCredentials(config, log);
  const transport = new ServiceTransport({ baseUrl, timeoutMs, credentials, now: () => clock.now(), around });
  const callbackTokens = new CallbackTokens(config.journal.fingerprintKey.reveal());
  const isToken = (text: string): boolean => callbackTokens.read(text) !== null;
  const own = { credentials, ...(config.publicUrl !== null && { isToken }) };
  const client = new ServiceClient(transport, { status: notFoundStatus, fields: notFoundFields }, own, {
    fault: (fault) =>
      log.warn(
        { requestId: requestScope.getStore()?.requestId, ...fault },
        'a call to the service did not go well',
      ),
    ended: (call, result, ms) => metrics.service.ended(call, result, ms / 1000),
    retried: () => metrics.service.retried(),
  });
  const isDown = (): boolean => Object.values(transport.guard.breakers()).includes(true);
  metrics.showService({
    breakers: () => transport.guard.breakers(),
    lanes: () => transport.guard.lanes(),
    clockSkew: () => Math.abs(transport.skewMs) / 1000,
  });
  return {
    payments: new PaymentService(client, pollAfterFor(config.watching)),
    payouts: new PayoutService(client),
    callbackTokens,
    /** Whether the service counts as down. */
    isDown,
    /** Resolves when the calls under way have ended. */
    close: async (): Promise<void> => {
      credentials.close();
      await transport.close();
    },
  };
}
