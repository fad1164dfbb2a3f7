import { readLookupConfig } from '../../config';
import { openAttemptsByStart } from '../../datasources/journal/attempts-by-start';
import { openJournal } from '../../datasources/journal/create-journal';
import { requireServiceUrl } from '../attempts/session';
import { EXIT, JOURNAL_TIMEOUT_MS, UsageError, type Context } from '../context';
import { LatestChanges } from '../reconcile/latest-changes';
import { ServiceLookups } from '../reconcile/lookups';
import { REPORT_HEADER, countDifferences, printSummary } from '../reconcile/report';
import { ReportFile } from '../reconcile/report-file';
import { checkAttempts } from '../reconcile/run';

interface ReconcileOptions {
  /** Start of the time range in ms since 1970, inclusive. */
  from: number;
  /** End of the time range in ms since 1970, exclusive. */
  to: number;
  channel?: string;
  rate: number;
  out: string;
  all?: boolean;
  resume?: boolean;
  json?: boolean;
}

/** Runs `paygraph reconcile`. */
export async function reconcile(
  { terminal, env }: Context,
  { from, to, channel, rate, out: file, all = false, resume, json }: ReconcileOptions,
): Promise<number> {
  if (from >= to) throw new UsageError('--to: expected a time after --from.');
  if (to > Date.now()) throw new UsageError('--to: expected a time in the past.');
  const config = readLookupConfig(env);
  const service = requireServiceUrl(config.service.baseUrl);
  const selection = { service, from, to, channel: channel ?? null, all };
  const url = config.journalUrl.reveal();
  const journal = await openJournal(url, JOURNAL_TIMEOUT_MS);
  const stopped = new AbortController();
  try {
    await using attempts = await openAttemptsByStart(url, JOURNAL_TIMEOUT_MS);
    await using lookups = new ServiceLookups(config.service, rate, stopped.signal);
    using report = resume
      ? ReportFile.resume(file, selection)
      : ReportFile.create(file, selection, REPORT_HEADER);
    using changes = new LatestChanges(journal, selection);
    terminal.showProgress('Reading the record of changes …');
    await changes.update();
    const { followsTransactions } = config;
    const checkOptions = { journal, changes, followsTransactions, lookups };
    await checkAttempts({ selection, attempts, checkOptions, report, terminal }).finally(() =>
      stopped.abort(),
    );
    report.complete();
    printSummary(terminal, report.counts, { file, lookups: lookups.requestCount, json });
    return countDifferences(report.counts) > 0 ? EXIT.failed : EXIT.done;
  } finally {
    await journal.close();
  }
}
