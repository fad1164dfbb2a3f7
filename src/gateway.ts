import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AuditLog, AuditLogError } from './audit/audit-log';
import { systemClock, type Clock } from './clock';
import { ConfigError, SANDBOX_CREDENTIALS, type Config } from './config';
import type { Journal } from './datasources/journal/journal';
import { openJournal } from './datasources/journal/open';
import { ServiceClient } from './datasources/service/client';
import { Credentials, type CredentialEvent } from './datasources/service/credentials';
import { PaymentService } from './datasources/service/payments';
import { PayoutService } from './datasources/service/payouts';
import { ServiceTransport } from './datasources/service/transport';
import { requestScope } from './http/request-scope';
import { startOperations } from './operations';
import { faultOfFile } from './watched-file';
import { startWebServer, type WebServer } from './web-server';

/** A gateway that is listening; closing it lets what is under way end, and closes everything. */
export type Gateway = WebServer;

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

function connectService(config: Config, clock: Clock, log: Logger) {
  const { baseUrl, timeoutMs, notFoundStatus } = config.service;
  const credentials = openCredentials(config, log);
  const transport = new ServiceTransport({ baseUrl, timeoutMs, credentials, now: () => clock.now() });
  const client = new ServiceClient(transport, notFoundStatus, credentials, (fault) =>
    log.warn(
      { requestId: requestScope.getStore()?.requestId, ...fault },
      'a call to the service did not go well',
    ),
  );
  return { transport, payments: new PaymentService(client), payouts: new PayoutService(client) };
}

/** Puts the parts together and listens. */
export async function startGateway(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  open: (url: string) => Promise<Journal> = openJournal,
): Promise<Gateway> {
  const journal = await open(config.journal.url.reveal());
  const service = connectService(config, clock, log);
  const operations = startOperations({
    ...service,
    journal,
    clock,
    settings: { ...config.journal, timeoutMs: config.service.timeoutMs, urls: config.urls },
    // What a sandbox created is gone with it: the next one's transactions are others.
    service: config.sandbox ? `sandbox ${randomUUID()}` : config.service.baseUrl,
    warn: (facts, message) => log.warn(facts, message),
  });
  const audit = openAudit(config.auditFile, log);
  const stop = async (): Promise<void> => {
    await operations.stop();
    await Promise.all([service.transport.close(), journal.close()]);
    await audit.close();
  };
  try {
    const isReady = (): Promise<boolean> => isThere(journal);
    const web = await startWebServer({ config, log, clock, operations, audit, isReady });
    const close = (): Promise<void> => web.close().then(stop);
    let closed: Promise<void> | undefined;
    return { ...web, close: () => (closed ??= close()) };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opens the audit log; a ConfigError that names the setting where that cannot be done. */
function openAudit(path: string, log: Logger): AuditLog {
  try {
    return AuditLog.open(path, (fault) => log.error(fault, 'a line of the audit log could not be written'));
  } catch (error) {
    throw error instanceof AuditLogError ? new ConfigError([error.message]) : error;
  }
}

const isThere = (journal: Journal): Promise<boolean> =>
  journal.ping().then(
    () => true,
    () => false,
  );
