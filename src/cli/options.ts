import { renameSync, rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { InvalidArgumentError } from 'commander';
import { parseCalendarTime } from '../shared/calendar-time';
import { isUuid } from '../shared/uuid';
import { InputError } from './context';
import { errorOrCauseCode } from '../shared/error-code';

// Commander calls the parse functions of this file, and adds the name of the option to their error messages.

const MS_BY_UNIT: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Maximum duration in an option, in ms: 100 years. A longer duration is probably a typing error. */
const MAX_DURATION_MS = 36_525 * 86_400_000;

/** Returns the duration in ms of a text such as 90d, 12h, 15m, 30s or -5m. @throws InvalidArgumentError */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(-?\d{1,9})([smhd])$/.exec(text) ?? [];
  const durationMs = Number(count) * (MS_BY_UNIT[unit] ?? NaN);
  if (Number.isNaN(durationMs) || Math.abs(durationMs) > MAX_DURATION_MS)
    throw new InvalidArgumentError('Expected a duration up to 100 years, such as 90d, 12h, 15m or 30s.');
  return durationMs;
}

export function parsePositiveDuration(text: string): number {
  const durationMs = parseDuration(text);
  if (durationMs <= 0) throw new InvalidArgumentError('Expected a positive duration.');
  return durationMs;
}

const TIME_PATTERN = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** Converts an RFC 3339 time to ms since 1970. A date without a time means 00:00 UTC. @throws InvalidArgumentError */
export function parseTime(text: string): number {
  const timeMs = TIME_PATTERN.test(text) ? parseCalendarTime(text) : NaN;
  if (!Number.isNaN(timeMs)) return timeMs;
  throw new InvalidArgumentError(
    'Expected a time with an offset, such as 2026-11-01T00:00:00Z, or a date (UTC).',
  );
}

/** Validates a UUID and returns it in lower case. @throws InvalidArgumentError */
export function parseUuid(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new InvalidArgumentError('Expected a UUID.');
}

/** Splits a text at commas and trims the items. */
export const parseList = (text: string): string[] => text.split(',').map((item) => item.trim());

/** Creates or replaces a file atomically: readers see the old text or the new text. @throws InputError if it fails */
export function replaceFile(filePath: string, text: string, mode = 0o666): void {
  const temporaryPath = `${filePath}.${process.pid}.new`;
  try {
    writeFileSync(temporaryPath, text, { mode, flush: true });
    renameSync(temporaryPath, filePath);
  } catch (error) {
    throw new InputError(`${filePath} cannot be written (${errorOrCauseCode(error)}).`);
  } finally {
    rmSync(temporaryPath, { force: true });
  }
}
