import type { Clock } from '../shared/clock';
import type { ChangeNotifier } from '../datasources/change-notifier/change-notifier';
import type { Attempt, Journal } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/payment-service/payments';
import type { PayoutService } from '../datasources/payment-service/payouts';
import { AttemptOperations } from './attempts';
import { runUntraced, type BackgroundRunner } from './background-runner';
import { CallbackHandler } from './callbacks/callback-handler';
import type { CallbackTokens } from './callbacks/callback-tokens';
import { ClockGuard } from './clock-guard';
import { ConfirmService } from './confirm/confirm-service';
import { CreateService } from './create/create-service';
import { Fingerprints } from './create/fingerprint';
import { OutcomeRecovery } from './recovery/outcome-recovery';
import { JournalClock } from './journal-clock';
import { JournalSession } from './journal-session';
import type { BackgroundObserver } from './background-metrics';
import { PaymentMatcher } from './recovery/payment-matcher';
import { PaymentOperations } from './payments';
import { PayoutMatcher } from './recovery/payout-matcher';
import { PayoutOperations } from './payouts';
import { Reconciler } from './recovery/reconciler';
import { RetentionJob } from './recovery/retention-job';
import type { PollSettings, UrlPolicy } from '../config/types';

interface OperationsOptions {
  payments: PaymentService;
  payouts: PayoutService;
  /** Makes and knows the addresses of callbacks. */
  callbackTokens: CallbackTokens;
  journal: Journal;
  feed: ChangeNotifier;
  clock: Clock;
  settings: {
    timeoutMs: number;
    settleMs: number;
    keepMs: number;
    preflight: boolean;
    fingerprintKey: { reveal(): string };
    urls: UrlPolicy;
    watching: PollSettings;
    publicUrl: string | null;
  };
  /** Names the service and the credentials used there. */
  service: string;
  /** Hears of what could not be recorded. */
  warn(facts: object, message: string): void;
  /** Carries out what belongs to no request; as it is, where this is left out. */
  background?: BackgroundRunner | undefined;
  /** Hears of what happens without a caller. */
  heard: BackgroundObserver;
}

const CLOCK_STEPPED =
  'a clock stepped: no idempotency key is released and nothing is purged until the settling time has passed';

/** Everything that the gateway does with money. */
export interface Operations {
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  callbacks: CallbackHandler;
  /** Whether no clock has stepped lately; while one has, no idempotency key is released. */
  isClockSteady(): boolean;
  /** Lets what is under way end, also what its caller no longer waits for. */
  stop(): Promise<void>;
}

/** Reports the steps of clocks to metrics and log. */
const clockGuard = ({
  heard,
  warn,
  ...options
}: Pick<OperationsOptions, 'clock' | 'heard' | 'warn'> & { holdMs: number }): ClockGuard =>
  new ClockGuard({
    ...options,
    onStep: (source, stepMs) => {
      heard.onClockStep(source);
      warn({ event: 'clock_stepped', clock: source, stepMs }, CLOCK_STEPPED);
    },
  });

/** Puts the operations together and starts what runs in the background. */
export function startOperations({ settings, feed, ...options }: OperationsOptions): Operations {
  const { timeoutMs, settleMs, keepMs, preflight, urls } = settings;
  const { payments, payouts, clock, service, heard, background = runUntraced } = options;
  const clocks = clockGuard({ clock, heard, holdMs: settleMs, warn: options.warn });
  const journalClock = new JournalClock({ journal: options.journal, clock, guard: clocks });
  const hand = new JournalSession({ ...options, clock: journalClock });
  const followUps = new OutcomeRecovery({ session: hand, clocks, timeoutMs, settleMs, observer: heard });
  const fingerprints = new Fingerprints(settings.fingerprintKey.reveal());
  const creates = new CreateService({ session: hand, recovery: followUps, fingerprints, timeoutMs });
  const confirms = new ConfirmService({ hand, payments, fingerprints, timeoutMs, warn: options.warn });
  const paymentFinder = new PaymentMatcher(payments, hand);
  const payoutFinder = new PayoutMatcher(payouts, hand);
  const finders = [paymentFinder, payoutFinder];
  const reconciler = new Reconciler({ hand, clocks, followUps, finders, background, heard });
  reconciler.start();
  const retentionJob = new RetentionJob({ ...options, clock: journalClock, clocks, keepMs });
  retentionJob.start();
  const callbacks = new CallbackHandler({
    publicUrl: settings.publicUrl,
    tokens: options.callbackTokens,
    session: hand,
    lookUp: (attempt) =>
      background({ name: `callback ${attempt.kind}`, attempt: attempt.id }, () => look(attempt)),
  });
  const watching = { ...settings.watching, clock, service, feed, background, heard };
  const shared = { creates, hand, urls, callbacks, watching };
  const operations = {
    payments: new PaymentOperations({ ...shared, payments, finder: paymentFinder, confirms }),
    payouts: new PayoutOperations({ ...shared, payouts, finder: payoutFinder, preflight }),
  };
  feed.subscribe((change) => {
    operations.payments.sights.onRemoteChange(change);
    operations.payouts.sights.onRemoteChange(change);
  });
  const look = async ({ kind, ...rest }: Attempt): Promise<unknown> => {
    const { channel, transactionId, outcome } = rest;
    if (transactionId !== null) return operations[`${kind}s`].sights.onCallback(channel, transactionId);
    if (outcome !== 'unknown') return undefined;
    const attempt = { kind, ...rest };
    return kind === 'payment'
      ? followUps.recoverNow(attempt, paymentFinder)
      : followUps.recoverNow(attempt, payoutFinder);
  };
  return {
    ...operations,
    attempts: new AttemptOperations(hand),
    isClockSteady: () => clocks.isSteady(),
    callbacks,
    stop: async () => {
      await Promise.all([creates.drained(), confirms.drained(), reconciler.stop(), retentionJob.stop()]);
      await followUps.drained();
      // Once more: who comes after this instance must not take for unknown what was never sent.
      await hand.flushUnrecorded();
    },
  };
}
