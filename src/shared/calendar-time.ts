/**
 * Parses a date, or a date with a time and a UTC offset. The caller must have checked the format (RFC 3339). Returns
 * milliseconds since 1970; for a date alone, those of 00:00 UTC. Returns NaN if the day or the time does not exist.
 * Date.parse() alone would read February 30 as March 2, and 24:00 as 00:00 of the next day.
 */
export function parseCalendarTime(text: string): number {
  const dayText = text.slice(0, 10);
  const midnight = new Date(dayText);
  const dayExists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(dayText);
  return dayExists && text.slice(11, 13) !== '24' ? Date.parse(text.toUpperCase()) : NaN;
}
