/** A step of a poll schedule: a transaction is polled every `everyMs`, until `untilMs` after its last change. */
interface PollStep {
  everyMs: number;
  /** End of the step; Infinity in the last step. */
  untilMs: number;
}

export type PollIntervals = readonly PollStep[];

const MS_BY_UNIT: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MIN_POLL_INTERVAL_MS = 100;
const MAX_POLL_INTERVAL_MS = 24 * 3_600_000;

function parseDurationMs(text: string): number | undefined {
  const [, number, unit = ''] = /^(\d{1,6})(ms|s|m|h)$/.exec(text) ?? [];
  const unitMs = MS_BY_UNIT[unit];
  return number === undefined || unitMs === undefined ? undefined : Number(number) * unitMs;
}

/**
 * Parses intervals such as "1s/30s 5s/10m 60s": every second until 30 seconds after a change, then every 5 seconds
 * until 10 minutes after the change, then every minute. Every interval except the last must have an end. The last
 * interval must have none. The ends must ascend. Returns undefined if the text is invalid.
 */
export function parsePollIntervals(text: string): PollIntervals | undefined {
  const stepTexts = text.split(' ');
  const parsedSteps = stepTexts.map((stepText, index): PollStep | undefined => {
    const [every = '', until, ...more] = stepText.split('/');
    const isLast = index === stepTexts.length - 1;
    const everyMs = parseDurationMs(every);
    const untilMs = until === undefined ? Infinity : parseDurationMs(until);
    if (!everyMs || everyMs < MIN_POLL_INTERVAL_MS || everyMs > MAX_POLL_INTERVAL_MS) return undefined;
    if (!untilMs || more.length > 0) return undefined;
    return isLast === (untilMs === Infinity) ? { everyMs, untilMs } : undefined;
  });
  const steps = parsedSteps.filter((step) => step !== undefined);
  const isAscending = steps.every(({ untilMs }, index) => untilMs > (steps[index - 1]?.untilMs ?? 0));
  return steps.length === parsedSteps.length && isAscending ? steps : undefined;
}
