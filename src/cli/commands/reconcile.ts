import { readLookupConfig } from '../../config';
import { openAttemptsByStart } from '../../datasources/journal/attempts-by-start';
import { openJournal } from '../../datasources/journal/create-journal';
import { isUuid } from '../../shared/uuid';
import { requireService } from '../attempts/session';
import { EXIT, JOURNAL_TIMEOUT_MS, UsageError, type Context } from '../context';
import { readTime } from '../options';
import { LatestChanges } from '../reconcile/latest-changes';
import { ServiceLookups } from '../reconcile/lookups';
import { RateLimiter, systemWaitingClock as clock } from '../reconcile/rate-limiter';
import { REPORT_HEADER, describeProgress, differencesOf, printSummary } from '../reconcile/report';
import { ReportFile, type Selection } from '../reconcile/report-file';
import { runChecks } from '../reconcile/run';

interface ReconcileOptions {
  from: string;
  to: string;
  channel?: string;
  rate: string;
  out: string;
  all?: boolean;
  resume?: boolean;
  json?: boolean;
}

const MAX_RATE = 1000;

/** Runs `paygraph reconcile`. Validates the options before anything is opened. */
export async function reconcile({ terminal, env }: Context, options: ReconcileOptions): Promise<number> {
  const { out: file, resume = false, json = false } = options;
  const rate = readRate(options.rate);
  const { from, to, channel, all } = readSelection(options);
  const config = readLookupConfig(env);
  const selection = { service: requireService(config.service.baseUrl), from, to, channel, all };
  const url = config.journalUrl.reveal();
  const journal = await openJournal(url, JOURNAL_TIMEOUT_MS);
  const stopped = new AbortController();
  try {
    await using attempts = await openAttemptsByStart(url, JOURNAL_TIMEOUT_MS);
    const limiter = new RateLimiter(clock, rate);
    await using lookups = new ServiceLookups(config, { limiter, clock, signal: stopped.signal });
    using report = resume
      ? ReportFile.resume(file, selection)
      : ReportFile.create(file, selection, REPORT_HEADER);
    using changes = new LatestChanges({ journal, ...selection });
    terminal.showProgress('Reading the record of changes …');
    await changes.update();
    const { isFollowing } = config;
    const check = { journal, changes, isFollowing, lookUp: lookups.lookUp.bind(lookups) };
    const onProgress = (startedAt: number): void =>
      terminal.showProgress(describeProgress(report.counts, startedAt));
    await runChecks({ selection, attempts, check, report, onProgress }).finally(() => stopped.abort());
    report.complete();
    printSummary(terminal, report.counts, { file, lookups: lookups.count, json });
    return differencesOf(report.counts) > 0 ? EXIT.failed : EXIT.done;
  } finally {
    await journal.close();
  }
}

function readRate(text: string): number {
  const rate = Number(text);
  if (/^\d{1,4}(\.\d{1,3})?$/.test(text) && rate > 0 && rate <= MAX_RATE) return rate;
  throw new UsageError(`--rate: expected a number of lookups per second up to ${MAX_RATE}.`);
}

function readSelection({ from, to, channel, all }: ReconcileOptions): Omit<Selection, 'service'> {
  if (channel !== undefined && !isUuid(channel)) throw new UsageError('--channel: expected a UUID.');
  const selection = { from: readTime('--from', from), to: readTime('--to', to) };
  if (selection.from >= selection.to) throw new UsageError('--to: expected a time after --from.');
  if (selection.to > Date.now()) throw new UsageError('--to: expected a time in the past.');
  return { ...selection, channel: channel?.toLowerCase() ?? null, all: all === true };
}
