import type { Clock } from '../clock';
import type { Journal } from '../datasources/journal/journal';
import type { PaymentService } from '../datasources/service/payments';
import type { PayoutService } from '../datasources/service/payouts';
import { AttemptOperations } from './attempt-operations';
import { Confirms } from './confirms';
import { Creates } from './creates';
import { Fingerprints } from './fingerprint';
import { FollowUps } from './follow-ups';
import { JournalHand } from './journal-hand';
import { PaymentFinder } from './payment-finder';
import { PaymentOperations } from './payment-operations';
import { PayoutFinder } from './payout-finder';
import { PayoutOperations } from './payout-operations';
import { Reconciler } from './reconciler';
import type { UrlPolicy } from './url-faults';

interface OperationsOptions {
  payments: PaymentService;
  payouts: PayoutService;
  journal: Journal;
  clock: Clock;
  settings: {
    timeoutMs: number;
    settleMs: number;
    keepMs: number;
    preflight: boolean;
    fingerprintKey: { reveal(): string };
    urls: UrlPolicy;
  };
  /** Names the service and the credentials used there. */
  service: string;
  /** Hears of what could not be recorded. */
  warn(facts: object, message: string): void;
}

/** Everything that the gateway does with money. */
export interface Operations {
  payments: PaymentOperations;
  payouts: PayoutOperations;
  attempts: AttemptOperations;
  /** Lets what is under way end, also what its caller no longer waits for. */
  stop(): Promise<void>;
}

/** Puts the operations together and starts what runs in the background. */
export function startOperations({ payments, payouts, settings, ...options }: OperationsOptions): Operations {
  const { timeoutMs, settleMs, keepMs, preflight, urls } = settings;
  const hand = new JournalHand(options);
  const followUps = new FollowUps({ hand, timeoutMs, settleMs });
  const fingerprints = new Fingerprints(settings.fingerprintKey.reveal());
  const creates = new Creates({ hand, followUps, fingerprints, timeoutMs });
  const confirms = new Confirms({ hand, payments, timeoutMs });
  const paymentFinder = new PaymentFinder(payments, hand);
  const payoutFinder = new PayoutFinder(payouts, hand);
  const reconciler = new Reconciler({ hand, followUps, keepMs, finders: [paymentFinder, payoutFinder] });
  reconciler.start();
  return {
    payments: new PaymentOperations({ payments, finder: paymentFinder, creates, confirms, hand, urls }),
    payouts: new PayoutOperations({ payouts, finder: payoutFinder, creates, hand, preflight, urls }),
    attempts: new AttemptOperations(hand),
    stop: async () => {
      await Promise.all([creates.idle(), confirms.idle(), reconciler.stop()]);
    },
  };
}
