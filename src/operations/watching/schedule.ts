/** One step of a pace: how often to look, until so long after the last change. */
export interface Step {
  everyMs: number;
  /** Infinity in the last step. */
  untilMs: number;
}

/** How often to look while somebody watches: often while a change is likely, seldom when hours have passed. */
export type Pace = readonly Step[];

/** Whom a transaction waits for, and so how soon it may change; `done` where it does not change any more. */
export type Phase = 'payer' | 'provider' | 'mispaid' | 'done';

/** The one table of how often watched transactions are looked at. */
export type Schedule = Readonly<Record<Exclude<Phase, 'done'>, Pace>>;

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MIN_EVERY_MS = 100;
/** A day: a timer that is to wait for more than 24 of these goes off at once. */
const MAX_EVERY_MS = 86_400_000;

function readDuration(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  const scale = UNITS[unit];
  return number === undefined || scale === undefined ? undefined : Number(number) * scale;
}

/**
 * Reads a pace such as "1s/30s 5s/10m 60s": every second for the first 30 seconds after a change, then every 5 seconds
 * until 10 minutes after it, then every minute. Undefined where it is not one: the last step has no end, the others
 * end later than the one before, and nothing is looked at more often than every 100 ms or less often than once a day.
 */
export function readPace(text: string): Pace | undefined {
  const parts = text.split(' ');
  const steps = parts.map((part, place): Step | undefined => {
    const [every = '', until, ...more] = part.split('/');
    const isLast = place === parts.length - 1;
    const everyMs = readDuration(every);
    const untilMs = until === undefined ? Infinity : readDuration(until);
    if (!everyMs || everyMs < MIN_EVERY_MS || everyMs > MAX_EVERY_MS) return undefined;
    if (!untilMs || more.length > 0) return undefined;
    return isLast === (untilMs === Infinity) ? { everyMs, untilMs } : undefined;
  });
  const pace = steps.filter((step) => step !== undefined);
  const grows = pace.every(({ untilMs }, place) => untilMs > (pace[place - 1]?.untilMs ?? 0));
  return pace.length === steps.length && grows ? pace : undefined;
}

const always = (text: string): Pace => {
  const pace = readPace(text);
  if (!pace) throw new Error(`${text} is no pace.`);
  return pace;
};

/** A payer takes half a minute at least, a provider a second or two. */
export const DEFAULT_SCHEDULE: Schedule = {
  payer: always('2s/2m 5s/10m 15s/1h 60s'),
  provider: always('1s/30s 2s/2m 5s/10m 15s/1h 60s'),
  mispaid: always('15s/10m 60s'),
};

const MAX_BACKOFF_MS = 60_000;

/** Some earlier, some later: what began together must not go on together. */
const jittered = (ms: number): number => Math.round(ms * (0.85 + Math.random() * 0.3));

/**
 * How long to wait before the next look, in milliseconds.
 * @param sinceChangeMs how long ago the last change was
 * @param failures how many looks in a row have failed
 */
export function nextLook(pace: Pace, sinceChangeMs: number, failures: number): number {
  const step = pace.find(({ untilMs }) => sinceChangeMs < untilMs);
  const everyMs = step?.everyMs ?? MAX_BACKOFF_MS;
  const backoffMs = failures === 0 ? 0 : Math.min(MAX_BACKOFF_MS, 1000 * 2 ** Math.min(failures - 1, 10));
  return jittered(Math.max(everyMs, backoffMs));
}
