import type { Clock } from '../shared/clock';
import type { ChangeNotifier } from '../datasources/change-notifier/change-notifier';
import type { Journal } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/payment-service/payments';
import type { PayoutService } from '../datasources/payment-service/payouts';
import { AttemptOperations } from './attempts';
import { runUntraced, type BackgroundObserver, type BackgroundRunner } from './background';
import { CallbackHandler } from './callbacks/callback-handler';
import type { CallbackTokens } from './callbacks/callback-tokens';
import { ClockGuard } from './clock-guard';
import { ConfirmService } from './confirm/confirm-service';
import { CreateService } from './create/create-service';
import { ExternalIds } from './create/external-id';
import { Fingerprints } from './create/fingerprint';
import { OutcomeRecovery } from './recovery/outcome-recovery';
import { JournalClock } from './journal-clock';
import { JournalFence, type ActiveFence } from './journal-fence';
import { JournalSession } from './journal-session';
import { PaymentMatcher } from './recovery/payment-matcher';
import { PaymentOperations } from './payments';
import { PayoutMatcher } from './recovery/payout-matcher';
import { PayoutOperations } from './payouts';
import { Reconciler } from './recovery/reconciler';
import { RetentionJob } from './recovery/retention-job';
import type { Transaction } from './recovery/transaction-matcher';
import type { PollSettings, UrlPolicy } from '../config/types';

interface OperationsOptions {
  payments: PaymentService;
  payouts: PayoutService;
  callbackTokens: CallbackTokens;
  journal: Journal;
  notifier: ChangeNotifier;
  clock: Clock;
  settings: {
    /** Timeout of one request to the payment service, in milliseconds. */
    timeoutMs: number;
    /** See OutcomeRecovery. */
    settleMs: number;
    /** See RetentionJob. */
    keepMs: number;
    /** How long the fence of the journal stays up. */
    fenceMs: number;
    /** See PayoutOperations. */
    preflight: boolean;
    fingerprintKey: { reveal(): string };
    urls: UrlPolicy;
    polling: PollSettings;
    publicUrl: string | null;
  };
  /** Identifies the payment service and its credentials in the journal. */
  service: string;
  warn(facts: object, message: string): void;
  background?: BackgroundRunner | undefined;
  observer: BackgroundObserver;
}

/** The operations on payments, payouts and attempts, and the handler of callbacks. */
export interface Operations {
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  callbacks: CallbackHandler;
  /** False for the settling time after a clock step. Meanwhile no idempotency key is released and nothing is purged. */
  isClockSteady(): boolean;
  /** The fence of the journal while it is up: creates are looked up before they are sent. */
  fence(): ActiveFence | null;
  /** Stops background jobs. Resolves when work in flight has ended, including work whose caller has disconnected. */
  stop(): Promise<void>;
}

const createClockGuard = ({ clock, settings, observer, warn }: OperationsOptions): ClockGuard =>
  new ClockGuard(clock, settings.settleMs, (source, stepMs) => {
    observer.onClockStep(source);
    warn(
      { event: 'clock_stepped', clock: source, stepMs },
      'clock stepped; idempotency keys are not released and the journal is not purged during the settling time',
    );
  });

const createMatchers = (session: JournalSession, { payments, payouts }: OperationsOptions) => ({
  payment: new PaymentMatcher(payments, session),
  payout: new PayoutMatcher(payouts, session),
});

/** Builds the operations and starts their background jobs. */
export function startOperations(options: OperationsOptions): Operations {
  const { payments, payouts, journal, notifier, clock, service, settings, observer, warn } = options;
  const { background = runUntraced } = options;
  const { timeoutMs, settleMs, keepMs, fenceMs, preflight, urls } = settings;
  const clockGuard = createClockGuard(options);
  const journalClock = new JournalClock(journal, clock, clockGuard);
  const fence = new JournalFence({ journal, clock: journalClock, fenceMs, warn });
  const session = new JournalSession({ journal, clock: journalClock, fence, service, warn });
  const recovery = new OutcomeRecovery({ session, clockGuard, timeoutMs, settleMs, observer });
  const secret = settings.fingerprintKey.reveal();
  const [fingerprints, externalIds] = [new Fingerprints(secret), new ExternalIds(secret)];
  const createService = new CreateService({ session, recovery, fingerprints, externalIds, timeoutMs });
  const confirmService = new ConfirmService({ session, payments, fingerprints, timeoutMs, warn });
  const matchers = createMatchers(session, options);
  const reconciler = new Reconciler({ session, clockGuard, recovery, matchers, background, observer });
  const retentionJob = new RetentionJob({ journal, clock: journalClock, clockGuard, keepMs, warn });
  const callbacks = new CallbackHandler({
    publicUrl: settings.publicUrl,
    tokens: options.callbackTokens,
    session,
    lookUp: (attempt) =>
      background({ name: `callback ${attempt.kind}`, attempt: attempt.id }, async () => {
        const { kind, channel, transactionId, outcome } = attempt;
        if (transactionId !== null) await feeds[kind].onCallback(channel, transactionId);
        else if (outcome === 'unknown') await recovery.recoverNow<Transaction>(attempt, matchers[kind]);
      }),
  });
  const polling = { settings: settings.polling, clock, service, notifier, background, observer };
  const shared = { createService, session, urls, callbacks, polling };
  const paymentOperations = new PaymentOperations({
    ...shared,
    payments,
    matcher: matchers.payment,
    confirmService,
  });
  const payoutOperations = new PayoutOperations({ ...shared, payouts, matcher: matchers.payout, preflight });
  const feeds = { payment: paymentOperations.feed, payout: payoutOperations.feed };
  notifier.subscribe((change) => Object.values(feeds).forEach((feed) => feed.onRemoteChange(change)));
  return {
    payments: paymentOperations,
    payouts: payoutOperations,
    attempts: new AttemptOperations(session),
    callbacks,
    isClockSteady: () => clockGuard.isSteady(),
    fence: () => fence.active,
    stop: async () => {
      await Promise.all([
        createService.drained(),
        confirmService.drained(),
        reconciler.stop(),
        retentionJob.stop(),
      ]);
      fence.stop();
      await recovery.drained();
      // Otherwise other instances treat attempts that were never sent as unknown.
      await session.flushUnrecorded();
    },
  };
}
