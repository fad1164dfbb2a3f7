import { InputError } from './context';

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A hundred years: beyond it the option is more likely a mistake. */
const MAX_DAYS = 36_525;

/**
 * The value of an option that is a duration, such as 90d, 12h, 15m or 30s, in milliseconds.
 * @throws InputError that names the option
 */
export function readDuration(option: string, text: string): number {
  const [, count, unit = ''] = /^(-?\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? NaN);
  if (Number.isNaN(ms) || Math.abs(ms) > MAX_DAYS * 86_400_000)
    throw new InputError(`${option}: expected a number and a unit, such as 90d, 12h, 15m or 30s.`);
  return ms;
}
