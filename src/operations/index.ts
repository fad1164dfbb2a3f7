import type { Clock } from '../clock';
import type { ChangeFeed } from '../datasources/changes/changes';
import type { Attempt, Journal } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/service/payments';
import type { PayoutService } from '../datasources/service/payouts';
import { AttemptOperations } from './attempt-operations';
import { asItIs, type Background } from './background';
import { Callbacks } from './callbacks';
import type { CallbackTokens } from './callback-tokens';
import { ClockGuard } from './clock-guard';
import { Confirms } from './confirms';
import { Creates } from './creates';
import { Fingerprints } from './fingerprint';
import { FollowUps } from './follow-ups';
import { JournalClock } from './journal-clock';
import { JournalHand } from './journal-hand';
import type { OperationsListener } from './operations-listener';
import { PaymentFinder } from './payment-finder';
import { PaymentOperations } from './payment-operations';
import { PayoutFinder } from './payout-finder';
import { PayoutOperations } from './payout-operations';
import { Reconciler } from './reconciler';
import { RetentionJob } from './retention-job';
import type { UrlPolicy } from './url-faults';
import type { WatchSettings } from './watching/watches';

interface OperationsOptions {
  payments: PaymentService;
  payouts: PayoutService;
  /** Makes and knows the addresses of callbacks. */
  callbackTokens: CallbackTokens;
  journal: Journal;
  feed: ChangeFeed;
  clock: Clock;
  settings: {
    timeoutMs: number;
    settleMs: number;
    keepMs: number;
    preflight: boolean;
    fingerprintKey: { reveal(): string };
    urls: UrlPolicy;
    watching: WatchSettings;
    publicUrl: string | null;
  };
  /** Names the service and the credentials used there. */
  service: string;
  /** Hears of what could not be recorded. */
  warn(facts: object, message: string): void;
  /** Carries out what belongs to no request; as it is, where this is left out. */
  background?: Background | undefined;
  /** Hears of what happens without a caller. */
  heard: OperationsListener;
}

const CLOCK_STEPPED =
  'a clock stepped: no idempotency key is released and nothing is purged until the settling time has passed';

/** Everything that the gateway does with money. */
export interface Operations {
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  callbacks: Callbacks;
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
      heard.clockStepped(source);
      warn({ event: 'clock_stepped', clock: source, stepMs }, CLOCK_STEPPED);
    },
  });

/** Puts the operations together and starts what runs in the background. */
export function startOperations({ settings, feed, ...options }: OperationsOptions): Operations {
  const { timeoutMs, settleMs, keepMs, preflight, urls } = settings;
  const { payments, payouts, clock, service, heard, background = asItIs } = options;
  const clocks = clockGuard({ clock, heard, holdMs: settleMs, warn: options.warn });
  const journalClock = new JournalClock({ journal: options.journal, clock, guard: clocks });
  const hand = new JournalHand({ ...options, clock: journalClock });
  const followUps = new FollowUps({ hand, clocks, timeoutMs, settleMs, heard });
  const fingerprints = new Fingerprints(settings.fingerprintKey.reveal());
  const creates = new Creates({ hand, followUps, fingerprints, timeoutMs });
  const confirms = new Confirms({ hand, payments, fingerprints, timeoutMs, warn: options.warn });
  const paymentFinder = new PaymentFinder(payments, hand);
  const payoutFinder = new PayoutFinder(payouts, hand);
  const finders = [paymentFinder, payoutFinder];
  const reconciler = new Reconciler({ hand, clocks, followUps, finders, background, heard });
  reconciler.start();
  const retentionJob = new RetentionJob({ ...options, clock: journalClock, clocks, keepMs });
  retentionJob.start();
  const callbacks = new Callbacks({
    publicUrl: settings.publicUrl,
    tokens: options.callbackTokens,
    hand,
    look: (attempt) =>
      background({ name: `callback ${attempt.kind}`, attempt: attempt.id }, () => look(attempt)),
  });
  const watching = { ...settings.watching, clock, service, feed, background, heard };
  const shared = { creates, hand, urls, callbacks, watching };
  const operations = {
    payments: new PaymentOperations({ ...shared, payments, finder: paymentFinder, confirms }),
    payouts: new PayoutOperations({ ...shared, payouts, finder: payoutFinder, preflight }),
  };
  feed.onChange((change) => {
    operations.payments.sights.heard(change);
    operations.payouts.sights.heard(change);
  });
  const look = async ({ kind, ...rest }: Attempt): Promise<unknown> => {
    const { channel, transactionId, outcome } = rest;
    if (transactionId !== null) return operations[`${kind}s`].sights.hinted(channel, transactionId);
    if (outcome !== 'unknown') return undefined;
    const attempt = { kind, ...rest };
    return kind === 'payment'
      ? followUps.tryNow(attempt, paymentFinder)
      : followUps.tryNow(attempt, payoutFinder);
  };
  return {
    ...operations,
    attempts: new AttemptOperations(hand),
    isClockSteady: () => clocks.isSteady(),
    callbacks,
    stop: async () => {
      await Promise.all([creates.idle(), confirms.idle(), reconciler.stop(), retentionJob.stop()]);
      await followUps.idle();
      // Once more: who comes after this instance must not take for unknown what was never sent.
      await hand.recordAgain();
    },
  };
}
