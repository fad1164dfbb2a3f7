import type { Attempt, TransactionKind } from '../../datasources/journal/journal';
import { RepeatedJob, type BackgroundObserver, type RunInBackgroundSpan } from '../background';
import type { ClockGuard } from '../clocks';
import type { TransactionMatcher } from './transaction-matcher';
import type { OutcomeRecovery } from './outcome-recovery';
import type { JournalSession } from '../journal-session';
import type { TransactionResource } from '../../schema/transaction';

interface RecoveryJobOptions {
  journalSession: JournalSession;
  clockGuard: ClockGuard;
  recovery: OutcomeRecovery;
  matcherByKind: Readonly<Record<TransactionKind, TransactionMatcher<TransactionResource>>>;
  runInSpan: RunInBackgroundSpan;
  observer: Pick<BackgroundObserver, 'onRecoveryJobRun'>;
}

const DELAY_BETWEEN_RUNS_MS = 1000;
/** Delay in ms before the next run if more lookups may be due, for example after an outage of the service. */
const RECOVERY_BACKLOG_DELAY_MS = 100;
const MAX_RECOVERIES_PER_RUN = 16;

/**
 * Starts the background job that recovers unknown outcomes of creates, including those of instances that have died. It
 * also checks the clocks and records queued outcomes.
 */
export function startRecoveryJob(options: RecoveryJobOptions): RepeatedJob {
  const { journalSession, clockGuard, recovery, matcherByKind, runInSpan, observer } = options;
  const recover = (attempt: Attempt): Promise<unknown> =>
    runInSpan({ name: `reconcile ${attempt.kind}`, attemptId: attempt.id }, () =>
      recovery.recover(attempt, matcherByKind[attempt.kind]),
    );
  return new RepeatedJob(journalSession.clock, DELAY_BETWEEN_RUNS_MS, async () => {
    try {
      clockGuard.check();
      await journalSession.clock.synchronize();
      await journalSession.flushUnrecorded();
      const dueAttempts = await journalSession.journal.claimDue(recovery.newClaim(), MAX_RECOVERIES_PER_RUN);
      await Promise.all(dueAttempts.map(recover));
      observer.onRecoveryJobRun(true);
      return dueAttempts.length < MAX_RECOVERIES_PER_RUN ? DELAY_BETWEEN_RUNS_MS : RECOVERY_BACKLOG_DELAY_MS;
    } catch {
      // The next run repeats what failed.
      observer.onRecoveryJobRun(false);
      return DELAY_BETWEEN_RUNS_MS;
    }
  });
}
