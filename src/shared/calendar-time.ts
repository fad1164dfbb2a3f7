/**
 * Parses a date, or a time with an offset. The caller must have checked the format (RFC 3339). Returns ms since 1970;
 * NaN if the day or the time does not exist. Date.parse() alone reads February 30 as March 2.
 */
export function parseCalendarTime(text: string): number {
  const day = text.slice(0, 10);
  const midnight = new Date(day);
  const dayExists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return dayExists ? Date.parse(text.toUpperCase()) : NaN;
}
