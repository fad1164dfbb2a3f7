import type { Random } from '../chaos/random';

/** Faults of requests to the payment service; each is chosen per request. */
export const SERVICE_FAULTS = [
  'connection_refused',
  'request_lost',
  'request_late',
  'response_lost',
  'response_late',
  'response_silent',
  'response_truncated',
  'response_contradicting',
  'response_duplicated',
  'error_before_acting',
  'error_after_acting',
  'rejected',
  'rate_limited',
  'unauthorized',
] as const;

export const LOOKUP_FAULTS = ['lookup_lost', 'lookup_late', 'lookup_error', 'lookup_proxy_404'] as const;
export const JOURNAL_FAULTS = ['journal_failed', 'journal_unanswered', 'journal_slow'] as const;

/** Faults that happen to a machine or to the database, at random times. */
export const INCIDENTS = [
  'kill',
  'pause',
  'freeze',
  'slow_loop',
  'wall_clock_step',
  'journal_clock_step',
  'journal_stall',
  'journal_crash',
  'disk_full',
  'failover',
  'restore',
] as const;
export type Incident = (typeof INCIDENTS)[number];

type RequestFaults = readonly [...typeof SERVICE_FAULTS, ...typeof LOOKUP_FAULTS, ...typeof JOURNAL_FAULTS];
export type Fault = RequestFaults[number] | Incident | 'lookup_lag' | 'lookup_hidden';

/** Probability of each fault per request, or of each incident per second. */
export type Rates = Partial<Record<Fault, number>>;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const DAY = 24 * 60 * MINUTE;

/** Each fault is switched on in half of the seeds, so that each combination occurs. */
function randomRates(random: Random, maxRate: number, names: readonly Fault[]): Rates {
  return Object.fromEntries(
    names.filter(() => random.chance(0.5)).map((name) => [name, random.next() ** 2 * maxRate + 0.005]),
  );
}

const CLOCK_STEPS = ['wall_clock_step', 'journal_clock_step'] as const;
const LOSSES = ['failover', 'restore'] as const;
const SLOWNESS = ['pause', 'freeze', 'slow_loop', 'journal_stall', 'journal_crash', 'disk_full'] as const;
const SLOW_JOURNAL = [...JOURNAL_FAULTS, ...SLOWNESS];

export function chooseProfile(random: Random, instances: number) {
  // A journal that loses attempts: docs/exactly-once.md names what the gateway does not promise then.
  const losesAttempts = random.chance(0.25);
  const purges = !losesAttempts && random.chance(0.15);
  const suspendsLong = !losesAttempts && !purges && random.chance(0.05);
  const incidents = INCIDENTS.filter((name) => losesAttempts || !LOSSES.some((loss) => loss === name));
  // Without a Date header the clocks of service and journal are expected to agree.
  const sendsDate = losesAttempts || random.chance(0.85);
  const settleMs = suspendsLong ? 15 * MINUTE : 60 * SECOND;
  const rates: Rates = {
    ...randomRates(random, 0.4, [...SERVICE_FAULTS, 'lookup_lag', 'lookup_hidden']),
    ...randomRates(random, 0.4, LOOKUP_FAULTS),
    ...randomRates(random, 0.15, JOURNAL_FAULTS),
    ...randomRates(random, 0.08, incidents),
  };
  // A high rate, because payments are rarely found and inserted while the fence is up, and some responses must be lost.
  if (losesAttempts && random.chance(0.4)) rates.journal_unanswered = 0.3;
  if (!sendsDate) for (const fault of CLOCK_STEPS) delete rates[fault];
  // Two creates with the same transaction in their responses are detected only if the journal responds within 250 ms.
  if (random.chance(0.5)) delete rates.response_duplicated;
  if (rates.response_duplicated !== undefined)
    for (const fault of [...SLOW_JOURNAL, ...LOSSES]) delete rates[fault];
  const keys = random.between(5, 20);
  const trafficMs = purges ? 5 * MINUTE : random.between(15, 60) * SECOND;
  const timeoutMs = random.one([800, 2000, 5000]);
  // A create that arrives long after a failover is found only if the instance that sent it writes it again in time.
  const isLongInFlight = losesAttempts && timeoutMs === 5000;
  if (isLongInFlight) for (const fault of [...SLOW_JOURNAL, 'kill' as const]) delete rates[fault];
  return {
    instances,
    keys,
    trafficMs,
    timeoutMs,
    settleMs,
    keepMs: purges ? 3 * MINUTE : 30 * DAY,
    fenceMs: DAY,
    rates,
    /** Maximum time in ms that a request is under way. */
    transitMs: losesAttempts ? (isLongInFlight ? 4500 : 1200) : 15 * SECOND,
    /** Maximum time in ms for which lookups do not show a new transaction. */
    lagMs: losesAttempts ? 300 : random.one([500, 3000, 15 * SECOND]),
    pauseMs: suspendsLong ? 10 * MINUTE : losesAttempts ? 1500 : 12 * SECOND,
    /** Whether several keys may use one external id, or one that the service had before. */
    reusesExternalIds: !losesAttempts && random.chance(0.5),
    acceptsRepeatedConfirms: random.chance(0.5),
    /** Which of several transactions with one external id a lookup shows. */
    shows: random.one(['newest', 'oldest'] as const),
    sendsDate,
    serviceSkewMs: sendsDate && random.chance(0.4) ? random.between(-20 * MINUTE, 20 * MINUTE) : 0,
    purges,
  };
}

export type Profile = ReturnType<typeof chooseProfile>;
