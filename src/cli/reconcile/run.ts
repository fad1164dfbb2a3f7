import type { AttemptsByStart } from '../../datasources/journal/attempts-by-start';
import type { Terminal } from '../terminal';
import { checkAttempt, type CheckedAttempt, type CheckOptions } from './check-attempt';
import { describeProgress, reportRecord } from './report';
import type { ReportFile, AttemptSelection } from './report-file';

/** Maximum number of checks that are running, or finished and waiting until earlier checks are reported. */
const MAX_IN_FLIGHT = 64;
/** Number of consecutive checks with `isOutage` after which the run fails. --resume continues the run. */
const MAX_CONSECUTIVE_OUTAGES = 20;
const SAVE_INTERVAL_MS = 1000;

interface RunOptions {
  selection: AttemptSelection;
  attempts: AttemptsByStart;
  checkOptions: CheckOptions;
  report: ReportFile;
  /** Shows the progress after each result. */
  terminal: Terminal;
}

/**
 * Checks the attempts of a selection in the order of their start, and adds the results to the report. Several checks
 * run at the same time, but results are added in the order of the attempts. If the run fails, for example in an outage
 * of the service, saves the results that were added before.
 */
export async function checkAttempts(options: RunOptions): Promise<void> {
  const { selection, attempts, checkOptions, report, terminal } = options;
  const inFlight: Promise<CheckedAttempt>[] = [];
  /**
   * The latest consecutive checks with `isOutage`. They are added to the report after the next check without
   * `isOutage`, or after the last attempt. If the run fails before that, --resume repeats these checks.
   */
  let failed: CheckedAttempt[] = [];
  let savedAt = performance.now();
  const add = (checked: CheckedAttempt): void => {
    const { attempt, result } = checked;
    report.add(result, attempt, selection.all || result !== 'agrees' ? reportRecord(checked) : null);
    terminal.showProgress(describeProgress(report.counts, attempt.startedAt));
  };
  const addNextResult = async (): Promise<void> => {
    const checked = await inFlight.shift();
    if (!checked) return;
    failed.push(checked);
    if (checked.isOutage && failed.length < MAX_CONSECUTIVE_OUTAGES) return;
    if (checked.isOutage)
      throw new Error(
        `${failed.length} lookups in a row failed (${checked.detail}). Repeat the command with --resume when the service responds and accepts the credentials.`,
      );
    failed.forEach(add);
    failed = [];
    if (performance.now() - savedAt < SAVE_INTERVAL_MS) return;
    report.save();
    savedAt = performance.now();
  };
  try {
    for await (const page of attempts.pages({ ...selection, after: report.position })) {
      for (const attempt of page) {
        if (inFlight.length >= MAX_IN_FLIGHT) await addNextResult();
        const checked = checkAttempt(attempt, checkOptions);
        // Prevent an unhandled rejection: if the run fails, nothing awaits this check.
        checked.catch(() => undefined);
        inFlight.push(checked);
      }
    }
    while (inFlight.length > 0) await addNextResult();
    failed.forEach(add);
  } finally {
    report.save();
  }
}
