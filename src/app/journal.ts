import { ConfigError } from '../config';
import type { Journal } from '../datasources/journal/journal';
import { journalErrorText, isPermanent } from '../datasources/journal/journal-error';
import { inspectPostgres, weaknessCodes } from '../datasources/journal/diagnostics';
import { JournalMonitor } from '../datasources/journal/journal-monitor';
import { JournalOpenError } from '../datasources/journal/journal-open-error';
import { instrumentJournal, type JournalCallListener } from '../datasources/journal/instrumented-journal';
import type { SharedDependencies } from './shared-dependencies';

/**
 * Opens the journal, adds metrics and traces to its calls, and starts to check regularly whether it can be written. If
 * DATABASE_URL cannot be used, throws a ConfigError. If PostgreSQL is only unreachable, does not throw.
 */
export async function openMonitoredJournal(
  { config, metrics, tracing, clock, log }: SharedDependencies,
  journalOpener: (databaseUrl: string) => Promise<Journal>,
) {
  const databaseUrl = config.journal.url.reveal();
  const openedJournal = await journalOpener(databaseUrl).catch((error: unknown) => {
    throw error instanceof JournalOpenError ? new ConfigError([error.message]) : error;
  });
  const onCall: JournalCallListener = (methodName, fault, durationMs) => {
    metrics.payments.onJournalCallEnded(methodName, fault?.reason ?? null, durationMs / 1000);
    monitor.onCallEnd(methodName, fault);
  };
  const runInSpan = tracing?.traceJournal(databaseUrl.startsWith('file:') ? 'sqlite' : 'postgresql');
  const journal = instrumentJournal(openedJournal, onCall, runInSpan);
  const monitor = new JournalMonitor({
    checkWrite: (fillerBytes) => journal.checkWrite(fillerBytes),
    clock,
    log,
  });
  const close = async (): Promise<void> => {
    await monitor.stop();
    await journal.close();
  };
  await monitor.start();
  if (!databaseUrl.startsWith('file:')) void logPostgresWeaknesses(databaseUrl, log);
  const { currentFault } = monitor;
  if (currentFault && isPermanent(currentFault)) {
    await close();
    throw new ConfigError([`DATABASE_URL: ${journalErrorText(currentFault)}.`]);
  }
  /** Returns the reason why the journal is unavailable, such as `disk_full`; null if it is available. */
  const journalFailureReason = () => monitor.currentFault?.reason ?? null;
  return { journal, journalFailureReason, close };
}

const POSTGRES_QUERY_TIMEOUT_MS = 5_000;

/** Logs each weakness of PostgreSQL, such as commits that are not durable. Logs nothing if it cannot be inspected. */
async function logPostgresWeaknesses(url: string, log: SharedDependencies['log']): Promise<void> {
  const weaknesses = await inspectPostgres(url, POSTGRES_QUERY_TIMEOUT_MS).then(weaknessCodes, () => []);
  for (const weakness of weaknesses)
    log.warn(
      { event: 'journal_weakness', reason: weakness },
      'PostgreSQL has a weakness as the database of the journal (see reason); run "paygraph doctor" for the remedy',
    );
}
