import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AuditLog, AuditLogError, type AuditLogNotice } from '../observability/audit/audit-log';
import type { Clock } from '../shared/clock';
import { ConfigError, type Config } from '../config';
import { createPaymentServiceClient } from './payment-service';
import type { Journal } from '../datasources/journal/journal';
import { createNotifier, type ChangeNotifier } from '../datasources/change-notifier/change-notifier';
import { openJournal } from '../datasources/journal/create-journal';
import { registerChangeGauges, registerJournalAndAuditGauges } from './gauges';
import { openMonitoredJournal } from './journal';
import { Metrics } from '../observability/metrics/metrics';
import { startOperations } from '../core';
import type { Tracing } from '../observability/tracing/start-tracing';
import { startWebServer, type WebServer } from './http-server';
import type { SharedDependencies } from './shared-dependencies';

/** A started gateway. Its close() stops the web server and then the other parts, such as the journal. */
export type Gateway = WebServer;

/** Opens the journal, the durable record of creates, at `file:<path>` or `postgres://…`. */
export type JournalOpener = (databaseUrl: string) => Promise<Journal>;

/** Builds and starts the gateway. If a part fails to start, closes those already started and rethrows the error. */
export async function startGateway(
  config: Config,
  log: Logger,
  clock: Clock,
  { openJournal: opener = openJournal }: { openJournal?: JournalOpener | undefined },
): Promise<Gateway> {
  const closeStack = new AsyncDisposableStack();
  try {
    const tracing = await openTracing(config, log, clock);
    closeStack.defer(async () => tracing?.close());
    const metrics = new Metrics();
    const shared = { config, log: tracing?.withTraceIds(log) ?? log, clock, metrics, tracing };
    const paymentService = createPaymentServiceClient(shared);
    closeStack.defer(() => paymentService.close());
    const { journal, journalFailureReason, close: closeJournal } = await openMonitoredJournal(shared, opener);
    closeStack.defer(closeJournal);
    const auditLog = openAudit(shared);
    closeStack.defer(() => auditLog.close());
    const notifier = openNotifier(shared);
    closeStack.defer(() => notifier?.close());
    // In the journal, the sandbox gets a new name at each start, because its transactions are lost when it stops.
    const serviceName = config.sandbox ? `sandbox ${randomUUID()}` : config.service.baseUrl;
    const operations = startOperations({
      payments: paymentService.payments,
      payouts: paymentService.payouts,
      callbackTokens: paymentService.callbackTokens,
      journal,
      notifier,
      clock,
      config,
      serviceName,
      warn: (logFields, message) => shared.log.warn(logFields, message),
      runInSpan: tracing?.runInBackgroundSpan,
      observer: createBackgroundObserver(metrics, auditLog),
      serviceAvailability: paymentService,
    });
    closeStack.defer(() => operations.stop());
    registerJournalAndAuditGauges(metrics, {
      journal,
      serviceName,
      journalFailureReason,
      auditLog,
      operations,
    });
    registerChangeGauges(metrics, operations);
    const dependencies = { operations, auditLog, journalFailureReason, isServiceDown: paymentService.isDown };
    const webServer = await startWebServer(shared, dependencies);
    closeStack.defer(() => webServer.close());
    let closePromise: Promise<void> | undefined;
    return { ...webServer, close: () => (closePromise ??= closeStack.disposeAsync()) };
  } catch (error) {
    await closeStack.disposeAsync();
    throw error;
  }
}

const createBackgroundObserver = (
  { payments, server, changes }: Metrics,
  auditLog: AuditLog,
): Parameters<typeof startOperations>[0]['observer'] => ({
  onRecoveryResult: payments.onRecoveryResult,
  onRecoveryJobRun: payments.onRecoveryJobRun,
  onClockStep: payments.onClockStep,
  onPoll: server.onPoll,
  ...changes,
  onOutcomeRecovered: ({ instanceId, attempt, outcome, transactionId }) => {
    const who = `instance:${instanceId}`;
    auditLog.recordRecovery({ event: 'recovered', who, attempt, outcome, transactionId });
  },
});

/** Starts tracing. If tracing is not configured, returns undefined and does not load the OpenTelemetry SDK. */
async function openTracing(config: Config, log: Logger, clock: Clock): Promise<Tracing | undefined> {
  const { tracing: tracingSettings, service, shutdownGraceMs } = config;
  if (!tracingSettings) return undefined;
  const { startTracing } = await import('../observability/tracing/start-tracing.js');
  // Limit the final export of spans to a quarter of the grace period. The rest is left for work in flight.
  return startTracing({
    settings: tracingSettings,
    serviceSettings: service,
    log,
    monotonic: () => clock.monotonic(),
    flushTimeoutMs: shutdownGraceMs / 4,
  });
}

const openNotifier = ({ config, clock, log }: SharedDependencies): ChangeNotifier | null =>
  createNotifier(config.journal.url.reveal(), clock, (isConnected) =>
    isConnected
      ? log.info({ event: 'change_notifier_connected' }, 'change notifications between instances resumed')
      : log.warn(
          { event: 'change_notifier_disconnected' },
          'change notifications between instances interrupted; changes are found by polling',
        ),
  );

/** Opens the audit log. Throws a ConfigError that names AUDIT_LOG_FILE if the file cannot be written. */
function openAudit({ config, log }: SharedDependencies): AuditLog {
  const { auditFile, auditRotation: rotation, auditKey } = config;
  const onNotice = (notice: AuditLogNotice): void =>
    notice.entry
      ? log.error(notice, 'audit entry not written; this log line contains it')
      : log.warn(notice, notice.why);
  try {
    return AuditLog.open(auditFile, onNotice, { rotation, hmacKey: auditKey?.reveal() ?? null });
  } catch (error) {
    throw error instanceof AuditLogError ? new ConfigError([error.message]) : error;
  }
}
