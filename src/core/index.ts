import type { Clock } from '../shared/clock';
import { systemRuntime, type Runtime } from '../shared/runtime';
import type { ChangeNotifier } from '../datasources/change-notifier/change-notifier';
import type { Attempt, Journal, TransactionKind } from '../datasources/journal/journal';
import type { PaymentsApi } from '../datasources/payment-service/payments';
import type { PayoutsApi } from '../datasources/payment-service/payouts';
import { AttemptOperations } from './attempts';
import type { BackgroundObserver, RunInBackgroundSpan } from './background';
import { CallbackHandler } from './callbacks/callback-handler';
import type { CallbackTokens } from './callbacks/callback-tokens';
import { ChangeTracking } from './changes/change-tracking';
import type { ServiceAvailability } from './changes/transaction-follower';
import { ClockGuard, JournalClock } from './clocks';
import { ConfirmService } from './confirm/confirm-service';
import { KeyedHashes } from './create/keyed-hashes';
import { OutcomeRecovery } from './recovery/outcome-recovery';
import { JournalFence } from './journal-fence';
import { JournalSession } from './journal-session';
import { PaymentOperations } from './payments';
import { PayoutOperations } from './payouts';
import { startRecoveryJob } from './recovery/recovery-job';
import { startRetentionJob } from './recovery/retention-job';
import { PaymentMatcher, PayoutMatcher, type TransactionMatcher } from './recovery/transaction-matcher';
import type { ChangeSettings, PollSettings, UrlPolicy } from '../config/types';
import type { TransactionResource } from '../schema/transaction';

/** The settings that startOperations() needs, named as in Config. */
interface OperationsConfig {
  service: { timeoutMs: number };
  journal: {
    /** Assumed maximum time in ms until the service shows a created transaction (UNKNOWN_SETTLE_SECONDS). */
    settleMs: number;
    keepMs: number;
    fenceMs: number;
    payoutPreflight: boolean;
    /** Secret (FINGERPRINT_KEY) from which the keys of fingerprints and of generated external ids are derived. */
    fingerprintKey: { reveal(): string };
  };
  urlPolicy: UrlPolicy;
  pollSettings: PollSettings;
  changeSettings: ChangeSettings;
  publicUrl: string | null;
}

interface OperationsOptions {
  payments: PaymentsApi;
  payouts: PayoutsApi;
  callbackTokens: CallbackTokens;
  journal: Journal;
  /** Null if no other instance can use the journal. */
  notifier: ChangeNotifier | null;
  clock: Clock;
  runtime?: Runtime;
  config: OperationsConfig;
  /** Name of this payment service in the journal: its base URL, or the id of the sandbox. */
  serviceName: string;
  warn(logFields: object, message: string): void;
  runInSpan?: RunInBackgroundSpan | undefined;
  observer: BackgroundObserver;
  serviceAvailability: ServiceAvailability;
}

/** The business logic behind the API: payments, payouts, attempts and changes, and the handler of callbacks. */
export type Operations = ReturnType<typeof startOperations>;

const createClockGuard = ({ clock, config, observer, warn }: OperationsOptions): ClockGuard =>
  new ClockGuard(clock, config.journal.settleMs, (clockName, stepMs) => {
    observer.onClockStep(clockName);
    warn(
      { event: 'clock_stepped', clock: clockName, stepMs },
      'clock stepped: check its time synchronization; for UNKNOWN_SETTLE_SECONDS, lookups do not record unknown outcomes as not_sent, and the journal is not purged',
    );
  });

/** Creates the JournalSession and its JournalFence, which reads the journal's fence every second. */
function createJournalSession(options: OperationsOptions, clockGuard: ClockGuard): JournalSession {
  const { journal, clock, runtime = systemRuntime, serviceName, config, warn } = options;
  const journalClock = new JournalClock(journal, clock, clockGuard);
  const fence = new JournalFence({ journal, clock: journalClock, fenceMs: config.journal.fenceMs, warn });
  return new JournalSession({ journal, clock: journalClock, fence, serviceName, runtime, warn });
}

type MatcherByKind = Record<TransactionKind, TransactionMatcher<TransactionResource>>;

const createMatchers = (
  { payments, payouts, config }: OperationsOptions,
  journalSession: JournalSession,
): MatcherByKind => ({
  payment: new PaymentMatcher(payments, journalSession, config.journal.keepMs),
  payout: new PayoutMatcher(payouts, journalSession),
});

/**
 * Starts payments, payouts, callbacks, the record of changes, recovery of unknown outcomes and retention. `stop()` of
 * the result ends their background jobs.
 */
export function startOperations(options: OperationsOptions) {
  const { payments, payouts, notifier, config, observer, callbackTokens, serviceAvailability } = options;
  const { publicUrl, urlPolicy, pollSettings } = config;
  const runInSpan: RunInBackgroundSpan = options.runInSpan ?? ((_span, work) => work());
  const { timeoutMs: requestTimeoutMs } = config.service;
  const { settleMs, keepMs, payoutPreflight: hasPreflight, fingerprintKey } = config.journal;
  const clockGuard = createClockGuard(options);
  const journalSession = createJournalSession(options, clockGuard);
  const { fence } = journalSession;
  const changeTracking = new ChangeTracking({ journalSession, notifier, config, observer });
  const { recorder } = changeTracking;
  const recoveryOptions = { journalSession, clockGuard, observer, requestTimeoutMs, settleMs, recorder };
  const recovery = new OutcomeRecovery(recoveryOptions);
  const hashes = new KeyedHashes(fingerprintKey.reveal());
  const confirmService = new ConfirmService({ journalSession, payments, hashes, requestTimeoutMs });
  const matcherByKind = createMatchers(options, journalSession);
  const recoveryJobOptions = { journalSession, clockGuard, observer, recovery, matcherByKind, runInSpan };
  const recoveryJob = startRecoveryJob(recoveryJobOptions);
  const retentionJob = startRetentionJob({ journalSession, clockGuard, config });
  const lookUp = (attempt: Attempt): Promise<void> =>
    runInSpan({ name: `callback ${attempt.kind}`, attemptId: attempt.id }, async () => {
      const { kind, channel, transactionId, outcome } = attempt;
      if (transactionId !== null) await transactionFeeds[kind].onCallback(channel, transactionId);
      else if (outcome === 'unknown') await recovery.claimAndRecover(attempt, matcherByKind[kind]);
    });
  const callbackHandler = new CallbackHandler({ publicUrl, callbackTokens, journalSession, lookUp });
  const pollingOptions = { pollSettings, journalSession, notifier, runInSpan, observer, recorder };
  const shared = { journalSession, recovery, hashes, requestTimeoutMs, urlPolicy, callbackHandler };
  const paymentOptions = { ...shared, pollingOptions, payments, confirmService, keepMs };
  const paymentOperations = new PaymentOperations(paymentOptions);
  const payoutOperations = new PayoutOperations({ ...shared, pollingOptions, payouts, hasPreflight });
  const transactionFeeds = {
    payment: paymentOperations.transactionFeed,
    payout: payoutOperations.transactionFeed,
  };
  changeTracking.start({ transactionFeeds, requestTimeoutMs, runInSpan, serviceAvailability });
  return {
    payments: paymentOperations,
    payouts: payoutOperations,
    attempts: new AttemptOperations(journalSession),
    callbackHandler,
    changes: changeTracking.changeFeed,
    changeMetrics: changeTracking.metrics,
    /** Returns false for UNKNOWN_SETTLE_SECONDS after a step of the system clock or of the journal's clock. */
    isClockSteady: () => clockGuard.isSteady(),
    /** Returns the journal's fence (see JournalFence) while it is up; otherwise null. */
    fence: () => fence.active,
    /** Stops background jobs. Resolves when the work in flight has ended, including that of disconnected callers. */
    stop: async (): Promise<void> => {
      const stoppedJobs = [recoveryJob.stop(), retentionJob.stop(), changeTracking.stopFollowing()];
      await Promise.all([journalSession.waitForMutations(), ...stoppedJobs]);
      await confirmService.flushUnrecorded();
      void fence.stop();
      await changeTracking.flush();
      // An attempt whose outcome is not recorded becomes unknown after this process ends, even if it was never sent.
      await journalSession.flushUnrecorded({ all: true });
      await recovery.waitForReports();
    },
  };
}
