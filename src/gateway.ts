import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AuditLog, AuditLogError, type AuditFault } from './audit/audit-log';
import { systemClock, type Clock } from './clock';
import { ConfigError, type Config } from './config';
import { connectService } from './service-connection';
import type { Journal } from './datasources/journal/journal';
import type { ChangeFeed } from './datasources/changes/changes';
import { openChanges } from './datasources/changes/open';
import { openJournal } from './datasources/journal/open';
import { connectJournal } from './journal-connection';
import { Metrics } from './metrics/metrics';
import { startOperations } from './operations';
import type { Siblings } from './siblings';
import type { Tracing } from './tracing/start-tracing';
import { startWebServer, type WebServer } from './web-server';

/** A gateway that is listening; closing it lets what is under way end, and closes everything. */
export type Gateway = WebServer;

/** Opens the journal of an address. */
export type OpenJournal = (url: string) => Promise<Journal>;

/** What a gateway is started with beside its settings. */
export interface Means {
  open?: OpenJournal | undefined;
  /** The other workers, where this is one of several. */
  siblings?: Siblings | undefined;
  /** Names the sandbox in the journal: what an earlier one created is gone with it. */
  sandboxId?: string | undefined;
}

/** Puts the parts together and listens. */
export async function startGateway(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  means: Means = {},
): Promise<Gateway> {
  const { open = openJournal, siblings, sandboxId = randomUUID() } = means;
  const closers: Closer[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const tracing = await openTracing(config, log, clock);
    closers.push(async () => tracing?.close());
    if (tracing) log = tracing.named(log);
    const metrics = new Metrics();
    const service = connectService(config, clock, log, { metrics, around: tracing?.send });
    closers.push(() => service.close());
    const { journal, ...connection } = await connectJournal(config, open, { metrics, tracing, clock, log });
    closers.push(() => connection.close());
    const audit = openAudit(config, log);
    closers.push(() => audit.close());
    const feed = openFeed(config, clock, log, siblings);
    closers.push(() => feed.close());
    const serviceName = config.sandbox ? `sandbox ${sandboxId}` : config.service.baseUrl;
    metrics.showMoney({
      isJournalUp: () => connection.reason() === null,
      unknownOutcomes: () => journal.countUnknown(serviceName),
      auditGaps: () => audit.gaps,
      auditDiskFree: () => audit.diskFree(),
      now: () => clock.now(),
    });
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
        recovered: ({ instance, ...recovery }) =>
          audit.recordRecovery({ event: 'recovered', who: `instance:${instance}`, ...recovery }),
      },
    });
    closers.push(() => operations.stop());
    const shared = { config, log, clock, operations, audit, metrics, siblings, tracing };
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

/** Parts are closed in the order in which they lean on each other: the last opened first. */
type Closer = () => Promise<unknown>;

/** Starts to trace where that is wanted; else nothing of it is loaded. */
async function openTracing(config: Config, log: Logger, clock: Clock): Promise<Tracing | undefined> {
  const { tracing: settings, service, shutdownGraceMs } = config;
  if (!settings) return undefined;
  const { startTracing } = await import('./tracing/start-tracing.js');
  // What is left is sent last: work in flight may have taken most of the grace.
  return startTracing({ settings, service, log, now: () => clock.now(), flushMs: shutdownGraceMs / 4 });
}

/** Opens what tells other instances of changes. */
const openFeed = (
  { journal }: Config,
  clock: Clock,
  log: Logger,
  siblings: Siblings | undefined,
): ChangeFeed =>
  openChanges({
    databaseUrl: journal.url.reveal(),
    clock,
    siblings,
    onReach: (reached) =>
      reached
        ? log.info('other instances can be told of changes again')
        : log.warn('other instances cannot be told of changes'),
  });

/** Opens the audit log; a ConfigError that names the setting where that cannot be done. */
function openAudit({ auditFile, auditRotation: rotation }: Config, log: Logger): AuditLog {
  const onFault = (fault: AuditFault): void =>
    fault.entry ? log.error(fault, 'a call is not on record') : log.warn(fault, 'about the audit log');
  try {
    return AuditLog.open(auditFile, onFault, { rotation });
  } catch (error) {
    throw error instanceof AuditLogError ? new ConfigError([error.message]) : error;
  }
}
