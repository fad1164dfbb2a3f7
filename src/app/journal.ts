import type { Logger } from 'pino';
import type { Clock } from '../shared/clock';
import { ConfigError, type Config } from '../config';
import type { Journal } from '../datasources/journal/journal';
import { journalErrorText, isPermanent, type JournalReason } from '../datasources/journal/journal-error';
import { JournalMonitor } from '../datasources/journal/journal-monitor';
import { JournalOpenError } from '../datasources/journal/journal-open-error';
import { instrumentJournal } from '../datasources/journal/instrumented-journal';
import type { Metrics } from '../observability/metrics/metrics';
import type { Tracing } from '../observability/tracing/start-tracing';

interface Observers {
  metrics: Metrics;
  tracing: Tracing | undefined;
  clock: Clock;
  log: Logger;
}

/** An open journal whose availability is monitored. */
interface JournalConnection {
  journal: Journal;
  /** Returns why the journal could not be written at the last check; null if it could. */
  reason(): JournalReason | null;
  close(): Promise<void>;
}

/**
 * Opens the journal, with metrics and traces of its calls, and starts its write checks. Throws a ConfigError if
 * DATABASE_URL cannot be used.
 */
export async function openMonitoredJournal(
  config: Config,
  open: (url: string) => Promise<Journal>,
  { metrics, tracing, clock, log }: Observers,
): Promise<JournalConnection> {
  const url = config.journal.url.reveal();
  const opened = await open(url).catch((error: unknown) => {
    throw error instanceof JournalOpenError ? new ConfigError([error.message]) : error;
  });
  const traced = tracing?.traceJournal(opened, url.startsWith('file:') ? 'sqlite' : 'postgresql') ?? opened;
  const journal = instrumentJournal(traced, (call, error, ms) => {
    metrics.payments.journalCallEnded(call, error?.reason ?? null, ms / 1000);
    monitor.onCallEnd(call, error);
  });
  const monitor = new JournalMonitor({ checkWrite: (bytes) => journal.checkWrite(bytes), clock, log });
  const close = async (): Promise<void> => {
    await monitor.stop();
    await journal.close();
  };
  await monitor.start();
  const { currentError } = monitor;
  if (currentError && isPermanent(currentError)) {
    await close();
    throw new ConfigError([`DATABASE_URL: ${journalErrorText(currentError)}.`]);
  }
  return { journal, reason: () => monitor.currentError?.reason ?? null, close };
}
