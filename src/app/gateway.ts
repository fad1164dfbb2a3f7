import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AuditLog, AuditLogError, type AuditFault } from '../observability/audit/audit-log';
import { systemClock, type Clock } from '../shared/clock';
import { ConfigError, type Config } from '../config';
import { createPaymentServiceClient } from './payment-service';
import type { Journal } from '../datasources/journal/journal';
import type { ChangeNotifier } from '../datasources/change-notifier/change-notifier';
import { createNotifier } from '../datasources/change-notifier/create-notifier';
import { openJournal } from '../datasources/journal/create-journal';
import { openMonitoredJournal } from './journal';
import { Metrics } from '../observability/metrics/metrics';
import { startOperations } from '../core';
import type { Tracing } from '../observability/tracing/start-tracing';
import { startWebServer, type WebServer } from './http-server';

/** A gateway that is listening; closing it lets what is under way end, and closes everything. */
export type Gateway = WebServer;

/** Opens the journal of an address. */
export type OpenJournal = (url: string) => Promise<Journal>;

/** What a gateway is started with beside its settings. */
export interface GatewayDependencies {
  open?: OpenJournal | undefined;
  /** Names the sandbox in the journal: what an earlier one created is gone with it. */
  sandboxId?: string | undefined;
}

/** Puts the parts together and listens. */
export async function startGateway(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  means: GatewayDependencies = {},
): Promise<Gateway> {
  const { open = openJournal, sandboxId = randomUUID() } = means;
  const closers: Closer[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const tracing = await openTracing(config, log, clock);
    closers.push(async () => tracing?.close());
    if (tracing) log = tracing.named(log);
    const metrics = new Metrics();
    const service = createPaymentServiceClient(config, clock, log, { metrics, around: tracing?.send });
    closers.push(() => service.close());
    const { journal, ...connection } = await openMonitoredJournal(config, open, {
      metrics,
      tracing,
      clock,
      log,
    });
    closers.push(() => connection.close());
    const audit = openAudit(config, log);
    closers.push(() => audit.close());
    const feed = openFeed(config, clock, log);
    closers.push(() => feed.close());
    const serviceName = config.sandbox ? `sandbox ${sandboxId}` : config.service.baseUrl;
    showMoney({ metrics, journal, connection, audit, clock, serviceName });
    const operations = startOperations({
      ...service,
      journal,
      feed,
      clock,
      settings: { ...config, ...config.journal, timeoutMs: config.service.timeoutMs },
      service: serviceName,
      warn: (facts, message) => log.warn(facts, message),
      background: tracing?.background,
      heard: {
        ...metrics.money,
        ...metrics.web,
        onOutcomeRecovered: ({ instance, ...recovery }) =>
          audit.recordRecovery({ event: 'recovered', who: `instance:${instance}`, ...recovery }),
      },
    });
    closers.push(() => operations.stop());
    const shared = { config, log, clock, operations, audit, metrics, tracing };
    const { reason: journalReason } = connection;
    const web = await startWebServer({ ...shared, journalReason, isServiceDown: service.isDown });
    closers.push(() => web.close());
    let closed: Promise<void> | undefined;
    return { ...web, close: () => (closed ??= closeAll()) };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

interface MoneyParts {
  metrics: Metrics;
  journal: Journal;
  connection: { reason(): string | null };
  audit: AuditLog;
  clock: Clock;
  serviceName: string;
}

/** Registers the gauges of journal and audit log. */
const showMoney = ({ metrics, journal, connection, audit, clock, serviceName }: MoneyParts): void =>
  metrics.showMoney({
    isJournalUp: () => connection.reason() === null,
    unknownOutcomes: () => journal.countUnknown(serviceName),
    auditGaps: () => audit.gaps,
    auditDiskFree: () => audit.diskFree(),
    now: () => clock.now(),
  });

/** Closes one part. Parts are closed in reverse order of opening. */
type Closer = () => Promise<unknown>;

/** Starts tracing if it is configured; otherwise the SDK is not loaded. */
async function openTracing(config: Config, log: Logger, clock: Clock): Promise<Tracing | undefined> {
  const { tracing: settings, service, shutdownGraceMs } = config;
  if (!settings) return undefined;
  const { startTracing } = await import('../observability/tracing/start-tracing.js');
  // The rest is exported last, when work in flight may have used most of the grace period.
  return startTracing({ settings, service, log, now: () => clock.now(), flushMs: shutdownGraceMs / 4 });
}

/** Creates the change notifier. */
const openFeed = ({ journal }: Config, clock: Clock, log: Logger): ChangeNotifier =>
  createNotifier({
    databaseUrl: journal.url.reveal(),
    clock,
    onReach: (reached) =>
      reached
        ? log.info({ event: 'change_notifier_connected' }, 'change notifications to other instances resumed')
        : log.warn(
            { event: 'change_notifier_disconnected' },
            'change notifications to other instances interrupted; changes are found by polling',
          ),
  });

/** Opens the audit log; a ConfigError that names the setting where that cannot be done. */
function openAudit({ auditFile, auditRotation: rotation, auditKey }: Config, log: Logger): AuditLog {
  const onFault = (fault: AuditFault): void =>
    fault.entry ? log.error(fault, 'audit entry not written') : log.warn(fault, 'audit log problem');
  try {
    return AuditLog.open(auditFile, onFault, { rotation, key: auditKey?.reveal() ?? null });
  } catch (error) {
    throw error instanceof AuditLogError ? new ConfigError([error.message]) : error;
  }
}
