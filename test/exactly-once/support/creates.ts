import type { Journal } from '../../../src/datasources/journal/journal';
import { CHANNEL, type CallResult, type Kind } from '../../support/caller';
import { until } from '../../support/latch';
import type {
  Endpoint,
  FakePaymentService,
  FaultPlan,
  FaultReply,
} from '../../support/payment-service/fake-payment-service';
import { reset, status } from '../../support/payment-service/faults';
import type { Entry } from '../../support/payment-service/ledger';
import type { Harness } from '../../support/harness';

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;
/** Default of UNKNOWN_SETTLE_SECONDS. */
export const SETTLE = 15 * MINUTE;

export const KINDS: Kind[] = ['payment', 'payout'];

export const SUCCESS = { payment: 'PaymentSuccess', payout: 'PayoutSuccess' } as const;

export const UNKNOWN_RESULT = /^(RequestInProgress|OutcomeUnknown)Error$/;

export const OTHER_AMOUNT = { amount: { currency: 'INR', value: '11.00' } };

/** Returns the plan of a service that does not act on requests to one endpoint, and responds to them with `reply`. */
export const failing =
  (endpoint: Endpoint, reply: FaultReply = status(503)): FaultPlan =>
  (requested) =>
    requested === endpoint ? { acts: false, reply } : undefined;

/** Returns a function that replaces a method of a journal; `make` gets the original method. */
export const replacing =
  <N extends keyof Journal>(name: N, make: (original: Journal[N]) => Journal[N]) =>
  (journal: Journal): Journal =>
    Object.assign(journal, { [name]: make((journal[name] as () => unknown).bind(journal) as Journal[N]) });

export const sent = (service: FakePaymentService, kind: Kind, key: string): number =>
  service.requestsTo(`create-${kind}`).filter(({ json }) => json['description'] === key).length;

export const untilSent = (service: FakePaymentService, kind: Kind, key: string): Promise<number> =>
  until(() => sent(service, kind, key));

export const untilDone = (call: () => Promise<CallResult>): Promise<CallResult> =>
  until(call, ({ result }) => result !== 'RequestInProgressError');

/** Repeats a create every `everyMs` of the fake clock until it succeeds. */
export const untilCreated = (harness: Harness, kind: Kind, key: string, everyMs = SECOND) =>
  until(
    () => {
      harness.clock.advance(everyMs);
      return harness.create(kind, key);
    },
    ({ result }) => result === SUCCESS[kind],
  );

/** Advances the clock until the attempt has this outcome, without another call. */
export const untilOutcome = (harness: Harness, key: string, outcome: string, everyMs = SECOND) =>
  until(
    () => {
      harness.clock.advance(everyMs);
      return harness.attempt(key);
    },
    (attempt) => attempt?.outcome === outcome,
  );

/** Makes a call whose caller disconnects once `isReceived` returns true. */
export async function disconnect(
  call: (signal: AbortSignal) => Promise<unknown>,
  isReceived: () => unknown,
): Promise<void> {
  const leaving = new AbortController();
  const left = call(leaving.signal).catch(() => 'left');
  await until(isReceived);
  leaving.abort();
  expect(await left).toBe('left');
}

/** Sends a create whose response is lost. `acts`: whether the service carries the create out. */
export async function loseResponse(harness: Harness, kind: Kind, key: string, acts = false): Promise<void> {
  harness.service.next(`create-${kind}`, { acts, reply: reset });
  expect(await harness.create(kind, key)).toMatchObject({ result: 'OutcomeUnknownError' });
}

/** Loses the response to a create that lookups do not show. The returned function shows it and returns its id. */
export async function loseHiddenResponse(harness: Harness, kind: Kind, key: string): Promise<() => string> {
  harness.service.ledger.lag = { ms: 0, lookups: 1_000_000 };
  await loseResponse(harness, kind, key, true);
  harness.service.ledger.lag = { ms: 0, lookups: 0 };
  const created = harness.service.created(key)[0]!;
  return () => {
    created.hiddenLookups = 0;
    return created.transactionId;
  };
}

/** Adds to the service a payment of an earlier order with the external id that belongs to `key`. */
export const paidBefore = ({ service }: Harness, key: string, agoMs: number, over: object = {}): Entry =>
  service.ledger.create(
    'payment',
    {
      channel: CHANNEL,
      external_id: `order ${key}`,
      amount: { currency: 'INR', value: '10.00' },
      payment_method: { type: 'upi', email: 'ann@example.com' },
      ...over,
    },
    service.now() - agoMs,
  );

/** Repeats the create of a payment every `everyMs` of the fake clock until `ms` have passed. */
export async function repeatFor(harness: Harness, key: string, ms: number, everyMs = 2 * MINUTE) {
  for (let passed = 0; passed < ms; passed += everyMs) {
    harness.clock.advance(everyMs);
    await harness.create('payment', key);
  }
}
