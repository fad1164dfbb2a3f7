import { readLookupConfig } from '../../config';
import { openJournal } from '../../datasources/journal/create-journal';
import type { Attempt } from '../../datasources/journal/journal';
import { requireServiceUrl } from '../attempts/session';
import { EXIT_CODE, JOURNAL_TIMEOUT_MS, UsageError, type CommandContext } from '../context';
import { checkAttempt, type CheckedAttempt, type CheckOptions } from '../reconcile/check-attempt';
import { COMPARISON_RESULTS } from '../reconcile/compare';
import { LatestChanges } from '../reconcile/latest-changes';
import { LookupClient } from '../reconcile/lookups';
import { ReportFile } from '../reconcile/report-file';
import { isoTime, type Terminal } from '../terminal';

/** Maximum number of checks that are running, or finished and waiting until earlier checks are reported. */
const MAX_PENDING_CHECKS = 64;
/** Number of consecutive checks with `isOutage` after which the run fails. --resume continues the run. */
const MAX_CONSECUTIVE_OUTAGES = 20;
const REPORT_SAVE_INTERVAL_MS = 1000;

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
  { terminal, env }: CommandContext,
  { from, to, channel, rate: lookupsPerSecond, out: reportPath, all = false, resume, json }: ReconcileOptions,
): Promise<number> {
  if (from >= to) throw new UsageError('--to: expected a time after --from.');
  if (to > Date.now()) throw new UsageError('--to: expected a time in the past.');
  const config = readLookupConfig(env);
  const serviceName = requireServiceUrl(config.service.baseUrl);
  const selection = { service: serviceName, from, to, channel: channel ?? null, all };
  const journal = await openJournal(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
  try {
    await using lookupClient = new LookupClient(config.service, lookupsPerSecond);
    using reportFile = resume
      ? ReportFile.resume(reportPath, selection)
      : ReportFile.create(reportPath, selection);
    using latestChanges = new LatestChanges(journal, selection);
    terminal.showProgress('Reading the record of changes …');
    await latestChanges.update();
    const { isFollowingEnabled } = config;
    const attemptPages = journal.attemptPagesByStart({ ...selection, after: reportFile.lastPosition });
    const checkOptions = { journal, latestChanges, isFollowingEnabled, lookupClient };
    await checkAttempts(attemptPages, checkOptions, { reportFile, terminal });
    reportFile.complete();
    printReconcileSummary(terminal, reportFile, { reportPath, lookupCount: lookupClient.requestCount, json });
    return reportFile.notAgreeingCount > 0 ? EXIT_CODE.failed : EXIT_CODE.done;
  } finally {
    await journal.close();
  }
}

/**
 * Checks attempts, and adds the results to the report. Shows the progress after each result. Several checks run at the
 * same time, but results are added in the order of the attempts. If the run fails, for example in an outage of the
 * service, saves the results that were added before.
 */
async function checkAttempts(
  attemptPages: AsyncIterable<Attempt[]>,
  checkOptions: CheckOptions,
  { reportFile: report, terminal }: { reportFile: ReportFile; terminal: Terminal },
): Promise<void> {
  const pendingChecks: Promise<CheckedAttempt>[] = [];
  /**
   * The latest consecutive checks with `isOutage`. They are added to the report after the next check without
   * `isOutage`, or after the last attempt. If the run fails before that, --resume repeats these checks.
   */
  let unreportedChecks: CheckedAttempt[] = [];
  let reportSavedAt = performance.now();
  const addToReport = (checkedAttempt: CheckedAttempt): void => {
    report.addAttempt(checkedAttempt);
    const { checkedCount, notAgreeingCount } = report;
    const startedAtText = isoTime(checkedAttempt.attempt.startedAt);
    terminal.showProgress(
      `${checkedCount} attempts checked (latest start: ${startedAtText}); ${notAgreeingCount} differ or could not be compared …`,
    );
  };
  const addNextResult = async (): Promise<void> => {
    const checkedAttempt = await pendingChecks.shift();
    if (!checkedAttempt) return;
    unreportedChecks.push(checkedAttempt);
    if (checkedAttempt.isOutage && unreportedChecks.length < MAX_CONSECUTIVE_OUTAGES) return;
    if (checkedAttempt.isOutage)
      throw new Error(
        `${unreportedChecks.length} lookups in a row failed (${checkedAttempt.detail}). Repeat the command with --resume when the service responds and accepts the credentials.`,
      );
    unreportedChecks.forEach(addToReport);
    unreportedChecks = [];
    if (performance.now() - reportSavedAt < REPORT_SAVE_INTERVAL_MS) return;
    report.save();
    reportSavedAt = performance.now();
  };
  try {
    for await (const attemptPage of attemptPages) {
      for (const attempt of attemptPage) {
        if (pendingChecks.length >= MAX_PENDING_CHECKS) await addNextResult();
        const pendingCheck = checkAttempt(attempt, checkOptions);
        // Prevent an unhandled rejection: if the run fails, nothing awaits this check.
        pendingCheck.catch(() => undefined);
        pendingChecks.push(pendingCheck);
      }
    }
    while (pendingChecks.length > 0) await addNextResult();
    unreportedChecks.forEach(addToReport);
  } finally {
    report.save();
  }
}

/** Prints the number of attempts by result. `lookupCount`: requests of this run, without those before --resume. */
function printReconcileSummary(
  terminal: Terminal,
  { countByResult: counts, checkedCount }: ReportFile,
  { reportPath, lookupCount, json = false }: { reportPath: string; lookupCount: number; json?: boolean },
): void {
  if (json)
    return terminal.printJson({ checked: checkedCount, counts, lookups: lookupCount, file: reportPath });
  terminal.print(
    `${checkedCount} attempts checked; ${lookupCount} lookups in this run; report: ${reportPath}`,
  );
  for (const result of COMPARISON_RESULTS)
    terminal.print(`${String(counts[result]).padStart(8)}  ${result.replaceAll('_', ' ')}`);
}
